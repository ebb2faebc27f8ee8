"""The index of words in PostgreSQL: postings of our own in segments (`stores.postings`).

No word is looked at while a caller waits. The journal itself says what is not yet in the index:
the entries from `indexed` on. Whoever searches reads them too. They are merged by the process that
wrote them, or by one that searches, a batch at a time (`merging`), and batches into ever longer
segments (`segments`): words are found without a lock; then, under the lock of the head, rows,
statistics and `indexed` move together, unless another process was faster.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from math import inf
from typing import Final, TypeVar

from psycopg.types.numeric import Int8

from memoranda.kernel.errors import (
    EntryDamaged,
    MemorandaError,
    StoreFailed,
    StoreReadOnly,
    StoreUnavailable,
)
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.snapshot import REBUILDING, Index
from memoranda.ledger.unit import Current
from memoranda.recall.bm25 import Scored
from memoranda.recall.index import EVERYTHING, Ranking
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import RankingMode
from memoranda.records.filter import MemoryFilter
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.finding import Finder, PostgresWordSearch
from memoranda.stores.postgres.index import IndexReader, State
from memoranda.stores.postgres.journal import BEGIN_READING
from memoranda.stores.postgres.merging import BatchMerger
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.ranking import PostgresQuestion, Ranker
from memoranda.stores.postgres.segments import SegmentMerger
from memoranda.stores.postings import ChunkDamaged
from memoranda.stores.words import (
    BATCH,
    MERGED_ANYWAY,
    MERGED_WHEN_IDLE,
    SEARCHED,
    WordCache,
    closing_seconds,
)
from memoranda.text import Query

R = TypeVar("R")

IDLE_S: Final = 0.05
"""How long nothing must have been written until time is spare."""

SPARE_BATCH: Final = 1_024
"""Entries that are merged at once in spare time: a long segment has fewer rows for each entry, and
is merged into others less often, which leaves dead rows behind."""

_BEGIN_REINDEX: Final = "SELECT memoranda.begin_reindex(%s, %s, %s)"

log = logging.getLogger("memoranda.postgres")


class PostgresWordIndex:
    """The index of words of one journal."""

    def __init__(
        self, calls: Pool, journal: int, origin: str, bodies: BodyCodec, words: WordCache
    ) -> None:
        """What is remembered of bodies is remembered in `words`, for all scopes of a database."""
        self._calls = calls
        self._database = calls.database
        self._named = (Int8(journal), origin)
        self._begin = BEGIN_READING.format(journal, origin).as_bytes()
        self._words = words
        self._reader = IndexReader(journal, origin, self._words)
        self._finder = Finder(journal, bodies, self._reader)
        self._ranker = Ranker(journal, bodies, self._reader)
        self._batches = BatchMerger(calls, journal, origin, self._begin, self._reader)
        self._segments = SegmentMerger(calls, journal, origin, self._begin)
        self._tail = 0
        self._written = 0
        self._has_batches = False
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------------ finding

    async def find(
        self,
        query: Query,
        make: Callable[[Current], R | None],
        *,
        every: bool,
        limit: int | None,
        after: tuple[int, int] | None = None,
    ) -> list[R]:
        """What has the words of a query, newest first; the tail is read as well."""
        most = SEARCHED
        while True:
            async with self._reading() as connection:
                state = await self._reader.state(connection)
                state.check()
                if not query.words or limit == 0:
                    return []
                if state.tail <= most:
                    wanted = PostgresWordSearch(query, every, limit, after)
                    return await self._finder.find(connection, state, wanted, make)
            most = await self._brought_forward(state)

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
        """What has anything of what is asked for, the best first; the tail is read as well."""
        question = PostgresQuestion(mode, asked, limit, below, within, damaged)
        most = SEARCHED
        while True:
            async with self._reading() as connection:
                state = await self._reader.state(connection)
                state.check()
                if state.tail <= most:
                    return await self._ranker.rank(connection, state, question, make)
            most = await self._brought_forward(state)

    async def _brought_forward(self, state: State) -> int:
        """Merge a batch for a search that finds much beyond the end; how much it then reads.

        Who may not write, or can't just now, reads all of it, as long as that can be read at all.
        """
        try:
            await self.merge()
            await self.step()
        except (StoreReadOnly, StoreUnavailable):
            if state.tail > MERGED_ANYWAY:
                raise
        return MERGED_ANYWAY

    # ------------------------------------------------------------------------ merging

    async def index(self) -> Index:
        """How far it reaches, whose it is, and of how much."""
        async with self._calls.connection() as connection:
            state = await self._reader.state(connection)
        return Index(state.indexed, state.tokenizer, state.documents, state.length)

    async def reindex(self) -> None:
        """Make it anew, in steps; it is stale until a unit names its tokenizer."""
        async with self._calls.connection(writes=True) as connection:
            await connection.execute(_BEGIN_REINDEX, (*self._named, REBUILDING))
        while await self.merge(rebuilding=True):
            await self.step()
        while await self.step():
            pass

    async def merge(self, *, entries: int = BATCH, rebuilding: bool = False) -> int:
        """Bring it forward by a batch; how many entries are left."""
        with self._plain_damage():
            left = await self._batches.merge(entries, rebuilding=rebuilding)
        self._has_batches = True
        return left

    async def step(self) -> bool:
        """Go on with merging segments; whether any were due."""
        with self._plain_damage():
            return await self._segments.step()

    def forget(self) -> None:
        self._words.clear()

    # --------------------------------------------------------------------- spare time

    def note(self, entries: int) -> None:
        """Entries were written: when there are many, and some time is spare, they are merged."""
        self._tail += entries
        self._written += entries
        if self._tail >= MERGED_WHEN_IDLE and self._task is None and not self._closing.is_set():
            self._task = asyncio.get_running_loop().create_task(self._use_spare_time())

    @property
    def tail(self) -> int:
        """How many entries this process wrote that are not merged, as far as is known."""
        return self._tail

    async def close(self, began: float) -> None:
        """Merge what this process wrote, if closing has not taken long; nothing more after that."""
        self._closing.set()
        if self._task is not None:
            await self._task
        left = began + closing_seconds(self._tail) - asyncio.get_running_loop().time()
        if left > 0 and (self._tail or self._has_batches):
            await self._try(0, left)

    async def _use_spare_time(self) -> None:
        while self._tail >= MERGED_WHEN_IDLE and not self._closing.is_set():
            written = self._written
            try:
                async with asyncio.timeout(IDLE_S):
                    await self._closing.wait()
            except TimeoutError:
                if self._written == written or self._tail >= MERGED_ANYWAY:
                    await self._try(MERGED_WHEN_IDLE)
        self._task = None

    async def _try(self, down_to: int, seconds: float = inf) -> None:
        """Merge until so few are left, then segments; if it fails, that is a line in the log."""
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        try:
            while (left := await self.merge(entries=SPARE_BATCH)) and left >= down_to:
                if clock() >= until:
                    break
                await self.step()
            self._tail = left
            while clock() < until and await self.step():
                pass
            self._has_batches = False
        except MemorandaError as error:
            log.warning("the index of words was not brought forward: %s", error)
            self._tail = 0

    # --------------------------------------------------------------------- statements

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[Connection]:
        with self._plain_damage():
            async with self._calls.transaction(self._begin) as connection:
                yield connection

    @contextmanager
    def _plain_damage(self) -> Iterator[None]:
        """An index that can't be read comes out as an error that says what to do."""
        try:
            yield
        except ChunkDamaged as damaged:
            why = f"its index of words is damaged ({damaged}); run `memoranda reindex`"
            raise StoreFailed(self._database, why) from None
