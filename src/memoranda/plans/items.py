"""What a plan remembers: items of five fields, kept and searched within one session.

An item is a summary with the keywords that it is found by, never raw content (ING-RAW). Its
keywords are the store's alone: what is retrieved has an id, a summary and a timestamp (ING-OUTPUT).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar, Final, NamedTuple, Protocol, TypeVar
from unicodedata import category

from pydantic import AfterValidator, StringConstraints

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import (
    InvalidFilter,
    InvalidInput,
    InvalidItem,
    InvalidTime,
    ItemDamaged,
)
from memoranda.kernel.given import is_blank
from memoranda.kernel.json import storable
from memoranda.kernel.wire import STORABLE, Refusal, WireModel, tuple_of
from memoranda.ledger.time import parse_time
from memoranda.text import fold
from memoranda.text.stems import LONGEST_ENDING, ends_of_nouns, is_ending

MAX_KEYWORD: Final = 256
MAX_SESSION_REF: Final = 256

_UUID4: Final = re.compile(
    "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII
)


def _uuid4(id: str) -> str:
    if _UUID4.fullmatch(id) is None:
        raise ValueError("it is not a version 4 UUID in lower case")
    return id


def _time(text: str) -> str:
    try:
        is_ours = format_time(parse_time(text)) == text
    except InvalidTime:
        is_ours = False
    if not is_ours:
        raise ValueError("it is not a time like 2026-11-16T08:00:00.000Z")
    return text


def _visible(text: str) -> str:
    if is_blank(text):
        raise ValueError("there is nothing in it that can be read")
    return text


Id = Annotated[str, AfterValidator(_uuid4)]
Timestamp = Annotated[str, AfterValidator(_time)]
Summary = Annotated[str, STORABLE, AfterValidator(_visible)]
Keyword = Annotated[
    str, StringConstraints(max_length=MAX_KEYWORD), STORABLE, AfterValidator(_visible)
]
SessionRef = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SESSION_REF), STORABLE]


class MemoryItem(WireModel):
    """An item with exactly five fields; any other is refused (ING-WHITELIST)."""

    refusal: ClassVar[Refusal] = InvalidItem

    id: Id
    session_ref: SessionRef
    timestamp: Timestamp
    summary: Summary
    keywords: Annotated[Sequence[str], tuple_of(Keyword)]


class RetrievedItem(WireModel):
    """What retrieval returns of an item: exactly these three (ING-OUTPUT)."""

    refusal: ClassVar[Refusal] = InvalidItem

    id: Id
    summary: Summary
    timestamp: Timestamp


class ItemSearch(Protocol):
    """Where the items of one session are found: all that a retrieval needs."""

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items whose keywords occur in the query, as `ranked` orders them.

        At most `top_k`, which has no default (ING-TOPK). ItemDamaged where one of them can't be
        read: never a part of the answer, never nothing instead (ING-NO-FALLBACK).
        """
        ...


class ItemStore(ItemSearch, Protocol):
    """The items of one session. It knows no other session, and no policy (ING-SESSION)."""

    async def save(self, item: MemoryItem) -> None:
        """Keep an item, durably when this returns (ING-NO-BEST-EFFORT).

        The same item once more changes nothing. RecordExists for another one with its id, and
        InvalidItem for an item of another session.
        """
        ...


# ------------------------------------------------------------------------- bytes and digest


def item_bytes(item: MemoryItem) -> bytes:
    """The canonical bytes of an item: what is stored of it, and hashed."""
    return canonical_bytes(item.model_dump(mode="json"))


def item_digest(item: MemoryItem) -> str:
    """The SHA-256 of an item's canonical bytes, in hex: a journal has it salted (ING-RAW)."""
    return sha256_hex(item_bytes(item))


def read_item(raw: bytes, *, id: str, session_ref: str) -> MemoryItem:
    """The item of stored bytes; ItemDamaged if it is none, or not the one that it stands for."""
    try:
        item = MemoryItem.model_validate(decode(raw))
    except InvalidInput as refused:
        raise ItemDamaged(id, str(refused)) from refused
    if (item.id, item.session_ref) != (id, session_ref):
        raise ItemDamaged(id, f"the item {item.id} is stored in its place")
    return item


def read_retrieved(raw: bytes, *, id: str, session_ref: str) -> RetrievedItem:
    """The item of stored bytes as it leaves its store: `retrieved(read_item(…))`, and faster.

    1. what is plainly an item, and the one that it stands for, needs no model to be judged by
    2. of everything else the model is the judge
    """
    # 1.
    try:
        text = raw.decode()
    except UnicodeDecodeError as refused:
        raise ItemDamaged(id, "stored bytes that are not UTF-8") from refused
    plain = _PLAIN_ITEM.fullmatch(text)
    if plain and plain.group(1, 2) == (id, session_ref) and text.isprintable():
        return _retrieved(id, plain[3], plain[4])
    # 2.
    return retrieved(read_item(raw, id=id, session_ref=session_ref))


def retrieved(item: MemoryItem) -> RetrievedItem:
    """An item as it leaves its store (ING-OUTPUT)."""
    return _retrieved(item.id, item.summary, item.timestamp)


def _retrieved(id: str, summary: str, timestamp: str) -> RetrievedItem:
    # What was validated as part of the item need not be validated again.
    return RetrievedItem.model_construct(_THREE, id=id, summary=summary, timestamp=timestamp)


_THREE: Final = {"id", "summary", "timestamp"}

# The canonical JSON of an item without escapes, whose texts begin with something that can be read
# however they are folded, of a day that every year has. If it can be printed, it can be stored.
_READABLE: Final = r"[0-9A-Za-z가-힣]"
_PLAIN_KEYWORD: Final = rf'"{_READABLE}[^"\\]{{0,{MAX_KEYWORD - 1}}}"'
_PLAIN_ITEM: Final = re.compile(
    rf'\{{"id":"({_UUID4.pattern})"'
    rf',"keywords":\[(?:{_PLAIN_KEYWORD}(?:,{_PLAIN_KEYWORD})*)?\]'
    rf',"sessionRef":"([^"\\]{{1,{MAX_SESSION_REF}}})"'
    rf',"summary":"({_READABLE}[^"\\]*)"'
    r',"timestamp":"([1-9][0-9]{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])'
    r"|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
    r'T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z)"\}'
)


# ------------------------------------------------------------------- what a store refuses


def check_session_ref(session_ref: object) -> str:
    """The session that a store is bound to; InvalidItem if it can't be one."""
    if not isinstance(session_ref, str) or not 0 < len(session_ref) <= MAX_SESSION_REF:
        raise InvalidItem("$.sessionRef", f"it is not a text of 1 to {MAX_SESSION_REF} characters")
    if not storable(session_ref):
        raise InvalidItem("$.sessionRef", "it holds U+0000 or a lone surrogate")
    return session_ref


def check_item(item: object, session_ref: str) -> MemoryItem:
    """The item, if it is one and of this session; InvalidItem otherwise.

    It is read anew: a model may have been made without being validated.
    """
    if not isinstance(item, MemoryItem):
        raise InvalidItem("$", "it is not a MemoryItem")
    try:
        members: Any = item.model_dump(mode="json", warnings=False)
    except Exception as broken:  # whatever pydantic raises for what it can't write
        raise InvalidItem("$", "it is not a whole MemoryItem") from broken
    checked = MemoryItem.model_validate(members)
    if checked.session_ref != session_ref:
        raise InvalidItem("$.sessionRef", "it is of another session than this store")
    return checked


def check_search(query: object, top_k: object) -> None:
    """InvalidFilter for a query that is no text, or a topK that is no number of items."""
    if not isinstance(query, str):
        raise InvalidFilter("$.query", "it is not a text")
    if isinstance(top_k, bool) or not isinstance(top_k, int):
        raise InvalidFilter("$.topK", "it is not a whole number")
    if top_k < 0:
        raise InvalidFilter("$.topK", "it is below 0")


# ------------------------------------------------------------------------------------------------
# Which items a query finds, and in which order: the definition that every store agrees with.
#
# A stored keyword matches when it occurs in the query. The query is never split into keywords, and
# no keyword is made or changed (ING-KEYWORDS): both are only compared as `text.fold` reads them, so
# that case, width and composition don't matter.
#
# An occurrence is *at boundaries* when no character of a word stands right before or right after
# it. So `c++` is found as a word. A word that is followed by a Korean particle or ending ends at a
# boundary too: `메모리` in `메모리를`, `api` in `api는`; but not `메모` in `메모리`.

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
