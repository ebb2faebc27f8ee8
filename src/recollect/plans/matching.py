"""Which items a query finds, and in which order: the definition that every store agrees with.

A stored keyword matches when it occurs in the query. The query is never split into keywords, and
no keyword is made or changed (ING-KEYWORDS): both are only compared as `text.fold` reads them, so
that case, width and composition don't matter.

An occurrence is *at boundaries* when no character of a word stands right before or right after
it. So `c++` is found as a word, and `메모리` in `메모리를`, which has its particle right behind it,
as a part of one.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from unicodedata import category

from recollect.plans.items import MemoryItem
from recollect.text import fold


class Match(NamedTuple):
    """How many keywords of an item occur in a query: at boundaries, and at all."""

    at_boundaries: int
    in_all: int


def match(keywords: Iterable[str], query: str) -> Match:
    """How an item's keywords match a query; keywords that fold to the same count once."""
    return _match(keywords, fold(query))


def ranked(items: Iterable[MemoryItem], query: str, top_k: int) -> Sequence[MemoryItem]:
    """The items that a query finds, best first, `top_k` at most (ING-MATCH).

    1. what matches no keyword is not found
    2. more keywords at boundaries come first, then more in all, then the newest, then by id
    """
    folded = fold(query)
    # 1.
    found = [(_match(item.keywords, folded), item) for item in items]
    found = [(how, item) for how, item in found if how.in_all]
    # 2. Sorted twice, because newest first is the one order that descends.
    found.sort(key=lambda pair: pair[1].id)
    found.sort(key=lambda pair: (*pair[0], pair[1].timestamp), reverse=True)
    return [item for _, item in found[:top_k]]


def is_of_a_word(character: str) -> bool:
    """Whether it is a letter, a digit, an underscore, or a mark on one of them."""
    return character.isalnum() or character == "_" or category(character)[0] == "M"


def is_at_boundaries(keyword: str, query: str) -> bool:
    """Whether a folded keyword occurs in a folded query at boundaries, wherever else it does."""
    start = query.find(keyword)
    while start >= 0:
        end = start + len(keyword)
        is_begun = start == 0 or not is_of_a_word(query[start - 1])
        if is_begun and (end == len(query) or not is_of_a_word(query[end])):
            return True
        start = query.find(keyword, start + 1)
    return False


def _match(keywords: Iterable[str], query: str) -> Match:
    distinct = {fold(keyword) for keyword in keywords}
    found = [keyword for keyword in distinct if keyword in query]
    return Match(sum(is_at_boundaries(keyword, query) for keyword in found), len(found))
