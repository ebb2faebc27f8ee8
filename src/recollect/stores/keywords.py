"""How databases find items by keywords: each keyword of a session once, in three forms.

**folded** is the keyword as it is compared: it matches where it occurs in the folded query.

**gram** is how it begins, at most `GRAM` characters of it. A query is asked by its own grams, of
which there are at most `GRAM` for each of its characters: keywords that begin otherwise are not
even looked at.

**marked** is the folded keyword with a sign wherever a word may start or end. Inside a text that
depends on the two characters around it alone, so that a keyword occurs at boundaries where its
marked form occurs in the marked query: databases compare texts, and need no rule of their own.

The signs are capital letters, which no folded text has.
"""

from collections.abc import Collection, Iterable
from heapq import nsmallest
from operator import add
from typing import Final, NamedTuple

from recollect.kernel.json import storable
from recollect.plans.matching import is_of_a_word
from recollect.text import fold

GRAM: Final = 3

_AT_BOUNDARIES: Final = 2**32
"""What a match at boundaries counts: more than all others together. Of two items with as many of
these, the one with more others has more in all."""

_STARTS: Final = "S"
_ENDS: Final = "E"
_UNKNOWN: Final = "X"
"""Stands in a query for a character that no keyword can have, and not every database can take."""


class Term(NamedTuple):
    """A keyword as it is indexed."""

    gram: str
    folded: str
    marked: str


class Asked(NamedTuple):
    """A query as it is looked up."""

    grams: Collection[str]
    folded: str
    marked: str


class Posting(NamedTuple):
    """A keyword that occurs in a query, and an item that has it."""

    is_at_boundaries: bool
    at: int
    id: bytes


def terms(keywords: Iterable[str]) -> list[Term]:
    """What an item is found by: its distinct keywords, in an order that is always the same."""
    distinct = sorted({fold(keyword) for keyword in keywords})
    return [Term(keyword[:GRAM], keyword, _marked(keyword)) for keyword in distinct]


def asked(query: str) -> Asked:
    """What is looked up for a query."""
    folded = fold(query)
    marked = _marked(folded)
    if not storable(folded):
        folded = "".join(map(_known, folded))
        marked = "".join(map(_known, marked))
    of_size = list(folded)
    grams = set(of_size)
    for size in range(1, GRAM):
        of_size = list(map(add, of_size, folded[size:]))
        grams.update(of_size)
    return Asked(grams, folded, marked)


def best(postings: Iterable[Posting], top_k: int) -> list[bytes]:
    """The ids of the items with the most matches, as `matching.ranked` orders them (ING-MATCH)."""
    counts: dict[bytes, int] = {}
    times: dict[bytes, int] = {}
    for is_at_boundaries, at, id in postings:
        counts[id] = counts.get(id, 0) + (_AT_BOUNDARIES if is_at_boundaries else 1)
        times[id] = at
    return nsmallest(top_k, counts, key=lambda id: (-counts[id], -times[id], id))


def _marked(folded: str) -> str:
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


def _known(character: str) -> str:
    return character if storable(character) else _UNKNOWN
