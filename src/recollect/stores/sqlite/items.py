"""The items of plans in SQLite.

An item is stored as its canonical bytes. What it is found by follows from them: its session, its
time, and its keywords, each of which a session has once, however many of its items name it.
"""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, Protocol, TypeVar

import apsw
import orjson

from recollect.kernel.errors import ItemDamaged, RecordExists
from recollect.ledger.codec import BodyCodec
from recollect.ledger.time import parse_time
from recollect.plans.items import (
    MemoryItem,
    RetrievedItem,
    check_item,
    check_search,
    item_bytes,
    read_item,
    retrieved,
)
from recollect.stores.keywords import Posting, asked, best, terms
from recollect.stores.sqlite.reader import Parameters

R = TypeVar("R")

_KEPT: Final = "SELECT body FROM items WHERE journal = ? AND session = ? AND id = ?"
_INSERT: Final = "INSERT INTO items (journal, session, id, body) VALUES (?, ?, ?, ?)"
_NAME_KEYWORD: Final = """
INSERT INTO item_keywords (journal, session, gram, folded, marked) VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""
_POST: Final = """
INSERT INTO item_postings (keyword, at, id)
SELECT number, ?, ? FROM item_keywords
WHERE journal = ? AND session = ? AND gram = ? AND folded = ?
"""
# The keywords of this session that begin as something in the query does, and occur in it, with the
# items that have them. They are counted by whoever reads them: for a few rows, sorters and tables
# in between would take SQLite longer than all the rest.
_MATCHING: Final = """
SELECT instr(?5, k.marked) > 0, p.at, p.id
FROM json_each(?3) n
CROSS JOIN item_keywords k ON k.journal = ?1 AND k.session = ?2 AND k.gram = n.value
CROSS JOIN item_postings p ON p.keyword = k.number
WHERE instr(?4, k.folded) > 0
"""
_BODIES: Final = """
SELECT i.id, i.body FROM json_each(?3) n
CROSS JOIN items i ON i.journal = ?1 AND i.session = ?2 AND i.id = unhex(n.value)
"""
_FORGET_POSTINGS: Final = """
DELETE FROM item_postings WHERE keyword IN (SELECT number FROM item_keywords WHERE journal = ?)
"""
_FORGET: Final = (
    _FORGET_POSTINGS,
    "DELETE FROM item_keywords WHERE journal = ?",
    "DELETE FROM items WHERE journal = ?",
)
_COUNT: Final = "SELECT count(*) FROM items WHERE journal = ?"


class Rows(Protocol):
    """What a database does for its items."""

    @property
    def bodies(self) -> BodyCodec:
        """How bodies are stored."""
        ...

    def rows(
        self, sql: str, parameters: Parameters, make: Callable[[Any], R]
    ) -> Coroutine[Any, Any, list[R]]:
        """The rows of a SELECT, each made into a value."""
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
        """The items whose keywords occur in the query, best first (ING-MATCH).

        1. all of a query's matches are read at one moment, and ranked
        2. what the best say is read after that; only an erasure can have come in between
        3. so what is not there now, and still has its keywords, is damaged
        """
        check_search(query, top_k)
        if not (query and top_k):
            return []
        grams, folded, marked = asked(query)
        looked_up = (_json(list(grams)), folded, marked)
        while True:
            # 1.
            best = await self._best(looked_up, top_k)
            # 2.
            bodies = await self._bodies(best)
            if len(bodies) == len(best):
                return [self._retrieved(id, bodies[id]) for id in best]
            # 3.
            again = await self._best(looked_up, top_k)
            for id in best:
                if id not in bodies and id in again:
                    raise ItemDamaged(_id_of(id), "its keywords are there, and it is not")

    async def save(self, item: MemoryItem) -> None:
        """Keep an item; the same one again changes nothing (ING-NO-BEST-EFFORT)."""
        checked = check_item(item, self._session_ref)
        journal, bodies = self._journal, self._database.bodies
        await self._database.write(lambda c: insert_item(c, journal, checked, bodies))

    async def _best(self, looked_up: tuple[str, str, str], top_k: int) -> list[bytes]:
        """The ids of the best items."""
        parameters = (self._journal, self._session_ref, *looked_up)
        return best(await self._database.rows(_MATCHING, parameters, Posting._make), top_k)

    async def _bodies(self, ids: Sequence[bytes]) -> dict[bytes, bytes]:
        """What is stored of these items, as far as it is there."""
        if not ids:
            return {}
        parameters = (self._journal, self._session_ref, _json([id.hex() for id in ids]))
        return dict(await self._database.rows(_BODIES, parameters, tuple))

    def _retrieved(self, id: bytes, body: bytes) -> RetrievedItem:
        raw = self._database.bodies.unpack(body)
        return retrieved(read_item(raw, id=_id_of(id), session_ref=self._session_ref))


def insert_item(
    connection: apsw.Connection, journal: int, item: MemoryItem, bodies: BodyCodec
) -> None:
    """Keep an item with its keywords, inside a transaction; RecordExists if its id is in use.

    Unless it is the same item: then it was kept before, and nothing changes.
    """
    raw, id = item_bytes(item), _id_bytes(item.id)
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


def count_items(connection: apsw.Connection, journal: int) -> int:
    """How many items a journal has, in all its sessions."""
    counted: Any = connection.execute(_COUNT, (journal,)).fetchone()
    return int(counted[0])


def _json(texts: list[str]) -> str:
    return orjson.dumps(texts).decode()  # noqa: TID251 - a parameter


def _id_bytes(id: str) -> bytes:
    """An id as it is stored: in half the room, and in the same order."""
    return bytes.fromhex(id.replace("-", ""))


def _id_of(stored: bytes) -> str:
    digits = stored.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))
