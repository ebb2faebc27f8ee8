"""A SQLite ledger at one moment, read in chunks on a thread of its own."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from itertools import islice
from typing import Any, Final, Self, TypeVar

import apsw

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
from memoranda.stores.items import id_of
from memoranda.stores.postings import Segment, wrong
from memoranda.stores.shorthand import ENTRY
from memoranda.stores.sqlite.connection import SEQ, SEQ_BITS, let_go, plain_errors
from memoranda.stores.sqlite.marks import ALL_MARKS
from memoranda.stores.sqlite.words import INDEX, SEGMENTS, index_in
from memoranda.stores.tables import Read, each, entries, plain, versions, words

R = TypeVar("R")

CHUNK: Final = 256
"""Rows at once: few enough that a garbage collection seldom finds them alive and looks at all
there is, which would hold up the event loop."""

HEAD: Final = "SELECT origin, size, head FROM journals WHERE number = ?"
_ENTRIES: Final = (
    f"SELECT e.place & {SEQ}, e.entry, b.salt, b.body FROM entries e"  # noqa: S608 - ours
    " LEFT JOIN bodies b ON b.place = e.place"
    f" WHERE e.place >= ?1 << {SEQ_BITS} AND e.place < (?1 + 1) << {SEQ_BITS} ORDER BY e.place"
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
_DERIVATIONS: Final = "SELECT input, 0, output, 0 FROM derivations WHERE journal = ?"


def _item(bodies: BodyCodec, row: Any) -> StoredItem:
    session, id, body, cycle, salt = row
    content = None if body is None else bodies.unpack(body)
    return StoredItem(session, id_of(id), content, cycle, salt)


def _keyword(_: BodyCodec, row: Any) -> StoredKeyword:
    found = StoredKeyword._make(row)
    return found if row[-1] is None else found._replace(id=id_of(row[-1]))


_TABLES: Final[Mapping[Table[Any], Sequence[Read]]] = {
    ENTRIES: [Read(_ENTRIES, entries(ENTRY.unpack))],
    NODES: [Read(_NODES, plain(StoredNodeHash._make))],
    ROWS: [Read(_ROWS, versions(ENTRY.unpack))],
    TAGS: [Read(_TAGS, plain(StoredTag._make))],
    MARKS: [Read(ALL_MARKS, plain(Mark._make))],
    DERIVATIONS: [Read(_DERIVATIONS, plain(StoredTag._make))],
    WORDS: [Read(_POSTINGS, words)],
    THREADS: [Read(_THREADS, plain(StoredThread._make))],
    VECTORS: [Read(_VECTORS, plain(StoredVector._make))],
    ITEMS: [Read(_ITEMS, each(_item))],
    KEYWORDS: [Read(_KEYWORDS, each(_keyword))],
    LEFT: [Read(sql, each(make)) for sql, make in left("", "?").items()],
    SALTS: [Read(_SALTS, plain(CycleSalt._make))],
    ATTACHMENTS: [Read(sql, each(make)) for sql, make in carried("", "?").items()],
}


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
        self._has_ended = False

    async def __aenter__(self) -> Self:
        try:
            await self._run(self._begin)
        except BaseException:
            await self.__aexit__()  # nobody else will: a snapshot that was left pins the past
            raise
        return self

    async def __aexit__(self, *_raised: object) -> None:
        self._has_ended = True
        ended = self._thread.submit(self._end)
        self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(ended))  # it ends, also for who doesn't wait

    async def head(self) -> Head:
        (head,) = await self._all(HEAD, Head._make)
        return head

    async def rows(self, table: Table[R]) -> AsyncGenerator[Sequence[R], None]:
        for sql, make in _TABLES[table]:
            made = partial(make, self._bodies)
            async with aclosing(self._chunks(sql, (self._journal,), made)) as chunks:
                async for some in chunks:
                    yield some

    async def index(self) -> Index:
        """How far the word index reaches, whose it is, and of how much."""
        (index,) = await self._all(INDEX, index_in)
        segments = await self._all(SEGMENTS, Segment._make)
        return index._replace(broken=wrong(segments, index.indexed))

    async def _all(self, sql: str, make: Callable[[Any], R]) -> list[R]:
        def made(rows: Iterable[Any]) -> list[R]:
            return [make(row) for row in rows]

        async with aclosing(self._chunks(sql, (self._journal,), made)) as chunks:
            return [one async for chunk in chunks for one in chunk]

    # ------------------------------------------------------------------- on the thread

    def _begin(self) -> None:
        connection = self._connection = self._connect()
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM journals").fetchall()  # from here on nothing new shows

    def _end(self) -> None:
        if self._connection is not None:
            let_go(self._connection)

    async def _chunks(
        self, sql: str, parameters: Sequence[Any], make: Callable[[Iterable[Any]], list[R]]
    ) -> AsyncGenerator[Sequence[R], None]:
        assert self._connection is not None  # noqa: S101 - it is entered first
        cursor = await self._run(partial(self._connection.execute, sql, parameters))
        take = partial(_taken, cursor, make)
        try:
            while chunk := await self._run(take):
                yield chunk
        finally:
            if not self._has_ended:  # the end of the snapshot closes every cursor
                await self._run(partial(cursor.close, True))

    async def _run(self, work: Callable[[], R]) -> R:
        with plain_errors(self._database):
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _taken(cursor: apsw.Cursor, make: Callable[[Iterable[Any]], list[R]]) -> list[R]:
    return make(islice(cursor, CHUNK))
