"""The floor on PostgreSQL: psycopg writes the very rows that memoranda writes, and nothing else.

The tables are made by memoranda, the connection has its settings. Each write is one statement and
one trip: head, entry, body, version, tags. Bodies come encoded, ids come made, nothing is hashed,
nobody's right is checked (a superuser passes row-level security by). Calls take turns on one
connection. A read is the same SELECT, and orjson.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import orjson

from bench.systems.disk import postgres_bytes
from bench.systems.memoranda import SCOPE, memoranda_on_postgres
from bench.workload import Item, Patch, item
from memoranda.ledger.entry import Entry, entry_bytes
from memoranda.records.filter import MemoryFilter
from memoranda.stores.postgres.connection import Connection, connect, parse_address
from memoranda.stores.postgres.database import journal_number
from memoranda.stores.postgres.select import DIALECT, for_psycopg
from memoranda.stores.postgres.unit_reads import JOINED
from memoranda.stores.selection import COLUMNS, selection
from memoranda.stores.shorthand import BODY, ENTRY, unpacked
from memoranda.stores.statements import Blobs, Integers, Texts

_BEYOND = 10**9
_SALT = bytes(16)
_HASH = bytes(32)
_ENTRY = ENTRY.pack(
    entry_bytes(Entry(10_000, "create", 1_763_257_839_123, "system:memoranda", "a" * 64, "a" * 64))
)
_CREATE = """
WITH head AS (
  UPDATE memoranda.journals SET size = size + %(count)s, head = %(hash)s, head_at = 0
  WHERE journal = %(journal)s RETURNING size - %(count)s AS seq
), new AS (
  SELECT head.seq + n.place - 1 AS seq, n.* FROM head,
    unnest(%(ids)s, %(times)s, %(bodies)s) WITH ORDINALITY AS n (id, created_at, body, place)
), entry AS (
  INSERT INTO memoranda.entries (journal, seq, entry, salt, body)
  SELECT %(journal)s, seq, %(entry)s, %(salt)s, body FROM new
), version AS (
  INSERT INTO memoranda.versions
    (journal, id, number, seq, since, is_newest, status, created_at, updated_at)
  SELECT %(journal)s, id, 1, seq, seq, true, 'active', created_at, created_at FROM new
)
INSERT INTO memoranda.tags (journal, tag, created_at, since, id)
SELECT %(journal)s, n.tag, n.created_at, new.seq, n.id
FROM unnest(%(tags)s, %(tag_times)s, %(tag_ids)s) AS n (tag, created_at, id)
JOIN new ON new.id = n.id
"""
_REPLACE = """
WITH head AS (
  UPDATE memoranda.journals SET size = size + 1, head = %(hash)s, head_at = 0
  WHERE journal = %(journal)s RETURNING size - 1 AS seq
), old AS (
  SELECT number, created_at, updated_at FROM memoranda.versions
  WHERE journal = %(journal)s AND id = %(id)s ORDER BY number DESC LIMIT 1
), replaced AS (
  UPDATE memoranda.versions v SET is_newest = false FROM old
  WHERE v.journal = %(journal)s AND v.id = %(id)s AND v.number = old.number
), entry AS (
  INSERT INTO memoranda.entries (journal, seq, entry, salt, body)
  SELECT %(journal)s, seq, %(entry)s, %(salt)s, %(body)s FROM head
), version AS (
  INSERT INTO memoranda.versions
    (journal, id, number, seq, since, is_newest, status, created_at, updated_at)
  SELECT %(journal)s, %(id)s, number + 1, seq, seq, true, %(status)s, created_at, updated_at + 1
  FROM old, head
)
DELETE FROM memoranda.tags t USING old, unnest(%(tags)s) AS n (tag)
WHERE t.journal = %(journal)s AND t.tag = n.tag AND t.created_at = old.created_at
  AND t.id = %(id)s
"""
_GET = (
    f"SELECT {COLUMNS} FROM {JOINED} WHERE v.journal = %s AND v.id = %s"  # noqa: S608 - ours
    " ORDER BY v.number DESC LIMIT 1"
)


class RawPostgres:
    """Rows of memoranda's schema, written by hand."""

    def __init__(self, connection: Connection, url: str, journal: int) -> None:
        self._connection = connection
        self._url = url
        self._journal = journal
        self._fixed = {"journal": journal, "hash": _HASH, "entry": _ENTRY, "salt": _SALT}
        self._turn = asyncio.Lock()

    async def create(self, item: Item) -> str:
        """One entry, its body, its row, its tags and the head, in one statement."""
        await self._write([item])
        return item.id

    async def create_many(self, items: Sequence[Item]) -> list[str]:
        """The same for all of them."""
        await self._write(items)
        return [item.id for item in items]

    async def get(self, key: str) -> object:
        """One row, its object and the data in that decoded."""
        found = await self._rows(_GET, (self._journal, key))
        return (found[0], _decoded(found[0][-1])) if found else None

    async def update(self, key: str, patch: Patch) -> None:
        """Write the version that is known to come out."""
        await self._replace(key, "active", patch.shorthand)

    async def delete(self, key: str, item: Item) -> None:
        """Write the invalidation, and remove the tags."""
        await self._replace(key, "invalidated", item.shorthand, item.tags)

    async def query(self, tag: str) -> Sequence[object]:
        """The rows of the same SELECT, their objects decoded."""
        chosen = selection(MemoryFilter(tags=(tag,), limit=10), self._journal, DIALECT)
        assert chosen is not None
        rows = await self._rows(*for_psycopg(chosen))
        return [(row, _decoded(row[-1])) for row in rows]

    async def bytes_on_disk(self) -> int:
        """The tables and their indexes."""
        return await postgres_bytes(self._url)

    async def _write(self, items: Sequence[Item]) -> None:
        tagged = [(tag, item) for item in items for tag in item.tags]
        await self._run(_CREATE, {
            "count": len(items),
            "ids": Texts(item.id for item in items),
            "times": Integers(item.created_at for item in items),
            "bodies": Blobs(item.shorthand for item in items),
            "tags": Texts(tag for tag, _ in tagged),
            "tag_times": Integers(item.created_at for _, item in tagged),
            "tag_ids": Texts(item.id for _, item in tagged),
        })  # fmt: skip

    async def _replace(self, key: str, status: str, body: bytes, tags: Sequence[str] = ()) -> None:
        values = {"id": key, "status": status, "body": body, "tags": Texts(tags)}
        await self._run(_REPLACE, values)

    async def _run(self, statement: str, values: Mapping[str, object]) -> None:
        async with self._turn:
            await self._connection.execute(statement, {**self._fixed, **values}, prepare=True)

    async def _rows(self, statement: str, values: Sequence[object]) -> list[Any]:
        async with self._turn:
            found = await self._connection.execute(statement, values, prepare=True, binary=True)
            return await found.fetchall()


@asynccontextmanager
async def raw_postgres(url: str) -> AsyncIterator[RawPostgres]:
    """A database made by memoranda, in the hands of psycopg alone."""
    async with memoranda_on_postgres(url) as system:
        await system.create(item(_BEYOND))  # a journal begins with its first record
    connection = await connect(parse_address(url))
    async with connection:
        journal = journal_number(SCOPE)
        # The floor has no walls: it is let through them once, for the whole session.
        enter = "SELECT set_config('memoranda.journal', %s, false)"
        await connection.execute(enter, (str(journal),))
        yield RawPostgres(connection, url, journal)


def _decoded(body: bytes) -> object:
    return orjson.loads(orjson.loads(unpacked(body, BODY))["statement"])
