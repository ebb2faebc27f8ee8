"""A journal at one moment, read in chunks: a transaction that sees nothing of what comes later."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final

from psycopg.types.numeric import Int8

from memoranda.ledger.beside import Beside, CycleSalt, Left, StoredItem, StoredKeyword
from memoranda.ledger.codec import BodyCodec, Leniently
from memoranda.ledger.unit import (
    Head,
    Index,
    Mark,
    StoredEntry,
    StoredNodeHash,
    StoredRow,
    StoredTag,
    StoredThread,
    StoredVector,
    StoredWord,
    Version,
)
from memoranda.stores.carrying import CARRIED, left
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.segments import segments_of
from memoranda.stores.postings import Chunk, ChunkDamaged, postings_of
from memoranda.stores.segments import wrong

ROWS_AT_ONCE: Final = 256
NO_ENTRY: Final = -1
VERSION_COLUMNS: Final = len(Version._fields)

_HEAD: Final = "SELECT origin, size, head FROM memoranda.journals j WHERE j.number = %s"
_ENTRIES: Final = (
    "SELECT e.seq, e.entry, b.salt, b.body FROM memoranda.entries e"
    " LEFT JOIN memoranda.bodies b ON b.journal = e.journal AND b.seq = e.seq"
    " WHERE e.journal = %s ORDER BY e.seq"
)
_NODES: Final = (
    "SELECT n.level, n.number, n.hash FROM memoranda.nodes n"
    " WHERE n.journal = %s ORDER BY n.level, n.number"
)
_ROWS: Final = (
    "SELECT v.id, v.number, v.status, v.created_at, v.updated_at, v.valid_from, v.valid_to,"
    " v.expires_at, v.subject, v.seq, v.since, v.is_newest, e.entry, b.body"
    " FROM memoranda.versions v"
    " LEFT JOIN memoranda.entries e ON e.journal = v.journal AND e.seq = v.seq"
    " LEFT JOIN memoranda.bodies b ON b.journal = v.journal AND b.seq = v.seq"
    " WHERE v.journal = %s ORDER BY v.id, v.number"
)
_TAGS: Final = (
    "SELECT coalesce(t.whole, t.tag), t.created_at, t.id, t.since FROM memoranda.tags t"
    " WHERE t.journal = %s ORDER BY t.tag, t.created_at, t.since"
)

_INDEX: Final = (
    "SELECT j.indexed, j.tokenizer, j.documents, j.length FROM memoranda.journals j"
    " WHERE j.number = %s"
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
    "SELECT d.input, 0::bigint, d.output FROM memoranda.derivations d WHERE d.journal = %s"
)

_LEFT: Final = left("memoranda.", "%s")


class PostgresSnapshot:
    """All of one ledger, on a connection inside a transaction."""

    def __init__(self, connection: Connection, journal: int, bodies: BodyCodec) -> None:
        self._bodies = Leniently(bodies)
        self._connection = connection
        self._journal = Int8(journal)

    async def head(self) -> Head:
        """The end of the journal."""
        found = await self._connection.execute(_HEAD, (self._journal,), binary=True)
        ((*head,),) = await found.fetchall()
        return Head._make(head)

    async def entries(self) -> AsyncGenerator[Sequence[StoredEntry], None]:
        """Every entry with its body, by number."""
        async with aclosing(self._chunks("entries", _ENTRIES)) as chunks:
            async for rows in chunks:
                yield [stored_entry(self._bodies, row) for row in rows]

    async def nodes(self) -> AsyncGenerator[Sequence[StoredNodeHash], None]:
        """Every node of the tree that is stored, by level and number."""
        async with aclosing(self._chunks("nodes", _NODES)) as chunks:
            async for rows in chunks:
                yield [StoredNodeHash._make(row) for row in rows]

    async def rows(self) -> AsyncGenerator[Sequence[StoredRow], None]:
        """Every version's row with the entry and the body that it stands for, by id and number."""
        async with aclosing(self._chunks("rows", _ROWS)) as chunks:
            async for rows in chunks:
                yield [_row(self._bodies, row) for row in rows]

    async def tags(self) -> AsyncGenerator[Sequence[StoredTag], None]:
        """Every row of the index of tags."""
        async with aclosing(self._chunks("tags", _TAGS)) as chunks:
            async for rows in chunks:
                yield [StoredTag._make(row) for row in rows]

    async def marks(self) -> AsyncGenerator[Sequence[Mark], None]:
        """Every row of the index of marks."""
        async with aclosing(self._chunks("marks", _MARKS)) as chunks:
            async for rows in chunks:
                yield [Mark._make(row) for row in rows]

    async def index(self) -> Index:
        """How far the word index reaches, whose it is, of how much, and if it can be whole."""
        found = await self._connection.execute(_INDEX, (self._journal,), binary=True)
        ((*counts,),) = await found.fetchall()
        index = Index(*counts)
        segments = await segments_of(self._connection, self._journal)
        return index._replace(broken=wrong(segments, index.indexed))

    async def words(self) -> AsyncGenerator[Sequence[StoredWord], None]:
        """Every posting of the word index."""
        async with aclosing(self._chunks("words", _WORDS)) as chunks:
            async for rows in chunks:
                yield [word for row in rows for word in _words(row)]

    async def threads(self) -> AsyncGenerator[Sequence[StoredThread], None]:
        """Every row of the index of threads."""
        async with aclosing(self._chunks("threads", _THREADS)) as chunks:
            async for rows in chunks:
                yield [StoredThread._make(row) for row in rows]

    async def items(self) -> AsyncGenerator[Sequence[StoredItem], None]:
        """Every item, and every origin of one that is not there."""
        for name, statement in (("items", _ITEMS), ("origins", _WITHOUT_ITEM)):
            async with aclosing(self._chunks(name, statement)) as chunks:
                async for rows in chunks:
                    yield [_item(self._bodies, row) for row in rows]

    async def keywords(self) -> AsyncGenerator[Sequence[StoredKeyword], None]:
        """Every row of the index of items."""
        async with aclosing(self._chunks("keywords", _KEYWORDS)) as chunks:
            async for rows in chunks:
                yield [StoredKeyword._make(row) for row in rows]

    async def salts(self) -> AsyncGenerator[Sequence[CycleSalt], None]:
        """Every salt of a cycle."""
        async with aclosing(self._chunks("salts", _SALTS)) as chunks:
            async for rows in chunks:
                yield [CycleSalt._make(row) for row in rows]

    async def vectors(self) -> AsyncGenerator[Sequence[StoredVector], None]:
        """Every vector of all models."""
        async with aclosing(self._chunks("vectors", _VECTORS)) as chunks:
            async for rows in chunks:
                yield [StoredVector._make(row) for row in rows]

    async def beside(self) -> AsyncGenerator[Sequence[Beside], None]:
        """All that landed beside the entries."""
        for table, columns, order, make in CARRIED:
            of_journal = f"memoranda.{table} WHERE journal = %s ORDER BY {order}"
            statement = f"SELECT {columns} FROM {of_journal}"  # noqa: S608 - ours
            async with aclosing(self._chunks(table, statement)) as chunks:
                async for rows in chunks:
                    yield [make(self._bodies, row) for row in rows]

    async def left(self) -> AsyncGenerator[Sequence[Left], None]:
        """Every session, recording and retry."""
        for statement, make in _LEFT.items():
            async with aclosing(self._chunks("left", statement)) as chunks:
                async for rows in chunks:
                    yield [make(self._bodies, row) for row in rows]

    async def derivations(self) -> AsyncGenerator[Sequence[StoredTag], None]:
        """What was made from what."""
        async with aclosing(self._chunks("derivations", _DERIVATIONS)) as chunks:
            async for rows in chunks:
                yield [StoredTag(*row) for row in rows]

    def _chunks(self, name: str, statement: str) -> AsyncGenerator[list[Any], None]:
        return chunks(self._connection, name, statement, (self._journal,))


def stored_entry(bodies: BodyCodec, row: Sequence[Any]) -> StoredEntry:
    """An entry from its number, itself, salt and stored body."""
    seq, entry, salt, body = row
    return StoredEntry(seq, entry, salt, None if body is None else bodies.unpack(body))


def _words(row: Sequence[Any]) -> list[StoredWord]:
    """The postings of a chunk; what a search could not read, or would not, is of no entry."""
    token, first, body, start, end = row
    try:
        postings = postings_of(Chunk(first, body))
    except ChunkDamaged:
        return [StoredWord(token, NO_ENTRY, 0)]
    if start is None or not start <= postings[0].seq <= postings[-1].seq < end:
        return [StoredWord(token, NO_ENTRY, 0)]
    return [StoredWord(token, *posting) for posting in postings]


def _item(bodies: BodyCodec, row: Sequence[Any]) -> StoredItem:
    session, id, body, cycle, salt = row
    content = None if body is None else bodies.unpack(body)
    return StoredItem(session, id, content, cycle, salt)


def _row(bodies: BodyCodec, row: Sequence[Any]) -> StoredRow:
    seq, since, is_newest, entry, body = row[VERSION_COLUMNS:]
    content = None if body is None else bodies.unpack(body)
    version = Version._make(row[:VERSION_COLUMNS])
    return StoredRow(version, seq, since, is_newest, entry, content)


async def chunks(
    connection: Connection, name: str, statement: str, values: Sequence[object]
) -> AsyncGenerator[list[Any], None]:
    """The rows of a SELECT, a few at a time, inside a transaction."""
    async with connection.cursor("memoranda_" + name) as cursor:
        await cursor.execute(statement.encode(), values, binary=True)
        while rows := await cursor.fetchmany(ROWS_AT_ONCE):
            yield rows
