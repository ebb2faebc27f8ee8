"""The floor on SQLite: apsw writes the very rows that recollect writes, and nothing else.

The file is made by recollect; settings and SQL are recollect's own. Bodies come encoded, ids
come made, there is no event loop to return to and no other thread: one BEGIN IMMEDIATE and one
COMMIT for each write, with the same fsync. A read is the same SELECT, and orjson.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw
import orjson

from bench.systems.disk import sqlite_bytes
from bench.systems.recollect import SCOPE, recollect_on_sqlite
from bench.workload import Item, Patch
from recollect.records import MemoryFilter
from recollect.stores.records import DELETED_BY_CALLER
from recollect.stores.selection import selection
from recollect.stores.sqlite.connection import connect
from recollect.stores.sqlite.inserts import _INSERTS, _TAGS
from recollect.stores.sqlite.records import _EDIT, _GET, _REMOVE, _UNTAG, DIALECT

_INSERT = _INSERTS[1]  # one row to a statement
_TAG = _TAGS[1]
_ACTOR = "system:recollect"
_BODY = 4  # where it stands in a row


class RawSqlite:
    """Rows of recollect's schema, written by hand."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        chosen = selection(MemoryFilter(tags=("",), limit=10), SCOPE, DIALECT)
        assert chosen is not None
        self._query, self._parameters = chosen.sql, chosen.parameters
        self._turn = 1

    async def create(self, item: Item) -> str:
        """One row and its tags, in one transaction."""
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        execute(_INSERT, _row(item))
        for tag in item.tags:
            execute(_TAG, (SCOPE, tag, item.created_at, item.id))
        execute("COMMIT")
        return item.id

    async def create_many(self, items: Sequence[Item]) -> list[str]:
        """All rows and all tags, in one transaction."""
        connection = self._connection
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(_INSERT, [_row(item) for item in items])
        connection.executemany(
            _TAG, [(SCOPE, tag, item.created_at, item.id) for item in items for tag in item.tags]
        )
        connection.execute("COMMIT")
        return [item.id for item in items]

    async def get(self, key: str) -> object:
        """One row, its body decoded."""
        found = self._connection.execute(_GET, (SCOPE, key)).fetchone()
        return None if found is None else (found, orjson.loads(found[_BODY]))

    async def update(self, key: str, patch: Patch) -> None:
        """Write the body that is known to come out."""
        execute = self._connection.execute
        self._turn += 1
        execute("BEGIN IMMEDIATE")
        updated_at = 1_700_000_000_000 + self._turn
        execute(_EDIT, (self._turn, updated_at, patch.body, _ACTOR, None, SCOPE, key))
        execute("COMMIT")

    async def delete(self, key: str, item: Item) -> None:
        """Empty the row, and remove its tags."""
        execute = self._connection.execute
        execute("BEGIN IMMEDIATE")
        execute(_REMOVE, (item.created_at, _ACTOR, DELETED_BY_CALLER, SCOPE, key))
        for tag in item.tags:
            execute(_UNTAG, (SCOPE, tag, item.created_at, key))
        execute("COMMIT")

    async def query(self, tag: str) -> Sequence[object]:
        """The rows of the same SELECT, their bodies decoded."""
        scope, _, *page = self._parameters
        rows: list[Any] = self._connection.execute(self._query, (scope, tag, *page)).fetchall()
        return [(row, orjson.loads(row[_BODY])) for row in rows]

    async def bytes_on_disk(self) -> int:
        """The file."""
        return sqlite_bytes(self._path)


@asynccontextmanager
async def raw_sqlite(path: Path) -> AsyncIterator[RawSqlite]:
    """A file made by recollect, in the hands of apsw alone."""
    async with recollect_on_sqlite(path):
        pass
    connection = connect(str(path))
    try:
        yield RawSqlite(connection, path)
    finally:
        connection.close()


def _row(item: Item) -> tuple[object, ...]:
    return (SCOPE, item.id, item.created_at, item.created_at, item.body, _ACTOR, None)
