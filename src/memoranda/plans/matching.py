"""Which items a query finds, and in which order: the definition that every store agrees with.

A stored keyword matches when it occurs in the query. The query is never split into keywords, and
no keyword is made or changed (ING-KEYWORDS): both are only compared as `text.fold` reads them, so
that case, width and composition don't matter.

An occurrence is *at boundaries* when no character of a word stands right before or right after
it. So `c++` is found as a word. A word that is followed by a Korean particle or ending ends at a
boundary too: `메모리` in `메모리를`, `api` in `api는`; but not `메모` in `메모리`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple, TypeVar
from unicodedata import category

from memoranda.plans.items import MemoryItem, RetrievedItem
from memoranda.text import fold
from memoranda.text.stems import LONGEST_ENDING, ends_of_nouns, is_ending

Item = TypeVar("Item", MemoryItem, RetrievedItem)

LONGEST_BEFORE_AN_ENDING: Final = 64
"""Characters of a keyword that may have a particle behind it: what is longer is no word.

So little of a query is looked at for each of its particles, and databases need no more of it.
"""

_HANGUL: Final = re.compile("[\uac00-\ud7a3]+")
_ENDING: Final = re.compile(rf"[\uac00-\ud7a3]{{1,{LONGEST_ENDING}}}(?![\uac00-\ud7a3])")


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
    3. of equal summaries only the first is left: where they match the same, that is the newest
    """
    folded = fold(query)
    # 1.
    found = [(_match(item.keywords, folded), item) for item in items]
    found = [(how, item) for how, item in found if how.in_all]
    # 2. Sorted twice, because newest first is the one order that descends.
    found.sort(key=lambda pair: pair[1].id)
    found.sort(key=lambda pair: (*pair[0], pair[1].timestamp), reverse=True)
    # 3.
    return first_of_each([item for _, item in found])[:top_k]


def first_of_each(items: Iterable[Item]) -> list[Item]:
    """Items without those that say the same as one before."""
    first: dict[str, Item] = {}
    for item in items:
        first.setdefault(item.summary, item)
    return list(first.values())


def is_of_a_word(character: str) -> bool:
    """Whether it is a letter, a digit, an underscore, or a mark on one of them."""
    return character.isalnum() or character == "_" or category(character)[0] == "M"


def is_at_boundaries(keyword: str, query: str) -> bool:
    """Whether a folded keyword occurs in a folded query at boundaries, wherever else it does."""
    start = query.find(keyword)
    while start >= 0:
        end = start + len(keyword)
        is_begun = start == 0 or not is_of_a_word(query[start - 1])
        if is_begun and _ends_at(query, end, len(keyword)):
            return True
        start = query.find(keyword, start + 1)
    return False


def places_before_endings(folded: str) -> Iterator[int]:
    """Where in a folded text a word ends because a Korean particle or ending stands behind it."""
    for run in _HANGUL.finditer(folded):
        yield from _places_in(folded, run)


def _ends_at(query: str, end: int, size: int) -> bool:
    if end == len(query) or not is_of_a_word(query[end]):
        return True
    if size > LONGEST_BEFORE_AN_ENDING or _ENDING.match(query, end) is None:
        return False
    start = end
    while start and _HANGUL.match(query, start - 1):
        start -= 1
    run = _HANGUL.match(query, start)
    return run is not None and end in _places_in(query, run)


def _places_in(text: str, run: re.Match[str]) -> Iterator[int]:
    start, end = run.span()
    if end < len(text) and is_of_a_word(text[end]):
        return
    if start and not text[start - 1].isspace() and is_ending(run[0]):
        yield start  # behind a word of another script, as in `api는`
    for at in ends_of_nouns(run[0]):
        yield start + at


def _match(keywords: Iterable[str], query: str) -> Match:
    distinct = {fold(keyword) for keyword in keywords}
    found = [keyword for keyword in distinct if keyword in query]
    return Match(sum(is_at_boundaries(keyword, query) for keyword in found), len(found))


# ------------------------------------------------------------------------------------------------
# What an item is found by: each of its keywords once, in three forms.
#
# **folded** is the keyword as it is compared: it matches where it occurs in the folded query.
#
# **gram** is how it begins, at most `GRAM` characters of it: keywords that begin otherwise than
# something in the query need not even be looked at.
#
# **marked** is the folded keyword with a sign wherever a word may start or end. Inside a text that
# depends on the two characters around it alone, so that a keyword occurs at boundaries where its
# marked form occurs in the marked query: databases compare texts, and need no rule of their own.
# Where a Korean particle stands behind a word does not depend on two characters: a query has, for
# each such place, what stands before it in marked form, and a keyword that one of these ends with
# occurs at boundaries too (`before_endings`).
#
# The signs are capital letters, which no folded text has. A store writes these forms as it goes,
# and a verifier derives them anew and compares.

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
