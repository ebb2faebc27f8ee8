"""The items of plans in SQLite.

An item is stored as its canonical bytes. What it is found by follows from them: its session, its
time, and its keywords, each of which a session has once, however many of its items name it.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any, Final, Protocol, TypeVar

import apsw

from memoranda.kernel.errors import RecordExists
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.time import parse_time
from memoranda.plans.item_terms import terms
from memoranda.plans.items import (
    MemoryItem,
    RetrievedItem,
    check_item,
    check_search,
    item_bytes,
    read_retrieved,
)
from memoranda.stores.item_ids import id_bytes, id_of
from memoranda.stores.sqlite.item_search import LONG, ItemSearch
from memoranda.stores.sqlite.reader import Glance

R = TypeVar("R")

_KEPT: Final = "SELECT body FROM memories WHERE journal = ? AND session = ? AND id = ?"
_INSERT: Final = "INSERT INTO memories (journal, session, id, body) VALUES (?, ?, ?, ?)"
_NAME_KEYWORD: Final = """
INSERT INTO item_keywords (journal, session, gram, folded, marked) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
_POST: Final = """
INSERT INTO item_postings (keyword, at, id)
SELECT number, ?, ? FROM item_keywords
WHERE journal = ? AND session = ? AND gram = ? AND folded = ?
"""
_FORGET_POSTINGS: Final = """
DELETE FROM item_postings WHERE keyword IN (SELECT number FROM item_keywords WHERE journal = ?)
"""
_FORGET: Final = (
    _FORGET_POSTINGS,
    "DELETE FROM item_keywords WHERE journal = ?",
    "DELETE FROM memories WHERE journal = ?",
)
_COUNT: Final = """
SELECT (SELECT count(*) FROM memories WHERE journal = ?1), (
  SELECT count(*) FROM item_keywords k JOIN item_postings p ON p.keyword = k.number
  WHERE k.journal = ?1
)
"""


class Rows(Protocol):
    """What a database does for its items."""

    @property
    def bodies(self) -> BodyCodec:
        """How bodies are stored."""
        ...

    async def glance(self, look: Glance, make: Callable[[Any], R]) -> list[R]:
        """What a few short reads find, all of the same moment; each row made into a value."""
        ...

    async def read(self, work: Callable[[apsw.Connection], R]) -> R:
        """Several reads that all see the same moment, beside the event loop."""
        ...

    async def write(self, work: Callable[[apsw.Connection], R]) -> R:
        """Run one unit of work in a transaction."""
        ...


class SqliteItems:
    """The items of one session (`ItemStore`)."""

    def __init__(self, database: Rows, journal: int, session_ref: str) -> None:
        self._database = database
        self._journal = journal
        self._session_ref = session_ref

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items whose keywords occur in the query, best first (ING-MATCH)."""
        check_search(query, top_k)
        if not (query and top_k):
            return []
        look = ItemSearch(self._journal, self._session_ref, query, top_k, self._retrieved)
        if len(query) <= LONG:
            return await self._database.glance(look, itemgetter(0))
        return await self._database.read(lambda c: [item for item, _ in look(c.cursor(), {})])

    async def save(self, item: MemoryItem) -> None:
        """Keep an item; the same one again changes nothing (ING-NO-BEST-EFFORT)."""
        checked = check_item(item, self._session_ref)
        journal, bodies = self._journal, self._database.bodies
        await self._database.write(lambda c: insert_item(c, journal, checked, bodies))

    def _retrieved(self, id: bytes, body: bytes) -> RetrievedItem:
        raw = self._database.bodies.unpack(body)
        return read_retrieved(raw, id=id_of(id), session_ref=self._session_ref)


def insert_item(
    connection: apsw.Connection, journal: int, item: MemoryItem, bodies: BodyCodec
) -> None:
    """Keep an item with its keywords, inside a transaction; RecordExists if its id is in use.

    Unless it is the same item: then it was kept before, and nothing changes.
    """
    raw, id = item_bytes(item), id_bytes(item.id)
    of_session = (journal, item.session_ref)
    kept: Any = connection.execute(_KEPT, (*of_session, id)).fetchone()
    if kept is not None:
        if bodies.unpack(kept[0]) != raw:
            raise RecordExists(item.id)
        return
    connection.execute(_INSERT, (*of_session, id, bodies.pack(raw, None)))
    at = parse_time(item.timestamp)
    for gram, folded, marked in terms(item.keywords):
        connection.execute(_NAME_KEYWORD, (*of_session, gram, folded, marked))
        connection.execute(_POST, (at, id, *of_session, gram, folded))


def forget_items(connection: apsw.Connection, journal: int) -> None:
    """Remove every item of a journal and all that it was found by, inside a transaction."""
    for statement in _FORGET:
        connection.execute(statement, (journal,))


def count_items(connection: apsw.Connection, journal: int) -> tuple[int, int]:
    """How many items a journal has, in all its sessions, and how many keywords all of these."""
    counted: Any = connection.execute(_COUNT, (journal,)).fetchone()
    return counted[0], counted[1]
