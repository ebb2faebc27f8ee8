"""Whether a text holds another one whole, however it is written down (ING-RAW)."""

from collections.abc import Iterable, Mapping
from typing import Final
from unicodedata import category

from recollect.text import fold, words
from recollect.text.breaks import Piece, pieces

_LONG: Final = 5
"""From so many letters on, a text is looked for anywhere; a shorter one only as whole words.

Else no summary could stand beside the answer 'A'. A letter beyond ASCII counts twice: a syllable
of Hangul says as much as two letters.
"""


_MOST_FOLDED: Final = 18
"""Characters that one becomes at most when it is folded."""

_A_REMARK: Final = 4
"""Words that are no more than a remark: what is about them often holds them whole."""

_LETTERS_OF_A_WORD: Final[Mapping[str, int]] = {"other": 12, "hangul": 8}
_LETTERS_OF_AN_UNSPACED_WORD: Final = 2


def amount(text: str) -> int:
    """How much a text is: its words, as if there were spaces in all of them.

    A run of Chinese, Japanese or Thai counts one for each two letters, a Korean one for each eight,
    any other for each twelve: there, what is longer was not typed as a word.
    """
    return _amount(_pieces(text))


class Whole:
    """A text that must not be kept whole, read once for all that it is looked for in."""

    def __init__(self, text: str) -> None:
        found = _pieces(text)
        self.is_a_remark = _amount(found) <= _A_REMARK
        self._words = [piece.text for piece in found]
        self._letters = _letters(text)
        self._marks = "" if self._words else _marks(text)
        self._size = sum(map(len, self._words))
        self._is_long = sum(1 if one.isascii() else 2 for one in self._letters) >= _LONG

    def is_in(self, text: str) -> bool:
        """Whether a text holds this one, in whatever case, form, spacing or punctuation.

        1. its words stand there, one after another
        2. or its letters do, if there are enough of them to mean something
        3. what has no words at all (``…``) is compared without white space; nothing holds nothing
        """
        if self._size > _MOST_FOLDED * len(text):
            return False  # it is too short to hold this one, however it is folded
        # 1.
        if self._words and self._runs_in(words(text)):
            return True
        # 2.
        if self._is_long:
            return self._letters in _letters(text)
        # 3.
        return bool(self._marks) and self._marks in _marks(text)

    def _runs_in(self, outside: list[str]) -> bool:
        size = len(self._words)
        starts = range(len(outside) - size + 1)
        return any(outside[start : start + size] == self._words for start in starts)


def holds_whole(text: str, whole: str) -> bool:
    """Whether a text holds another whole."""
    return Whole(whole).is_in(text)


def _pieces(text: str) -> list[Piece]:
    """The words of a text, as `text.words` has them, with their scripts."""
    return [piece for chunk in text.split() for piece in pieces(fold(chunk))]


def _amount(found: Iterable[Piece]) -> int:
    return sum(
        -(-len(text) // _LETTERS_OF_A_WORD.get(script, _LETTERS_OF_AN_UNSPACED_WORD))
        for script, text, _, _ in found
    )


def _letters(text: str) -> str:
    return "".join(one for one in fold(text) if one.isalnum() or category(one)[0] == "M")


def _marks(text: str) -> str:
    return "".join(fold(text).split())
