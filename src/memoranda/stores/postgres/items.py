"""The items of plans in PostgreSQL.

An item is stored as its canonical bytes. What it is found by follows from them: its session, its
time, and its keywords, each of which a session has once, however many of its items name it.
"""

from collections.abc import Sequence
from typing import Any, Final

from psycopg.types.numeric import Int8

from memoranda.kernel.errors import ItemDamaged, RecordExists
from memoranda.kernel.json import MAX_INTEGER
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.time import parse_time
from memoranda.plans.items import (
    MemoryItem,
    RetrievedItem,
    check_item,
    check_search,
    item_bytes,
    read_retrieved,
)
from memoranda.plans.matching import first_of_each, terms
from memoranda.stores.items import asked
from memoranda.stores.postgres.arrays import Texts
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.pool import Pool

_SEARCH: Final = "SELECT id, body FROM memoranda.search_items(%s, %s, %s, %s, %s, %s, %s, %s)"
_MORE: Final = 4
_SAVE: Final = "SELECT memoranda.save_item(%s, %s, %s, %s, %s, %s, %s, %s, %s)"
_INSERT: Final = "SELECT memoranda.insert_item(%s, %s, %s, %s, %s, %s, %s, %s)"
_COUNT_POSTINGS: Final = "SELECT count(*) FROM memoranda.item_postings p WHERE p.journal = %s"
_ERASE: Final = "SELECT memoranda.erase_items(%s, %s)"


class PostgresItems:
    """The items of one session (`ItemStore`)."""

    def __init__(
        self, calls: Pool, journal: int, origin: str, session_ref: str, bodies: BodyCodec
    ) -> None:
        self._calls = calls
        self._named = (Int8(journal), origin)
        self._session_ref = session_ref
        self._bodies = bodies

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items whose keywords occur in the query, best first (ING-MATCH)."""
        check_search(query, top_k)
        if not (query and top_k):
            return []
        grams, folded, marked, before = asked(query)
        values = (*self._named, self._session_ref, Texts(grams), folded, marked, Texts(before))
        most = min(top_k, MAX_INTEGER)
        while True:
            async with self._calls.connection() as connection:
                limited = (*values, Int8(most))
                found = await connection.execute(_SEARCH, limited, prepare=True, binary=True)
                rows = await found.fetchall()
            items = [self._retrieved(str(id), body) for id, body in rows]
            distinct = first_of_each(items)
            if len(rows) < most or len(distinct) >= top_k:
                return distinct[:top_k]
            most *= _MORE  # some said the same as others

    async def save(self, item: MemoryItem) -> None:
        """Keep an item; the same one again changes nothing (ING-NO-BEST-EFFORT)."""
        checked = check_item(item, self._session_ref)
        values = (*self._named, *_columns(checked, self._bodies))
        async with self._calls.connection(writes=True) as connection:
            await _keep(connection, _SAVE, values, checked, self._bodies)

    def _retrieved(self, id: str, body: bytes | None) -> RetrievedItem:
        if body is None:
            raise ItemDamaged(id, "its keywords are there, and it is not")
        raw = self._bodies.unpack(body)
        return read_retrieved(raw, id=id, session_ref=self._session_ref)


async def insert_item(
    connection: Connection, journal: Int8, item: MemoryItem, bodies: BodyCodec
) -> None:
    """Keep an item with its keywords, in a transaction that has locked the journal.

    RecordExists if its id is in use, unless by the same item: then nothing changes.
    """
    values = (journal, *_columns(item, bodies))
    await _keep(connection, _INSERT, values, item, bodies)


async def erase_items(
    connection: Connection, journal: Int8, *, is_dry_run: bool
) -> tuple[int, int]:
    """Remove every item of a journal and all that it was found by; how many there were of both.

    In a transaction that has locked the journal; a dry run only counts.
    """
    found = await connection.execute(_COUNT_POSTINGS, (journal,), prepare=True, binary=True)
    ((keywords,),) = await found.fetchall()
    found = await connection.execute(_ERASE, (journal, is_dry_run), prepare=True, binary=True)
    ((items,),) = await found.fetchall()
    return items, keywords


async def _keep(
    connection: Connection,
    statement: str,
    values: tuple[object, ...],
    item: MemoryItem,
    bodies: BodyCodec,
) -> None:
    found = await connection.execute(statement, values, prepare=True, binary=True)
    ((kept,),) = await found.fetchall()
    if kept is not None and bodies.unpack(kept) != item_bytes(item):
        raise RecordExists(item.id)


def _columns(item: MemoryItem, bodies: BodyCodec) -> tuple[Any, ...]:
    found_by = terms(item.keywords)
    return (
        item.session_ref,
        item.id,
        Int8(parse_time(item.timestamp)),
        bodies.pack(item_bytes(item), None),
        Texts(term.gram for term in found_by),
        Texts(term.folded for term in found_by),
        Texts(term.marked for term in found_by),
    )
