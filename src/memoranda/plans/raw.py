"""Whether a text holds another one whole, or nearly, however it is written down (ING-RAW).

*Nearly* is a measure: how much of a text's words another one has, in whatever order, with whatever
between them. Words count by their stems, Korean ones without particles; of scripts without spaces
each letter counts. From four fifths on it is the same text. A text of a few words has no nearly:
what is about it often holds most of it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final
from unicodedata import category, combining, normalize

from memoranda.text import fold
from memoranda.text.breaks import TextPiece, pieces
from memoranda.text.stems import noun, stem

_LONG: Final = 5
"""From so many letters on, a text is looked for anywhere; a shorter one only as whole words.

Else no summary could stand beside the answer 'A'. A letter beyond ASCII counts twice: a syllable
of Hangul says as much as two letters.
"""


_MOST_FOLDED: Final = 18
"""Characters that one becomes at most when it is folded."""

READ: Final = 20_000
"""Characters of a text that are read; what is beyond is as good as not there."""

_START: Final = 1_000
_CHUNK: Final = re.compile(r"\S+")

_A_REMARK: Final = 4
"""Words that are no more than a remark: what is about them often holds them whole."""

_NEARLY: Final = (4, 5)
"""The share of a text from which on it is held nearly whole.

Our own summariser keeps two thirds at most; who drops a word of five still hands on the text.
"""

_LOOK_ALIKES: Final = str.maketrans(
    "авсԁеһніјкӏморԛѕтухѵԝαβεηικνορτυχωγıɡ",
    "abcdehhijklmopqstyxvwabenikvoptuxwyig",
)
"""Folded letters of Cyrillic and Greek that are read as Latin ones."""

_LETTERS_OF_A_WORD: Final[Mapping[str, int]] = {"other": 12, "hangul": 8}
_LETTERS_OF_AN_UNSPACED_WORD: Final = 2


def amount(text: str) -> int:
    """How much a text is: its words, as if there were spaces in all of them.

    A run of Chinese, Japanese or Thai counts one for each two letters, a Korean one for each eight,
    any other for each twelve: there, what is longer was not typed as a word. No more counts than
    what is read.
    """
    return _amount(_pieces(_first(text)))


class Whole:
    """A text that must not be kept whole, read once for all that it is looked for in.

    Mostly its first words settle that it is not there, and no more of it is read. Of a text that
    is longer than `READ` its first part counts for the whole: what holds all of it holds that.
    """

    def __init__(self, text: str, *, is_response: bool = False) -> None:
        self.is_response = is_response
        self._text = _first(text)
        self._start = _TextPart(_start(self._text))

    @property
    def is_a_remark(self) -> bool:
        """Whether it is no more than a few words."""
        return self._start.amount <= _A_REMARK and self._all.amount <= _A_REMARK

    def is_in(self, text: str) -> bool:
        """Whether a text holds this one, in whatever case, form, spacing or punctuation.

        1. its words stand there, one after another
        2. or its letters do, if there are enough of them to mean something
        3. what has no words at all (``…``) is compared without white space; nothing holds nothing
        """
        if self._start.size > _MOST_FOLDED * len(text):
            return False  # it is too short to hold this one, however it is folded
        looked_in = _TextPart(text)
        return self._start.may_begin_in(looked_in) and self._all.is_in(looked_in)

    def is_nearly_in(self, texts: Sequence[str]) -> bool:
        """Whether texts together hold at least `_NEARLY` of this one, if it is no remark."""
        if self.is_a_remark:
            return False
        held, (part, of) = _TextPart(" ".join(texts)).units, _NEARLY
        if _weight(held) * of < _weight(self._start.units) * part:
            return False  # mostly its first words settle it
        own = self._all.units
        return _weight(own & held) * of >= _weight(own) * part

    @cached_property
    def _all(self) -> "_TextPart":
        return self._start if self._start.text is self._text else _TextPart(self._text)


class _TextPart:
    """A text, taken apart."""

    def __init__(self, text: str) -> None:
        found = _pieces(text)
        self.text = text
        self.amount = _amount(found)
        self.size = sum(len(piece.text) for piece in found)
        self.words = [piece.text for piece in found]
        self._found = found

    @cached_property
    def units(self) -> "Counter[tuple[str, int]]":
        """What is counted of it, each with its weight: two for a word, one for a letter."""
        return Counter(unit for piece in self._found for unit in _units(piece))

    @cached_property
    def letters(self) -> str:
        return _letters(self.text)

    @cached_property
    def marks(self) -> str:
        return _marks(self.text)

    def is_in(self, outside: "_TextPart") -> bool:
        if self.words and self._runs_in(outside):
            return True
        if sum(1 if letter.isascii() else 2 for letter in self.letters) >= _LONG:
            return self.letters in outside.letters
        return not self.words and bool(self.marks) and self.marks in outside.marks

    def may_begin_in(self, outside: "_TextPart") -> bool:
        """Whether a text that begins with all of this one may stand there."""
        if self._runs_in(outside):  # no words at all do so everywhere
            return True
        return self.letters in outside.letters

    def _runs_in(self, outside: "_TextPart") -> bool:
        size = len(self.words)
        starts = range(len(outside.words) - size + 1)
        return any(outside.words[start : start + size] == self.words for start in starts)


def _first(text: str) -> str:
    """As much of a text as is read; white space is not counted where it goes on and on."""
    if len(text) <= READ:
        return text
    chunks: list[str] = []
    left = READ
    for chunk in _CHUNK.finditer(text):
        chunks.append(chunk[0][:left])
        left -= len(chunks[-1]) + 1
        if left <= 0:
            break
    return " ".join(chunks)


def _start(text: str) -> str:
    """The first words of a text; all of it if it is short, or has no white space."""
    end = text.rfind(" ", 0, _START) if len(text) > _START else -1
    return text if end < 0 else text[:end]


def _pieces(text: str) -> list[TextPiece]:
    """The words of a text, as `text.words` has them but for look-alikes, with their scripts."""
    return [piece for chunk in text.split() for piece in pieces(_read(chunk))]


def _amount(found: Iterable[TextPiece]) -> int:
    return sum(
        -(-len(text) // _LETTERS_OF_A_WORD.get(script, _LETTERS_OF_AN_UNSPACED_WORD))
        for script, text, _, _ in found
    )


def _units(piece: TextPiece) -> Iterable[tuple[str, int]]:
    script, text = piece.script, piece.text
    if script not in _LETTERS_OF_A_WORD:
        return ((letter, 1) for letter in text)
    weight = 2 * -(-len(text) // _LETTERS_OF_A_WORD[script])
    return ((noun(text) if script == "hangul" else stem(_without_marks(text)), weight),)


def _weight(units: "Counter[tuple[str, int]]") -> int:
    return sum(weight * count for (_, weight), count in units.items())


def _without_marks(word: str) -> str:
    if word.isascii():
        return word
    return "".join(text for text in normalize("NFD", word) if not combining(text))


def _read(text: str) -> str:
    """A text as it is read: folded, and letters that look the same are the same."""
    folded = fold(text)
    return folded if folded.isascii() else folded.translate(_LOOK_ALIKES)


def _letters(text: str) -> str:
    return "".join(
        letter for letter in _read(text) if letter.isalnum() or category(letter)[0] == "M"
    )


def _marks(text: str) -> str:
    return "".join(fold(text).split())
