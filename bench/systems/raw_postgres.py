"""A reference on PostgreSQL: psycopg, one table, one statement a call, one connection.

It keeps no tags, no versions and no scopes: it shows what a round trip and a commit cost.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson
from psycopg import AsyncConnection

from bench.systems.disk import postgres_bytes
from bench.workload import Item, Patch

_SCHEMA = """
CREATE TABLE raw (id text PRIMARY KEY, created_at bigint NOT NULL, tag text, body jsonb NOT NULL)
"""
_INDEX = "CREATE INDEX raw_by_tag ON raw (tag, created_at DESC, id)"
_INSERT = "INSERT INTO raw (id, created_at, tag, body) VALUES (%s, %s, %s, %s)"
_QUERY = (
    "SELECT id, created_at, body::text FROM raw WHERE tag = %s ORDER BY created_at DESC LIMIT 10"
)


class RawPostgres:
    """One table and one connection; calls take turns."""

    def __init__(self, connection: AsyncConnection[Any], url: str) -> None:
        self._connection = connection
        self._url = url
        self._turn = asyncio.Lock()

    async def create(self, item: Item) -> str:
        """One INSERT."""
        async with self._turn:
            await self._connection.execute(_INSERT, _row(item))
        return item.id

    async def create_many(self, items: Sequence[Item]) -> list[str]:
        """One transaction, the INSERTs sent without waiting for each other."""
        async with self._turn, self._connection.transaction():
            await self._connection.cursor().executemany(_INSERT, [_row(item) for item in items])
        return [item.id for item in items]

    async def get(self, key: str) -> object:
        """One SELECT, the body decoded."""
        select = "SELECT id, created_at, body::text FROM raw WHERE id = %s"
        async with self._turn:
            found = await (await self._connection.execute(select, (key,))).fetchone()
        return None if found is None else (found, orjson.loads(found[2]))

    async def update(self, key: str, patch: Patch) -> None:
        """One UPDATE."""
        async with self._turn:
            change = "UPDATE raw SET body = %s WHERE id = %s"
            await self._connection.execute(change, (patch.body.decode(), key))

    async def delete(self, key: str, item: Item) -> None:
        """One DELETE."""
        del item
        async with self._turn:
            await self._connection.execute("DELETE FROM raw WHERE id = %s", (key,))

    async def query(self, tag: str) -> Sequence[object]:
        """One SELECT by an index on a scalar tag."""
        async with self._turn:
            rows = await (await self._connection.execute(_QUERY, (tag,))).fetchall()
        return [(row, orjson.loads(row[2])) for row in rows]

    async def bytes_on_disk(self) -> int:
        """The table and its indexes."""
        return await postgres_bytes(self._url)


@asynccontextmanager
async def raw_postgres(url: str) -> AsyncIterator[RawPostgres]:
    """The one table, in a database of its own."""
    connection = await AsyncConnection.connect(url, autocommit=True, prepare_threshold=0)
    async with connection:
        await connection.execute(_SCHEMA)
        await connection.execute(_INDEX)
        yield RawPostgres(connection, url)


def _row(item: Item) -> tuple[object, ...]:
    return (item.id, item.created_at, item.tags[0], item.body.decode())
