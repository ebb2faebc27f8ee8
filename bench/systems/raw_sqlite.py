"""The floor on SQLite: apsw writes the very rows that memoranda writes, and nothing else.

The file is made by memoranda; settings and SQL are memoranda's own. Bodies come encoded, ids
come made, nothing is hashed, there is no event loop to return to and no other thread: one BEGIN
IMMEDIATE and one COMMIT for each write, with the same fsync. A read is the same SELECT, and orjson.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw
import orjson

from bench.systems.disk import sqlite_bytes
from bench.systems.memoranda import SCOPE, memoranda_on_sqlite
from bench.workload import Item, Patch, item
from memoranda.ledger.entry import Entry, entry_bytes
from memoranda.records.filter import MemoryFilter
from memoranda.stores.selection import selection
from memoranda.stores.shorthand import BODY, ENTRY, packed, unpacked
from memoranda.stores.sqlite import append as sql
from memoranda.stores.sqlite.connection import connect, place
from memoranda.stores.sqlite.select import DIALECT
from memoranda.stores.sqlite.units import NEWEST

_BEYOND = 10**9
_SALT = bytes(16)
_HASH = bytes(32)
_ENTRY = packed(
    entry_bytes(Entry(10_000, "create", 1_763_257_839_123, "system:memoranda", "a" * 64, "a" * 64)),
    ENTRY,
)


class RawSqlite:
    """Rows of memoranda's schema, written by hand."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        found: Any = connection.execute(
            "SELECT number, size FROM journals WHERE scope = ?", (SCOPE,)
        )
        ((self._journal, self._seq),) = found.fetchall()
        chosen = selection(MemoryFilter(tags=("",), limit=10), self._journal, DIALECT)
        assert chosen is not None
        self._query, self._parameters = chosen.sql, chosen.parameters
        self._versions: dict[str, int] = {}

    async def create(self, item: Item) -> str:
        """One entry, its body, its row, its tags and the head, in one transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._write([item])
        self._connection.execute("COMMIT")
        return item.id

    async def create_many(self, items: Sequence[Item]) -> list[str]:
        """The same for all of them, in one transaction."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._write(items)
        self._connection.execute("COMMIT")
        return [item.id for item in items]

    async def get(self, key: str) -> object:
        """One row, its object and the data in that decoded."""
        found: Any = self._connection.execute(NEWEST, (self._journal, key)).fetchone()
        return None if found is None else (found, _decoded(found[-1]))

    async def update(self, key: str, patch: Patch) -> None:
        """Write the version that is known to come out."""
        await self._replace(key, "active", patch.shorthand)

    async def delete(self, key: str, item: Item) -> None:
        """Write the invalidation, and remove the tags."""
        await self._replace(key, "invalidated", item.shorthand, item.tags)

    async def query(self, tag: str) -> Sequence[object]:
        """The rows of the same SELECT, their objects decoded."""
        journal, _, *page = self._parameters
        rows: list[Any] = self._connection.execute(self._query, (journal, tag, *page)).fetchall()
        return [(row, _decoded(row[-1])) for row in rows]

    async def bytes_on_disk(self) -> int:
        """The file."""
        return sqlite_bytes(self._path)

    def _write(self, items: Sequence[Item]) -> None:
        connection, journal = self._connection, self._journal
        first, self._seq = self._seq, self._seq + len(items)
        places = [place(journal, seq) for seq in range(first, self._seq)]
        sql.ENTRY_ROWS.run(connection, [(where, _ENTRY) for where in places])
        sql.BODY_ROWS.run(
            connection,
            [(where, _SALT, item.shorthand) for where, item in zip(places, items, strict=True)],
        )
        sql.VERSION_ROWS.run(
            connection,
            [
                (journal, seq, seq, 1, item.id, 1, "active", item.created_at, item.created_at)
                + (None,) * 4
                for seq, item in enumerate(items, first)
            ],
        )
        sql.TAG_ROWS.run(
            connection,
            sorted(
                (journal, tag, item.created_at, seq, item.id)
                for seq, item in enumerate(items, first)
                for tag in item.tags
            ),
        )
        connection.execute(sql.MOVE_HEAD, (self._seq, _HASH, 0, journal))

    async def _replace(self, key: str, status: str, body: bytes, tags: Sequence[str] = ()) -> None:
        execute, journal = self._connection.execute, self._journal
        number = self._versions[key] = self._versions.get(key, 1) + 1
        where = place(journal, self._seq)
        execute("BEGIN IMMEDIATE")
        found: Any = execute(NEWEST, (journal, key)).fetchone()
        created_at = found[3]
        since = found[9]  # of all that the floor writes: the entry of the first version
        execute(sql.REPLACE, (journal, key, number - 1))
        for tag in tags:
            execute(sql.UNTAG, (journal, tag, created_at, since))
        sql.ENTRY_ROWS.run(self._connection, [(where, _ENTRY)])
        sql.BODY_ROWS.run(self._connection, [(where, _SALT, body)])
        row = (journal, self._seq, since, 1, key, number, status, created_at, created_at + number)
        sql.VERSION_ROWS.run(self._connection, [row + (None,) * 4])
        self._seq += 1
        execute(sql.MOVE_HEAD, (self._seq, _HASH, 0, journal))
        execute("COMMIT")


@asynccontextmanager
async def raw_sqlite(path: Path) -> AsyncIterator[RawSqlite]:
    """A file made by memoranda, in the hands of apsw alone."""
    async with memoranda_on_sqlite(path) as system:
        await system.create(item(_BEYOND))  # a journal begins with its first record
    connection = connect(str(path))
    try:
        yield RawSqlite(connection, path)
    finally:
        connection.close()


def _decoded(body: bytes) -> object:
    return orjson.loads(orjson.loads(unpacked(body, BODY))["statement"])
