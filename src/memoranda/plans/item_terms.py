"""What an item is found by: each of its keywords once, in three forms.

**folded** is the keyword as it is compared: it matches where it occurs in the folded query.

**gram** is how it begins, at most `GRAM` characters of it: keywords that begin otherwise than
something in the query need not even be looked at.

**marked** is the folded keyword with a sign wherever a word may start or end. Inside a text that
depends on the two characters around it alone, so that a keyword occurs at boundaries where its
marked form occurs in the marked query: databases compare texts, and need no rule of their own.
Where a Korean particle stands behind a word does not depend on two characters: a query has, for
each such place, what stands before it in marked form, and a keyword that one of these ends with
occurs at boundaries too (`before_endings`).

The signs are capital letters, which no folded text has. A store writes these forms as it goes, and
a verifier derives them anew and compares.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from memoranda.plans.matching import (
    LONGEST_BEFORE_AN_ENDING,
    is_of_a_word,
    places_before_endings,
)
from memoranda.text import fold

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


def before_endings(folded: str) -> list[str]:
    """What stands before each Korean particle or ending in a folded query, marked, each once."""
    return sorted({_marked_before(folded, at) for at in places_before_endings(folded)})


def _marked_before(folded: str, at: int) -> str:
    """As much as a keyword may have before an ending, marked as it is behind the rest."""
    start = at - LONGEST_BEFORE_AN_ENDING
    if start <= 0:
        return marked(folded[:at])
    before = folded[start - 1]
    return marked(folded[start - 1 : at])[len(marked(before).partition(before)[0]) + 1 :]


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
