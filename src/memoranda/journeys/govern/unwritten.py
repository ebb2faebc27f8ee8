"""A scope to which nothing was written yet: it reads as empty, and begins with the first write.

Looking makes nothing: whoever asks for a scope that is not there, say because its name was
mistyped, leaves none behind.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, cast

from memoranda.journeys.govern.table import FilteredLedger
from memoranda.ledger.entry import genesis
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import Committed, Current, Head, Index, Snapshot, Unit
from memoranda.plans.items import ItemStore, MemoryItem, RetrievedItem, check_search
from memoranda.recall.index import Ranking
from memoranda.recall.vectors import Contents, Found
from memoranda.records.filter import MemoryFilter
from memoranda.records.pages import Position

_NO_VECTORS: Final = Contents(0, bytes(32).hex())


def later(
    existing: Callable[[], Awaitable[FilteredLedger | None]],
    begin: Callable[[int | None], Awaitable[FilteredLedger]],
    origin: str,
) -> FilteredLedger:
    """A ledger that is not there yet; `begin` makes it, with this origin, when it is written to.

    It is given the time of what is written, or None where that has none. Another handle, or
    another process, may be first: `existing` finds what it made.
    """
    return cast("FilteredLedger", _LaterLedger(existing, begin, _Empty(origin)))


def items_later(
    open_items: Callable[[str], Awaitable[ItemStore]], ledger: FilteredLedger
) -> Callable[[str], Awaitable[ItemStore]]:
    """Opens the items of a session, also while there is no ledger that they could be beside."""

    async def opened(session_ref: str) -> ItemStore:
        if not isinstance(ledger, _LaterLedger):
            return await open_items(session_ref)
        return _LaterItems(ledger, lambda: open_items(session_ref))

    return opened


class _LaterLedger:
    """Whatever is asked of it is asked of the ledger, as soon as there is one."""

    def __init__(
        self,
        existing: Callable[[], Awaitable[FilteredLedger | None]],
        begin: Callable[[int | None], Awaitable[FilteredLedger]],
        empty: "_Empty",
    ) -> None:
        self._existing = existing
        self._begin = begin
        self._empty = empty
        self._ledger: FilteredLedger | None = None
        self.vectors = _Later(self._part("vectors"))
        self.beside = _Later(self._part("beside"))
        self.origins = _Later(self._part("origins"))

    async def commit(self, unit: Unit) -> Committed:
        """Begin the journal, and run a unit."""
        return await (await self.begun(unit.at)).commit(unit)

    async def reindex(self) -> None:
        """Begin the journal, and make its word index anew."""
        await (await self.begun()).reindex()

    async def as_of(self, size: int) -> AsyncGenerator[Current, None]:
        """The objects as they were at a size."""
        async with aclosing((await self.found()).as_of(size)) as rows:
            async for row in rows:
                yield row

    async def stream(
        self, filter: MemoryFilter, after: Position | None = None
    ) -> AsyncGenerator[Current, None]:
        """What the filter asks for."""
        async with aclosing((await self.found()).stream(filter, after)) as rows:
            async for row in rows:
                yield row

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[Snapshot, None]:
        """All of it as it is now."""
        async with (await self.found()).snapshot() as snapshot:
            yield snapshot

    def __getattr__(self, name: str) -> Any:
        """Every other read."""
        if self._ledger is not None:
            return getattr(self._ledger, name)
        return getattr(_Later(self.found), name)

    async def found(self) -> FilteredLedger:
        """The ledger, or what stands for it while there is none."""
        if self._ledger is None:
            self._ledger = await self._existing()
        return cast("FilteredLedger", self._empty) if self._ledger is None else self._ledger

    async def begun(self, at: int | None = None) -> FilteredLedger:
        """The ledger, which is made if there is none: at this time, or now."""
        if self._ledger is None:
            self._ledger = await self._begin(at)
        return self._ledger

    @property
    def has_begun(self) -> bool:
        """Whether there is a ledger, as far as is known here."""
        return self._ledger is not None

    def _part(self, name: str) -> Callable[[], Awaitable[Any]]:
        async def part() -> Any:
            return getattr(await self.found(), name)

        return part


class _Later:
    """Something whose methods are asked for before it can be waited for."""

    def __init__(self, found: Callable[[], Awaitable[Any]]) -> None:
        self._found = found

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def asked(*given: Any, **named: Any) -> Any:
            return await getattr(await self._found(), name)(*given, **named)

        return asked


class _LaterItems:
    """The items of a session."""

    def __init__(self, ledger: _LaterLedger, opened: Callable[[], Awaitable[ItemStore]]) -> None:
        self._ledger = ledger
        self._opened = opened

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items whose keywords occur in a query, best first."""
        check_search(query, top_k)
        await self._ledger.found()
        return await (await self._opened()).search(query, top_k) if self._ledger.has_begun else []

    async def save(self, item: MemoryItem) -> None:
        """Begin the journal, and keep an item."""
        await self._ledger.begun()
        await (await self._opened()).save(item)


# ---------------------------------------------------------------------------- nothing


async def _nothing(*_given: object, **_named: object) -> None:
    return None


async def _none(*_given: object, **_named: object) -> list[Any]:
    return []


async def _zero(*_given: object, **_named: object) -> int:
    return 0


async def _no_rows(*_given: object, **_named: object) -> AsyncGenerator[Any, None]:
    return
    yield


class _Empty:
    """A journal without entries, and its snapshot: each has the same two ends."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self.vectors, self.beside, self.origins = _NoVectors(), _NothingBeside(), _NoOrigins()

    async def head(self) -> Head:
        return Head(self._origin, 0, bytes.fromhex(genesis(self._origin)))

    async def index(self) -> Index:
        return Index(0, "")

    async def hashes(self, blocks: Collection[Block]) -> Blocks:
        return {block: [] for block in blocks}

    async def rank(self, *_given: object, **_named: object) -> Ranking[Any]:
        return Ranking([], [], hits=0, size=0)

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[Snapshot, None]:
        yield cast("Snapshot", _EmptySnapshot(self._origin))

    async def bytes_at(self, _seqs: Collection[int]) -> dict[int, bytes]:
        return {}

    async def tag_counts(self, _prefix: str) -> dict[str, int]:
        return {}

    current = scrub = staticmethod(_nothing)
    versions = find = select = selected_ids = notes = staticmethod(_none)
    entries_at = marked = marks = outputs = notices = staticmethod(_none)
    active = count = staticmethod(_zero)
    as_of = stream = staticmethod(_no_rows)


class _EmptySnapshot:
    def __init__(self, origin: str) -> None:
        empty = _Empty(origin)
        self.head, self.index = empty.head, empty.index

    entries = nodes = rows = tags = marks = derivations = staticmethod(_no_rows)
    words = threads = vectors = staticmethod(_no_rows)
    beside = items = keywords = salts = left = staticmethod(_no_rows)


class _NothingBeside:
    session = saved_by = recording = put_aside = staticmethod(_nothing)
    kept_sessions = staticmethod(_none)


class _NoOrigins:
    salt = staticmethod(_nothing)
    of = items = stored = staticmethod(_none)

    async def is_index_whole(self, _session_ref: str) -> bool:
        return True


class _NoVectors:
    missing = staticmethod(_none)
    count_missing = put = forget_others = staticmethod(_zero)

    async def nearest(self, *_given: object, **_named: object) -> Found:
        return Found([], 0)

    async def contents(self, _model: str) -> Contents:
        return _NO_VECTORS
