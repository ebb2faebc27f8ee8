"""The ledger of a scope to which nothing may have been written yet.

It reads as empty, and the first write makes the journal. Looking makes nothing: whoever asks for a
scope that is not there, say because its name was mistyped, leaves none behind. Another handle, or
another process, may make the journal at any time; from then on its ledger answers everything.
"""

from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Mapping,
    Sequence,
)
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar

from memoranda.journeys.govern.table import FilteredLedger
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.attachments import KeptSession, NamedSession, OriginOf, StoredItem
from memoranda.ledger.entry import genesis
from memoranda.ledger.lease import Lease
from memoranda.ledger.port import NOTHING_SEEN, Compacted, Sight, Wanted
from memoranda.ledger.snapshot import Index, LedgerSnapshot, Table
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import (
    Committed,
    Current,
    Head,
    KnownSubject,
    Mark,
    Past,
    StoredEntry,
    Unit,
)
from memoranda.plans.items import ItemStore, MemoryItem, RetrievedItem, check_search
from memoranda.recall.bm25 import Scored
from memoranda.recall.index import EVERYTHING, AskedMeaning, Ranking
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import RankingMode
from memoranda.recall.vectors import Contents, Embedding, Near, NearestFound, Unembedded
from memoranda.records.filter import MemoryFilter, Position
from memoranda.text import Query

R = TypeVar("R")


class ScopeLedger:
    """The ledger of one scope, whether there is a journal or not (`FilteredLedger`)."""

    def __init__(
        self,
        find: Callable[[], Awaitable[FilteredLedger | None]],
        make: Callable[[int | None], Awaitable[FilteredLedger]],
        origin: str,
        open_items: Callable[[str], Awaitable[ItemStore]],
    ) -> None:
        """Name what finds the journal, and what makes it with this origin.

        `make` is given the time of what is written, or None where that has none.
        """
        self._find = find
        self._make = make
        self._ledger: FilteredLedger | None = None
        self.commit: Callable[[Unit], Coroutine[Any, Any, Committed]] = self._begin
        """Runs a unit; once there is a journal, this is its own."""
        self._empty = _EmptySnapshot(origin)
        self._open_items = open_items
        self.vectors = _Vectors(self)
        self.attachments = _Attachments(self)
        self.origins = _Origins(self)
        self.leases = _Leases(self)

    async def found(self) -> FilteredLedger | None:
        """The ledger in the database, if there is one by now."""
        if self._ledger is None:
            self._use(await self._find())
        return self._ledger

    async def begun(self, at: int | None = None) -> FilteredLedger:
        """The ledger in the database, which is made if there is none: at this time, or now."""
        if self._ledger is None:
            self._use(await self._make(at))
        assert self._ledger is not None  # noqa: S101 - it was made
        return self._ledger

    def _use(self, ledger: FilteredLedger | None) -> None:
        self._ledger = ledger
        if ledger is not None:  # what is asked most often is asked there at once
            self.commit = ledger.commit
            self.current = ledger.current  # type: ignore[method-assign]
            self.select = ledger.select  # type: ignore[method-assign]
            self.rank = ledger.rank  # type: ignore[method-assign]
            self.sight = ledger.sight  # type: ignore[method-assign]
            self.notices = ledger.notices  # type: ignore[method-assign]

    async def _begin(self, unit: Unit) -> Committed:
        return await (await self.begun(unit.at)).commit(unit)

    async def ask(self, question: Callable[[FilteredLedger], Awaitable[R]], empty: R) -> R:
        """What the ledger answers; `empty` while there is none."""
        ledger = self._ledger or await self.found()
        return empty if ledger is None else await question(ledger)

    async def _streamed(
        self, rows: Callable[[FilteredLedger], AsyncGenerator[R, None]]
    ) -> AsyncGenerator[R, None]:
        ledger = await self.found()
        if ledger is not None:
            async with aclosing(rows(ledger)) as found:
                async for row in found:
                    yield row

    async def items(self, session_ref: str) -> ItemStore:
        """The items of a session, by its reference."""
        return _Items(self, lambda: self._open_items(session_ref))

    async def reindex(self) -> None:
        await (await self.begun()).reindex()

    async def head(self) -> Head:
        return await (await self.found() or self._empty).head()

    async def index(self) -> Index:
        return await (await self.found() or self._empty).index()

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[LedgerSnapshot, None]:
        ledger = await self.found()
        if ledger is None:
            yield self._empty
        else:
            async with ledger.snapshot() as snapshot:
                yield snapshot

    # ------------------------------------------------------------------------ objects

    async def current(self, id: str, make: Callable[[Current], R]) -> R | None:
        return await self.ask(lambda ledger: ledger.current(id, make), None)

    async def versions(self, id: str) -> list[Past]:
        return await self.ask(lambda ledger: ledger.versions(id), [])

    def as_of(self, size: int) -> AsyncGenerator[Current, None]:
        return self._streamed(lambda ledger: ledger.as_of(size))

    async def expired(self, at: int, limit: int) -> list[str]:
        return await self.ask(lambda ledger: ledger.expired(at, limit), [])

    async def active(self, at_most: int) -> int:
        return await self.ask(lambda ledger: ledger.active(at_most), 0)

    async def select(
        self,
        filter: MemoryFilter,
        make: Callable[[Current], R],
        damaged: list[EntryDamaged] | None = None,
        after: Position | None = None,
    ) -> list[R]:
        return await self.ask(lambda ledger: ledger.select(filter, make, damaged, after), [])

    def stream(
        self, filter: MemoryFilter, after: Position | None = None
    ) -> AsyncGenerator[Current, None]:
        return self._streamed(lambda ledger: ledger.stream(filter, after))

    async def selected_ids(self, filter: MemoryFilter) -> list[str]:
        return await self.ask(lambda ledger: ledger.selected_ids(filter), [])

    async def count(self, filter: MemoryFilter) -> int:
        return await self.ask(lambda ledger: ledger.count(filter), 0)

    async def tag_counts(self, prefix: str) -> dict[str, int]:
        return await self.ask(lambda ledger: ledger.tag_counts(prefix), {})

    async def find(
        self,
        query: Query,
        make: Callable[[Current], R | None],
        *,
        every: bool,
        limit: int | None,
        after: tuple[int, int] | None = None,
    ) -> list[R]:
        return await self.ask(
            lambda ledger: ledger.find(query, make, every=every, limit=limit, after=after), []
        )

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
        meaning: AskedMeaning | None = None,
    ) -> Ranking[R]:
        return await self.ask(
            lambda ledger: ledger.rank(
                mode,
                asked,
                make,
                limit=limit,
                below=below,
                within=within,
                damaged=damaged,
                meaning=meaning,
            ),
            Ranking([], [], hits=0, size=0),
        )

    # ------------------------------------------------------------------------ entries

    async def bytes_at(self, seqs: Collection[int]) -> dict[int, bytes]:
        return await self.ask(lambda ledger: ledger.bytes_at(seqs), {})

    async def entries_at(self, seqs: Collection[int]) -> list[StoredEntry]:
        return await self.ask(lambda ledger: ledger.entries_at(seqs), [])

    async def marked(
        self, name: str, *, after: int = -1, limit: int | None = None, newest_first: bool = False
    ) -> list[StoredEntry]:
        return await self.ask(
            lambda ledger: ledger.marked(name, after=after, limit=limit, newest_first=newest_first),
            [],
        )

    async def marks(self, prefix: str, *, after: str = "", limit: int | None = None) -> list[Mark]:
        return await self.ask(lambda ledger: ledger.marks(prefix, after=after, limit=limit), [])

    async def newest_marks(self, prefix: str, *, before: str = "", limit: int) -> list[Mark]:
        return await self.ask(
            lambda ledger: ledger.newest_marks(prefix, before=before, limit=limit), []
        )

    async def subjects(self, prefix: str, *, after: str = "", limit: int) -> list[KnownSubject]:
        return await self.ask(lambda ledger: ledger.subjects(prefix, after=after, limit=limit), [])

    async def outputs(self, input: str) -> list[str]:
        return await self.ask(lambda ledger: ledger.outputs(input), [])

    async def notices(self) -> list[StoredEntry]:
        return await self.ask(lambda ledger: ledger.notices(), [])

    async def hashes(self, blocks: Collection[Block]) -> Blocks:
        return await self.ask(lambda ledger: ledger.hashes(blocks), {block: [] for block in blocks})

    async def sight(
        self,
        seqs: Collection[int],
        wanted: Callable[[int, Sequence[str]], Wanted],
        *,
        named: str,
        notes: int,
    ) -> Sight:
        return await self.ask(
            lambda ledger: ledger.sight(seqs, wanted, named=named, notes=notes), NOTHING_SEEN
        )

    async def notes(self, limit: int | None = None) -> list[str]:
        return await self.ask(lambda ledger: ledger.notes(limit), [])

    async def scrub(self, *, rewrite: bool = False) -> None:
        await self.ask(lambda ledger: ledger.scrub(rewrite=rewrite), None)

    async def tidy(self) -> None:
        await self.ask(lambda ledger: ledger.tidy(), None)

    async def compact(self, after: int, *, dry_run: bool = False) -> Compacted:
        nothing = Compacted(0, 0, after, is_all=True)
        return await self.ask(lambda ledger: ledger.compact(after, dry_run=dry_run), nothing)


# -------------------------------------------------------------------- what is attached


class _Part:
    def __init__(self, ledger: ScopeLedger) -> None:
        self._ask = ledger.ask


class _Vectors(_Part):
    async def count_missing(self, model: str) -> int:
        return await self._ask(lambda ledger: ledger.vectors.count_missing(model), 0)

    async def missing(self, model: str, limit: int) -> Sequence[Unembedded]:
        return await self._ask(lambda ledger: ledger.vectors.missing(model, limit), [])

    async def put(self, model: str, embeddings: Sequence[Embedding]) -> int:
        return await self._ask(lambda ledger: ledger.vectors.put(model, embeddings), 0)

    async def nearest(
        self,
        model: str,
        vector: bytes,
        limit: int,
        make: Callable[[Current, Near], R | None],
        damaged: list[EntryDamaged] | None = None,
    ) -> NearestFound:
        return await self._ask(
            lambda ledger: ledger.vectors.nearest(model, vector, limit, make, damaged),
            NearestFound([], 0),
        )

    async def forget_others(self, model: str) -> int:
        return await self._ask(lambda ledger: ledger.vectors.forget_others(model), 0)

    async def contents(self, model: str) -> Contents:
        nothing = Contents(0, bytes(32).hex())
        return await self._ask(lambda ledger: ledger.vectors.contents(model), nothing)


class _Attachments(_Part):
    async def session(self, name: str) -> bytes | None:
        return await self._ask(lambda ledger: ledger.attachments.session(name), None)

    async def sessions(self, after: str, limit: int) -> list[NamedSession]:
        return await self._ask(lambda ledger: ledger.attachments.sessions(after, limit), [])

    async def saved_by(self, name: str) -> str | None:
        return await self._ask(lambda ledger: ledger.attachments.saved_by(name), None)

    async def put_aside(self, name: str, at: int, keep: int) -> None:
        await self._ask(lambda ledger: ledger.attachments.put_aside(name, at, keep), None)

    async def kept_sessions(self, name: str) -> list[KeptSession]:
        return await self._ask(lambda ledger: ledger.attachments.kept_sessions(name), [])

    async def recording(self, cycle: str) -> bytes | None:
        return await self._ask(lambda ledger: ledger.attachments.recording(cycle), None)


class _Origins(_Part):
    async def salt(self, cycle: str) -> bytes | None:
        return await self._ask(lambda ledger: ledger.origins.salt(cycle), None)

    async def of(self, session_ref: str, ids: Sequence[str]) -> list[OriginOf]:
        return await self._ask(lambda ledger: ledger.origins.of(session_ref, ids), [])

    async def items(self, cycle: str) -> list[str]:
        return await self._ask(lambda ledger: ledger.origins.items(cycle), [])

    async def is_index_whole(self, session_ref: str) -> bool:
        return await self._ask(lambda ledger: ledger.origins.is_index_whole(session_ref), True)

    async def stored(self, session_ref: str, ids: Sequence[str]) -> list[StoredItem]:
        return await self._ask(lambda ledger: ledger.origins.stored(session_ref, ids), [])


class _Leases(_Part):
    """Of a scope without a journal there is nothing to lease, and nothing to do."""

    async def take(
        self, name: str, holder: str, *, for_ms: int, now: int, due: int | None = None
    ) -> Lease | None:
        free = Lease(name, holder, now + for_ms, None, 1, "")
        return await self._ask(
            lambda ledger: ledger.leases.take(name, holder, for_ms=for_ms, now=now, due=due), free
        )

    async def renew(self, name: str, holder: str, *, for_ms: int, now: int) -> bool:
        return await self._ask(
            lambda ledger: ledger.leases.renew(name, holder, for_ms=for_ms, now=now), True
        )

    async def end(self, taken: Lease, *, due: int | None, attempts: int, report: str) -> bool:
        return await self._ask(
            lambda ledger: ledger.leases.end(taken, due=due, attempts=attempts, report=report), True
        )

    async def release(self, name: str, holder: str) -> None:
        await self._ask(lambda ledger: ledger.leases.release(name, holder), None)

    async def plan(self, jobs: Mapping[str, int | None], *, anew: bool = False) -> None:
        await self._ask(lambda ledger: ledger.leases.plan(jobs, anew=anew), None)

    async def owe(self, name: str, due: int) -> None:
        await self._ask(lambda ledger: ledger.leases.owe(name, due), None)

    async def all(self, prefix: str) -> Sequence[Lease]:
        return await self._ask(lambda ledger: ledger.leases.all(prefix), [])


class _Items:
    def __init__(self, ledger: ScopeLedger, opened: Callable[[], Awaitable[ItemStore]]) -> None:
        self._ledger = ledger
        self._opened = opened

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items whose keywords occur in a query, best first."""
        check_search(query, top_k)
        if await self._ledger.found() is None:
            return []
        return await (await self._opened()).search(query, top_k)

    async def save(self, item: MemoryItem) -> None:
        await self._ledger.begun()
        await (await self._opened()).save(item)


class _EmptySnapshot:
    """A journal without entries."""

    def __init__(self, origin: str) -> None:
        self._origin = origin

    async def head(self) -> Head:
        return Head(self._origin, 0, bytes.fromhex(genesis(self._origin)))

    async def index(self) -> Index:
        return Index(0, "")

    async def rows(self, _table: Table[Any]) -> AsyncGenerator[Any, None]:
        return
        yield
