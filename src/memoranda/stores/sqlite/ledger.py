"""The ledger of one scope in SQLite."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from functools import partial
from typing import Any, Final, TypeVar

import apsw

from memoranda.kernel.errors import EntryDamaged, StoreFailed, StoreReadOnly, StoreUnavailable
from memoranda.ledger.snapshot import REBUILDING, Index, LedgerSnapshot
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import Committed, Current, Unit
from memoranda.recall.bm25 import Scored
from memoranda.recall.index import EVERYTHING, Ranking
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import RankingMode
from memoranda.records.filter import MemoryFilter
from memoranda.stores.attachments import StoredOrigins
from memoranda.stores.postings import ChunkDamaged
from memoranda.stores.reading import JournalReader
from memoranda.stores.selection import PLACED
from memoranda.stores.sessions import StoredAttachments
from memoranda.stores.sqlite.erase import scrub
from memoranda.stores.sqlite.file import SqliteFile, SqliteRows
from memoranda.stores.sqlite.finding import BEFORE_ALL, SqliteWordSearch, find
from memoranda.stores.sqlite.heads import block_read
from memoranda.stores.sqlite.merging import merge, merge_some
from memoranda.stores.sqlite.ranking import SqliteQuestion, rank
from memoranda.stores.sqlite.select import SqliteSelecting
from memoranda.stores.sqlite.snapshot import SqliteSnapshot
from memoranda.stores.sqlite.units import JOINED, NEWEST, JournalUnit
from memoranda.stores.sqlite.words import INDEX, clear, index_in
from memoranda.stores.vectors import StoredVectors
from memoranda.stores.words import BATCH, SEARCHED
from memoranda.text import Query

A = TypeVar("A")
R = TypeVar("R")

_STATUS: Final = Current._fields.index("status")
_AS_OF: Final = (
    f"SELECT {PLACED} FROM {JOINED} WHERE v.journal = ?1 AND v.seq < ?2 AND v.number ="  # noqa: S608 - ours
    " (SELECT max(w.number) FROM versions w WHERE w.journal = ?1 AND w.id = v.id AND w.seq < ?2)"
    " AND (v.status <> 'erased' OR b.body IS NOT NULL) ORDER BY v.since"
)
_REBUILD: Final = "UPDATE journals SET tokenizer = ? WHERE number = ?"
_TAIL: Final = "SELECT size - indexed FROM journals WHERE number = ?"


class SqliteLedger(SqliteSelecting, JournalReader):
    """The journal of one scope and what follows from it; every statement names it."""

    def __init__(self, database: SqliteFile, journal: int) -> None:
        super().__init__(database, journal)
        self._database = database
        self._reads = SqliteRows(database, journal)
        self.vectors = StoredVectors(self._reads)
        self.attachments = StoredAttachments(self._reads)
        self.origins = StoredOrigins(self._reads)

    def commit(self, unit: Unit) -> Coroutine[Any, Any, Committed]:
        """Run a unit in one transaction, which other units may share."""
        units, job = self._database.units, JournalUnit(self._journal, unit)
        if unit.is_dry:
            return self._database.read(lambda connection: units.look(connection, job))
        return self._database.write_joined(units.commit, job, is_short=unit.is_short)

    # ------------------------------------------------------------------------ objects

    async def current(self, id: str, make: Callable[[Current], R]) -> R | None:
        """The newest version of an object, if it is active, made into a value."""
        versions = await self._database.rows(NEWEST, (self._journal, id), self._active)
        return make(versions[0]) if versions and versions[0] is not None else None

    def _active(self, row: Any) -> Current | None:
        return self._compared.current(row) if row[_STATUS] == "active" else None

    async def as_of(self, size: int) -> AsyncGenerator[Current, None]:
        """The objects as they were when the journal had this many entries, in its order."""
        async with aclosing(self._database.stream(_AS_OF, (self._journal, size))) as rows:
            async for row in rows:
                yield self._compared.placed(row)

    # -------------------------------------------------------------------------- words

    async def find(
        self,
        query: Query,
        make: Callable[[Current], R | None],
        *,
        every: bool,
        limit: int | None,
        after: tuple[int, int] | None = None,
    ) -> list[R]:
        """The active objects that have the words of a query, newest first.

        Where too much is not in the index yet, it is brought forward first.
        """
        asked = SqliteWordSearch(query, every, make, limit, self._compared, after or BEFORE_ALL)
        words = self._database.merger.words
        return await self._searched(lambda c: find(c, self._journal, words, asked))

    async def rank(
        self,
        mode: RankingMode,
        asked: ParsedQuestion,
        make: Callable[[Current, Scored], R | None],
        *,
        limit: int,
        below: int = 0,
        within: MemoryFilter = EVERYTHING,
        damaged: list[EntryDamaged] | None = None,
    ) -> Ranking[R]:
        """The active objects that have anything of what is asked for, the best first."""
        question = SqliteQuestion(mode, asked, make, limit, below, within, self._compared, damaged)
        words = self._database.merger.words
        return await self._searched(lambda c: rank(c, self._journal, words, question))

    async def _searched(self, search: Callable[[apsw.Connection], R | None]) -> R:
        """What a search finds; where much is not in the index yet, some of it is merged first."""
        try:
            if not (await self.index()).is_stale and await self.tail() > SEARCHED:
                with suppress(StoreReadOnly, StoreUnavailable):  # then all of it is read
                    await self._merge()
            while (found := await self._database.read(search)) is None:
                await self._merge()
        except ChunkDamaged as damaged:
            why = f"its index of words is damaged ({damaged}); run `memoranda reindex`"
            raise StoreFailed(self._database.name, why) from None
        return found

    async def index(self) -> Index:
        """How far the word index reaches, and whose it is."""
        return (await self._database.rows(INDEX, (self._journal,), index_in))[0]

    async def tail(self) -> int:
        """How many entries are not in the word index."""
        return int((await self._database.rows(_TAIL, (self._journal,), _first))[0])

    async def reindex(self) -> None:
        def begin(connection: apsw.Connection) -> None:
            clear(connection, self._journal)
            connection.execute(_REBUILD, (REBUILDING, self._journal))

        await self._database.write(begin)
        while await self._merge(rebuilding=True):
            pass

    async def _merge(self, *, entries: int = BATCH, rebuilding: bool = False) -> int:
        bring = partial(merge, entries=entries, rebuilding=rebuilding)
        words = self._database.merger.words
        left = await self._database.write(lambda c: bring(c, self._journal, words))
        while await self._database.write(lambda connection: merge_some(connection, self._journal)):
            pass
        return left

    # ------------------------------------------------------------------------ journal

    async def hashes(self, blocks: Collection[Block]) -> Blocks:
        """Blocks of the tree, as they are stored or as they follow from the entries."""
        reads = {block: block_read(self._journal, block) for block in blocks}
        return {block: await self._database.rows(*read) for block, read in reads.items()}

    async def scrub(self, *, rewrite: bool = False) -> None:
        """See that what was erased is in no byte of the file."""
        database = self._database
        database.check_writable()
        database.merger.words.clear()
        await asyncio.to_thread(scrub, database.connect, database.name, rewrite=rewrite)

    def snapshot(self) -> AbstractAsyncContextManager[LedgerSnapshot]:
        database = self._database
        return SqliteSnapshot(database.connect, self._journal, database.name, database.bodies)


def _first(row: Any) -> Any:
    return row[0]
