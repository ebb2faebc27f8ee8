"""A SQLite ledger at one moment, read in chunks on a thread of its own."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from itertools import islice
from typing import Any, Final, Self, TypeVar

import apsw

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
from memoranda.stores.item_ids import id_of
from memoranda.stores.postings import Chunk, ChunkDamaged, postings_of
from memoranda.stores.segments import Segment, wrong
from memoranda.stores.shorthand import ENTRY, unpacked
from memoranda.stores.sqlite.connection import let_go, plain_errors
from memoranda.stores.sqlite.marks import ALL_MARKS
from memoranda.stores.sqlite.places import SEQ_BITS, place
from memoranda.stores.sqlite.words import INDEX, SEGMENTS, index_in

R = TypeVar("R")

CHUNK: Final = 1_024

HEAD: Final = "SELECT origin, size, head FROM journals WHERE number = ?"
ENTRIES: Final = (
    "SELECT e.place, e.entry, b.salt, b.body FROM entries e LEFT JOIN bodies b ON b.place = e.place"
    " WHERE e.place >= ? AND e.place < ? ORDER BY e.place"
)
_NODES: Final = "SELECT level, number, hash FROM nodes WHERE journal = ? ORDER BY level, number"
_ROWS: Final = (
    "SELECT v.id, v.number, v.status, v.created_at, v.updated_at, v.valid_from, v.valid_to,"  # noqa: S608 - ours
    " v.expires_at, v.subject, v.seq, v.since, v.is_newest, e.entry, b.body FROM versions v"
    f" LEFT JOIN entries e ON e.place = (v.journal << {SEQ_BITS} | v.seq)"
    " LEFT JOIN bodies b ON b.place = e.place WHERE v.journal = ? ORDER BY v.id, v.number"
)
_TAGS: Final = "SELECT tag, created_at, id, since FROM tags WHERE journal = ?"
_POSTINGS: Final = """
SELECT p.token, p.first, p.body, s.first, s.until FROM postings p
LEFT JOIN segments s ON s.journal = p.journal AND s.number = p.segment WHERE p.journal = ?
"""
_THREADS: Final = "SELECT thread, created_at, id, seq, speaker FROM threads WHERE journal = ?"
_ITEMS: Final = """
SELECT i.session, i.id, i.body, o.cycle, s.salt FROM memories i
LEFT JOIN item_origins o ON o.journal = i.journal AND o.session = i.session AND o.id = i.id
LEFT JOIN cycle_salts s ON s.journal = o.journal AND s.cycle = o.cycle WHERE i.journal = ?1
UNION ALL
SELECT o.session, o.id, NULL, o.cycle, NULL FROM item_origins o
WHERE o.journal = ?1 AND NOT EXISTS (
  SELECT 1 FROM memories i WHERE i.journal = ?1 AND i.session = o.session AND i.id = o.id
)
"""
_KEYWORDS: Final = """
SELECT k.session, k.gram, k.folded, k.marked, p.at, p.id FROM item_keywords k
LEFT JOIN item_postings p ON p.keyword = k.number WHERE k.journal = ?
"""
_SALTS: Final = "SELECT cycle, salt FROM cycle_salts WHERE journal = ?"
_VECTORS: Final = """
SELECT x.seq, x.model, x.id, x.vector, v.status, v.is_newest FROM vectors x
LEFT JOIN versions v ON v.journal = x.journal AND v.id = x.id AND v.seq = x.seq
WHERE x.journal = ?
"""
_DERIVATIONS: Final = "SELECT input, 0, output FROM derivations WHERE journal = ?"
_SEQ: Final = (1 << SEQ_BITS) - 1
_BESIDE: Final = {
    f"SELECT {columns} FROM {table} WHERE journal = ? ORDER BY {order}": make  # noqa: S608 - ours
    for table, columns, order, make in CARRIED
}

_LEFT: Final = left("", "?")


class SqliteSnapshot:
    """One read transaction: writing goes on beside it, and does not show."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        journal: int,
        database: str,
        bodies: BodyCodec,
    ) -> None:
        self._bodies = Leniently(bodies)
        self._connect = connect
        self._journal = journal
        self._database = database
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memoranda-snapshot")
        self._connection: apsw.Connection | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._run(self._begin)
        except BaseException:
            await self.__aexit__()  # nobody else will: a snapshot that was left pins the past
            raise
        return self

    async def __aexit__(self, *_raised: object) -> None:
        ended = self._thread.submit(self._end)
        self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(ended))  # it ends, also for who doesn't wait

    async def head(self) -> Head:
        """The end of the journal."""
        async with aclosing(self._chunks(HEAD, (self._journal,), Head._make)) as chunks:
            return (await anext(chunks))[0]

    def entries(self) -> AsyncGenerator[Sequence[StoredEntry], None]:
        """Every entry with its body, by number."""
        places = (place(self._journal, 0), place(self._journal + 1, 0))
        return self._chunks(ENTRIES, places, partial(stored_entry, self._bodies))

    def nodes(self) -> AsyncGenerator[Sequence[StoredNodeHash], None]:
        """Every node of the tree that is stored, by level and number."""
        return self._chunks(_NODES, (self._journal,), StoredNodeHash._make)

    def rows(self) -> AsyncGenerator[Sequence[StoredRow], None]:
        """Every version's row with the entry and the body that it stands for."""
        return self._chunks(_ROWS, (self._journal,), partial(_row, self._bodies))

    def tags(self) -> AsyncGenerator[Sequence[StoredTag], None]:
        """Every row of the index of tags."""
        return self._chunks(_TAGS, (self._journal,), StoredTag._make)

    def marks(self) -> AsyncGenerator[Sequence[Mark], None]:
        """Every row of the index of marks."""
        return self._chunks(ALL_MARKS, (self._journal,), Mark._make)

    async def beside(self) -> AsyncGenerator[Sequence[Beside], None]:
        """All that landed beside the entries."""
        for sql, make in _BESIDE.items():
            rows = self._chunks(sql, (self._journal,), partial(make, self._bodies))
            async with aclosing(rows) as chunks:
                async for some in chunks:
                    yield some

    async def left(self) -> AsyncGenerator[Sequence[Left], None]:
        """Every session, recording and retry."""
        for sql, make in _LEFT.items():
            made: Callable[[Any], Left] = partial(make, self._bodies)
            async with aclosing(self._chunks(sql, (self._journal,), made)) as chunks:
                async for some in chunks:
                    yield some

    def derivations(self) -> AsyncGenerator[Sequence[StoredTag], None]:
        """What was made from what."""
        return self._chunks(_DERIVATIONS, (self._journal,), lambda row: StoredTag(*row))

    async def index(self) -> Index:
        """How far the word index reaches, whose it is, and of how much."""
        async with aclosing(self._chunks(INDEX, (self._journal,), index_in)) as chunks:
            index = (await anext(chunks))[0]
        segments: list[Segment] = []
        async with aclosing(self._chunks(SEGMENTS, (self._journal,), Segment._make)) as found:
            async for some in found:
                segments += some
        return index._replace(broken=wrong(segments, index.indexed))

    async def words(self) -> AsyncGenerator[Sequence[StoredWord], None]:
        """Every posting of the word index."""
        async with aclosing(self._chunks(_POSTINGS, (self._journal,), _words)) as chunks:
            async for chunk in chunks:
                for words in chunk:
                    yield words

    def threads(self) -> AsyncGenerator[Sequence[StoredThread], None]:
        """Every row of the index of threads."""
        return self._chunks(_THREADS, (self._journal,), StoredThread._make)

    def items(self) -> AsyncGenerator[Sequence[StoredItem], None]:
        """Every item, and every origin of one that is not there."""
        return self._chunks(_ITEMS, (self._journal,), partial(_item, self._bodies))

    def keywords(self) -> AsyncGenerator[Sequence[StoredKeyword], None]:
        """Every row of the index of items."""
        return self._chunks(_KEYWORDS, (self._journal,), _keyword)

    def salts(self) -> AsyncGenerator[Sequence[CycleSalt], None]:
        """Every salt of a cycle."""
        return self._chunks(_SALTS, (self._journal,), CycleSalt._make)

    def vectors(self) -> AsyncGenerator[Sequence[StoredVector], None]:
        """Every vector of all models."""
        return self._chunks(_VECTORS, (self._journal,), StoredVector._make)

    # ------------------------------------------------------------------- on the thread

    def _begin(self) -> None:
        connection = self._connection = self._connect()
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM journals").fetchall()  # from here on nothing new shows

    def _end(self) -> None:
        if self._connection is not None:
            let_go(self._connection)

    async def _chunks(
        self, sql: str, parameters: Sequence[Any], make: Callable[[Any], R]
    ) -> AsyncGenerator[Sequence[R], None]:
        assert self._connection is not None  # noqa: S101 - it is entered first
        cursor = await self._run(partial(self._connection.execute, sql, parameters))
        take = partial(_taken, cursor, make)
        try:
            while chunk := await self._run(take):
                yield chunk
        finally:
            await self._run(partial(cursor.close, True))

    async def _run(self, work: Callable[[], R]) -> R:
        with plain_errors(self._database):
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def stored_entry(bodies: BodyCodec, row: Any) -> StoredEntry:
    """An entry from a row of `ENTRIES`."""
    where, entry, salt, body = row
    content = None if body is None else bodies.unpack(body)
    return StoredEntry(where & _SEQ, unpacked(entry, ENTRY), salt, content)


def _taken(cursor: apsw.Cursor, make: Callable[[Any], R]) -> list[R]:
    return [make(row) for row in islice(cursor, CHUNK)]


def _row(bodies: BodyCodec, row: Any) -> StoredRow:
    *version, seq, since, is_newest, entry, body = row
    return StoredRow(
        Version._make(version),
        seq,
        since,
        bool(is_newest),
        None if entry is None else unpacked(entry, ENTRY),
        None if body is None else bodies.unpack(body),
    )


def _words(row: Any) -> list[StoredWord]:
    """The postings of a chunk; what a search could not read, or would not, is of no entry."""
    token, first, body, start, end = row
    try:
        postings = postings_of(Chunk(first, body))
    except ChunkDamaged:
        return [StoredWord(token, -1, 0)]
    if start is None or not start <= postings[0].seq <= postings[-1].seq < end:
        return [StoredWord(token, -1, 0)]
    return [StoredWord(token, *posting) for posting in postings]


def _item(bodies: BodyCodec, row: Any) -> StoredItem:
    session, id, body, cycle, salt = row
    content = None if body is None else bodies.unpack(body)
    return StoredItem(session, id_of(id), content, cycle, salt)


def _keyword(row: Any) -> StoredKeyword:
    found = StoredKeyword._make(row)
    return found if row[-1] is None else found._replace(id=id_of(row[-1]))
