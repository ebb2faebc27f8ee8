"""Whether a text holds another one whole, however it is written down (ING-RAW)."""

from typing import Final
from unicodedata import category

from recollect.text import fold, words

_LONG: Final = 5
"""From so many letters on, a text is looked for anywhere; a shorter one only as whole words.

Else no summary could stand beside the answer 'A'. A letter beyond ASCII counts twice: a syllable
of Hangul says as much as two letters.
"""


class Whole:
    """A text that must not be kept whole, read once for all that it is looked for in."""

    def __init__(self, text: str) -> None:
        self._words = words(text)
        self._letters = _letters(text)
        self._marks = "" if self._words else _marks(text)
        self._is_long = sum(1 if one.isascii() else 2 for one in self._letters) >= _LONG

    def is_in(self, text: str) -> bool:
        """Whether a text holds this one, in whatever case, form, spacing or punctuation.

        1. its words stand there, one after another
        2. or its letters do, if there are enough of them to mean something
        3. what has no words at all (``…``) is compared without white space; nothing holds nothing
        """
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


def _letters(text: str) -> str:
    return "".join(one for one in fold(text) if one.isalnum() or category(one)[0] == "M")


def _marks(text: str) -> str:
    return "".join(fold(text).split())
