"""What an item is found by: each of its keywords once, in three forms.

**folded** is the keyword as it is compared: it matches where it occurs in the folded query.

**gram** is how it begins, at most `GRAM` characters of it: keywords that begin otherwise than
something in the query need not even be looked at.

**marked** is the folded keyword with a sign wherever a word may start or end. Inside a text that
depends on the two characters around it alone, so that a keyword occurs at boundaries where its
marked form occurs in the marked query: databases compare texts, and need no rule of their own.

The signs are capital letters, which no folded text has. A store writes these forms as it goes, and
a verifier derives them anew and compares.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from recollect.plans.matching import is_of_a_word
from recollect.text import fold

GRAM: Final = 3

_STARTS: Final = "S"
_ENDS: Final = "E"


class Term(NamedTuple):
    """A keyword as it is indexed."""

    gram: str
    folded: str
    marked: str


def terms(keywords: Iterable[str]) -> list[Term]:
    """What an item is found by: its distinct keywords, in an order that is always the same."""
    distinct = sorted({fold(keyword) for keyword in keywords})
    return [Term(keyword[:GRAM], keyword, marked(keyword)) for keyword in distinct]


def marked(folded: str) -> str:
    """A folded text with a sign wherever a word may start or end."""
    parts = []
    was_word = False
    for character in folded:
        is_word = is_of_a_word(character)
        if not is_word:
            parts.append(_ENDS)
        if not was_word:
            parts.append(_STARTS)
        parts.append(character)
        was_word = is_word
    parts.append(_ENDS)
    if not was_word:
        parts.append(_STARTS)
    return "".join(parts)
