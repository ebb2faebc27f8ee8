"""How databases find items by keywords: each keyword of a session once (`plans.items`).

A query is asked by its own grams, of which there are at most `GRAM` for each of its characters:
keywords that begin otherwise are not even looked at.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import add
from typing import Any, Final, NamedTuple

from memoranda.kernel.errors import RecordExists
from memoranda.kernel.json import storable
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.time import parse_time
from memoranda.plans.items import (
    GRAM,
    MemoryItem,
    RetrievedItem,
    before_endings,
    check_item,
    check_search,
    check_session_ref,
    item_bytes,
    marked,
    ranked,
    read_retrieved,
    retrieved,
    terms,
)
from memoranda.stores.statements import (
    Each,
    JournalRows,
    Procedure,
    Statement,
    Texts,
    ask,
)
from memoranda.text import fold

_AT_BOUNDARIES: Final = 2**32
"""What a match at boundaries counts: more than all others together. Of two items with as many of
these, the one with more others has more in all."""

_UNKNOWN: Final = "X"
"""Stands in a query for a character that no keyword can have, and not every database can take."""


Posted = tuple[int, bytes]
"""An item that has a keyword: its time below zero and its id, so that the newest is the least."""


class ItemQuery(NamedTuple):
    """A query as it is looked up."""

    grams: Collection[str]
    folded: str
    marked: str
    before_endings: Collection[str]


class Occurring(NamedTuple):
    """A keyword that occurs in a query, with the items that have it."""

    is_at_boundaries: bool
    posted: Sequence[Posted]


def asked(query: str) -> ItemQuery:
    folded = fold(query)
    at_boundaries, before = marked(folded), before_endings(folded)
    if not storable(folded):
        folded, at_boundaries = askable(folded), askable(at_boundaries)
        before = list(map(askable, before))
    return ItemQuery(beginnings(folded), folded, at_boundaries, before)


def askable(folded: str) -> str:
    """A folded query as every database can take it; the same keywords occur in it."""
    return folded if storable(folded) else "".join(map(_known, folded))


def beginnings(folded: str) -> set[str]:
    """How a keyword may begin that occurs in a folded query."""
    of_size = list(folded)
    grams = set(of_size)
    for size in range(1, GRAM):
        of_size = list(map(add, of_size, folded[size:]))
        grams.update(of_size)
    return grams


def best(occurring: Iterable[Occurring]) -> Iterator[bytes]:
    """The ids of the items by their matches, as `matching.ranked` orders them (ING-MATCH).

    1. what each item has is counted
    2. those with the most come first, the newest of them first; then those with less
    """
    # 1.
    counts: dict[Posted, int] = {}
    for is_at_boundaries, posted in occurring:
        weight = _AT_BOUNDARIES if is_at_boundaries else 1
        if not counts:
            counts = dict.fromkeys(posted, weight)
            continue
        for one in posted:
            counts[one] = counts.get(one, 0) + weight
    # 2.
    having: dict[int, list[Posted]] = {}
    for one, count in counts.items():
        having.setdefault(count, []).append(one)
    for count in sorted(having, reverse=True):
        for _, id in sorted(having[count]):
            yield id


def _known(character: str) -> str:
    return character if storable(character) else _UNKNOWN


# ------------------------------------------------------------------------------------------------
# The ids of items where a database stores their sixteen bytes: half the room, the same order.


def item_id(stored: Any) -> str:
    """An id, whether it is stored as its bytes or is a UUID of the database."""
    if not isinstance(stored, bytes):
        return str(stored)
    digits = stored.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


# ------------------------------------------------------------------------------------------------
# An item is stored as its canonical bytes. What it is found by follows from them: its session, its
# time, and its keywords, each of which a session has once, however many of its items name it.

_KEPT: Final = (
    "SELECT body FROM memories"
    " WHERE journal = :journal AND session = :session AND id = unhex(:id, '-')"
)
_COLUMNS: Final = ":session, :id, :at, :body, :grams, :folded, :marked) k WHERE k IS NOT NULL"
# The body that is kept under an id. If there is none, PostgreSQL has kept the item by then.
_INSERT: Final = Statement(_KEPT, f"SELECT k FROM memoranda.insert_item(:journal, {_COLUMNS}")  # noqa: S608 - ours
_SAVE: Final = Statement(_KEPT, f"SELECT k FROM memoranda.save_item(:journal, :origin, {_COLUMNS}")  # noqa: S608 - ours
_KEEP: Final = Statement(
    """
    INSERT INTO memories (journal, session, id, body)
    VALUES (:journal, :session, unhex(:id, '-'), :body)
    """,
    "",
)
_NAME_KEYWORD: Final = Statement(
    """
    INSERT INTO item_keywords (journal, session, gram, folded, marked)
    VALUES (:journal, :session, :gram, :folded, :marked) ON CONFLICT DO NOTHING
    """,
    "",
)
_POST: Final = Statement(
    """
    INSERT INTO item_postings (keyword, at, id)
    SELECT number, :at, unhex(:id, '-') FROM item_keywords
    WHERE journal = :journal AND session = :session AND gram = :gram AND folded = :folded
    """,
    "",
)


def insert_item(
    item: MemoryItem, bodies: BodyCodec, statement: Statement = _INSERT
) -> Procedure[None]:
    """Keep an item with its keywords; RecordExists if its id is in use.

    Unless it is the same item: then it was kept before, and nothing changes.
    """
    raw, session, id = item_bytes(item), item.session_ref, item.id
    body, at, found_by = bodies.pack(raw, None), parse_time(item.timestamp), terms(item.keywords)
    grams, folded, marked = map(Texts, zip(*found_by, strict=True)) if found_by else (Texts(),) * 3
    rows = yield ask(
        statement,
        session=session,
        id=id,
        at=at,
        body=body,
        grams=grams,
        folded=folded,
        marked=marked,
    )
    if not rows:
        yield ask(_KEEP, session=session, id=id, body=body)
        several = [
            {"session": session, "id": id, "at": at, "gram": gram, "folded": word, "marked": form}
            for gram, word, form in found_by
        ]
        yield Each(_NAME_KEYWORD, several)
        yield Each(_POST, several)
    elif bodies.unpack(rows[0][0]) != raw:
        raise RecordExists(item.id)


class StoredItems:
    """The items of one session in a database (`ItemStore`), which finds them in its own way."""

    def __init__(self, journal: JournalRows, session_ref: str) -> None:
        self._rows = journal
        self._session_ref = session_ref
        self._bodies = journal.bodies

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items whose keywords occur in the query, best first (ING-MATCH)."""
        check_search(query, top_k)
        return await self._found(query, top_k) if query and top_k else []

    async def save(self, item: MemoryItem) -> None:
        """Keep an item; the same one again changes nothing (ING-NO-BEST-EFFORT)."""
        checked = check_item(item, self._session_ref)
        await self._rows.change(lambda: insert_item(checked, self._bodies, _SAVE))

    async def _found(self, query: str, top_k: int) -> list[RetrievedItem]:
        raise NotImplementedError

    def _retrieved(self, id: Any, body: bytes) -> RetrievedItem:
        raw = self._bodies.unpack(body)
        return read_retrieved(raw, id=item_id(id), session_ref=self._session_ref)


# ------------------------------------------------------------------------------------------------
# The dict store for items: the definition of matching, run over everything.


class DictItems:
    """The items of one session in a dict (`ItemStore`). No call awaits: each is whole."""

    def __init__(self, session_ref: str) -> None:
        self._items: dict[str, MemoryItem] = {}
        self._session_ref = check_session_ref(session_ref)

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items whose keywords occur in the query, best first (ING-MATCH)."""
        check_search(query, top_k)
        return [retrieved(item) for item in ranked(self._items.values(), query, top_k)]

    async def save(self, item: MemoryItem) -> None:
        """Keep an item; the same one again changes nothing."""
        checked = check_item(item, self._session_ref)
        if self._items.setdefault(checked.id, checked) != checked:
            raise RecordExists(checked.id)
