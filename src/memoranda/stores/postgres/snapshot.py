"""A journal at one moment, read in chunks: a transaction that sees nothing of what comes later."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, TypeVar

from psycopg.types.numeric import Int8

from memoranda.ledger.attachments import CycleSalt, StoredItem, StoredKeyword
from memoranda.ledger.codec import BodyCodec, Leniently
from memoranda.ledger.snapshot import (
    ATTACHMENTS,
    DERIVATIONS,
    ENTRIES,
    ITEMS,
    KEYWORDS,
    LEFT,
    MARKS,
    NODES,
    ROWS,
    SALTS,
    TAGS,
    THREADS,
    VECTORS,
    WORDS,
    Index,
    StoredNodeHash,
    StoredTag,
    StoredThread,
    StoredVector,
    Table,
)
from memoranda.ledger.unit import Head, Mark
from memoranda.stores.attachments import carried, left
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.segments import segments_of
from memoranda.stores.postings import wrong
from memoranda.stores.tables import Read, each, entries, plain, versions, words

R = TypeVar("R")

ROWS_AT_ONCE: Final = 256

_HEAD: Final = "SELECT origin, size, head FROM memoranda.journals j WHERE j.journal = %s"
_ENTRIES: Final = (
    "SELECT e.seq, e.entry, e.salt, e.body FROM memoranda.entries e"
    " WHERE e.journal = %s ORDER BY e.seq"
)
_NODES: Final = (
    "SELECT n.level, n.number, n.hash FROM memoranda.nodes n"
    " WHERE n.journal = %s ORDER BY n.level, n.number"
)
_ROWS: Final = (
    "SELECT v.id, v.number, v.status, v.created_at, v.updated_at, v.valid_from, v.valid_to,"
    " v.expires_at, v.subject, v.seq, v.since, v.is_newest, e.entry, e.body"
    " FROM memoranda.versions v"
    " LEFT JOIN memoranda.entries e ON e.journal = v.journal AND e.seq = v.seq"
    " WHERE v.journal = %s ORDER BY v.id, v.number"
)
_TAGS: Final = (
    "SELECT coalesce(t.whole, t.tag), t.created_at, t.id, t.since FROM memoranda.tags t"
    " WHERE t.journal = %s ORDER BY t.tag, t.created_at, t.since"
)

_INDEX: Final = (
    "SELECT j.indexed, j.tokenizer, j.documents, j.length FROM memoranda.journals j"
    " WHERE j.journal = %s"
)
_WORDS: Final = (
    "SELECT p.token, p.first, p.body, s.first, s.until FROM memoranda.postings p"
    " LEFT JOIN memoranda.segments s ON s.journal = p.journal AND s.number = p.segment"
    " WHERE p.journal = %s"
)
_THREADS: Final = (
    "SELECT t.thread, t.created_at, t.id, t.seq, t.speaker FROM memoranda.threads t"
    " WHERE t.journal = %s"
)
_ITEMS: Final = """
SELECT i.session, i.id::text, i.body, o.cycle, s.salt FROM memoranda.memories i
LEFT JOIN memoranda.item_origins o
  ON o.journal = i.journal AND o.session = i.session AND o.id = i.id
LEFT JOIN memoranda.cycle_salts s ON s.journal = o.journal AND s.cycle = o.cycle
WHERE i.journal = %s
"""
_WITHOUT_ITEM: Final = """
SELECT o.session, o.id::text, NULL::bytea, o.cycle, NULL::bytea FROM memoranda.item_origins o
WHERE o.journal = %s AND NOT EXISTS (
  SELECT FROM memoranda.memories i
  WHERE i.journal = o.journal AND i.session = o.session AND i.id = o.id
)
"""
# The key is what a keyword is kept once by; with another one it is none of the index's.
_KEYWORDS: Final = """
SELECT k.session, k.gram, k.folded,
  CASE WHEN k.key = memoranda.tag_key(k.folded) THEN k.marked ELSE '' END, p.at, p.id::text
FROM memoranda.item_keywords k
LEFT JOIN memoranda.item_postings p ON p.journal = k.journal AND p.keyword = k.number
WHERE k.journal = %s
"""
_SALTS: Final = "SELECT s.cycle, s.salt FROM memoranda.cycle_salts s WHERE s.journal = %s"
_VECTORS: Final = """
SELECT x.seq, x.model, x.id, x.vector, v.status, v.is_newest FROM memoranda.vectors x
LEFT JOIN memoranda.versions v ON v.journal = x.journal AND v.id = x.id AND v.seq = x.seq
WHERE x.journal = %s
"""
_MARKS: Final = "SELECT m.name, m.seq FROM memoranda.marks m WHERE m.journal = %s"
_DERIVATIONS: Final = (
    "SELECT d.input, 0::bigint, d.output, 0::bigint FROM memoranda.derivations d"
    " WHERE d.journal = %s"
)


def _item(bodies: BodyCodec, row: Sequence[Any]) -> StoredItem:
    session, id, body, cycle, salt = row
    content = None if body is None else bodies.unpack(body)
    return StoredItem(session, id, content, cycle, salt)


_TABLES: Final[Mapping[Table[Any], Sequence[Read]]] = {
    ENTRIES: [Read(_ENTRIES, entries(bytes))],
    NODES: [Read(_NODES, plain(StoredNodeHash._make))],
    ROWS: [Read(_ROWS, versions(bytes))],
    TAGS: [Read(_TAGS, plain(StoredTag._make))],
    MARKS: [Read(_MARKS, plain(Mark._make))],
    DERIVATIONS: [Read(_DERIVATIONS, plain(StoredTag._make))],
    WORDS: [Read(_WORDS, words)],
    THREADS: [Read(_THREADS, plain(StoredThread._make))],
    VECTORS: [Read(_VECTORS, plain(StoredVector._make))],
    ITEMS: [Read(_ITEMS, each(_item)), Read(_WITHOUT_ITEM, each(_item))],
    KEYWORDS: [Read(_KEYWORDS, plain(StoredKeyword._make))],
    LEFT: [Read(sql, each(make)) for sql, make in left("memoranda.", "%s").items()],
    SALTS: [Read(_SALTS, plain(CycleSalt._make))],
    ATTACHMENTS: [Read(sql, each(make)) for sql, make in carried("memoranda.", "%s").items()],
}


class PostgresSnapshot:
    """All of one ledger, on a connection inside a transaction."""

    def __init__(self, connection: Connection, journal: int, bodies: BodyCodec) -> None:
        self._bodies = Leniently(bodies)
        self._connection = connection
        self._journal = Int8(journal)

    async def head(self) -> Head:
        found = await self._connection.execute(_HEAD, (self._journal,), binary=True)
        ((*head,),) = await found.fetchall()
        return Head._make(head)

    async def rows(self, table: Table[R]) -> AsyncGenerator[Sequence[R], None]:
        for sql, make in _TABLES[table]:
            read = chunks(self._connection, table.name, sql, (self._journal,))
            async with aclosing(read) as found:
                async for some in found:
                    yield make(self._bodies, some)

    async def index(self) -> Index:
        """How far the word index reaches, whose it is, of how much, and if it can be whole."""
        found = await self._connection.execute(_INDEX, (self._journal,), binary=True)
        ((*counts,),) = await found.fetchall()
        index = Index(*counts)
        segments = await segments_of(self._connection, self._journal)
        return index._replace(broken=wrong(segments, index.indexed))


async def chunks(
    connection: Connection, name: str, statement: str, values: Sequence[object]
) -> AsyncGenerator[list[Any], None]:
    """The rows of a SELECT, a few at a time, inside a transaction."""
    async with connection.cursor("memoranda_" + name) as cursor:
        await cursor.execute(statement.encode(), values, binary=True)
        while rows := await cursor.fetchmany(ROWS_AT_ONCE):
            yield rows
