"""The ledger of a scope to which nothing may have been written yet.

It reads as empty, and the first write makes the journal. Looking makes nothing: whoever asks for a
scope that is not there, say because its name was mistyped, leaves none behind. Once there is a
journal, whoever made it, its ledger takes over: its methods are called without a detour.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, cast

from typing_extensions import get_protocol_members

from memoranda.journeys.govern.table import FilteredLedger
from memoranda.ledger.entry import genesis
from memoranda.ledger.snapshot import Index, LedgerSnapshot
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import Committed, Current, Head, Unit
from memoranda.plans.items import ItemStore, MemoryItem, RetrievedItem, check_search
from memoranda.recall.index import Ranking
from memoranda.recall.vectors import Contents, NearestFound
from memoranda.records.filter import MemoryFilter
from memoranda.records.pages import Position

_PORT: Final = get_protocol_members(FilteredLedger)

OpenItems = Callable[[str], Awaitable[ItemStore]]
"""Opens the items of a session, by its reference."""


def ledger_of_scope(
    existing: Callable[[], Awaitable[FilteredLedger | None]],
    begin: Callable[[int | None], Awaitable[FilteredLedger]],
    origin: str,
    open_items: OpenItems,
) -> tuple[FilteredLedger, OpenItems]:
    """The ledger of a scope, and what opens its items, whether there is a journal or not.

    `existing` finds the journal: another handle, or another process, may make it at any time.
    `begin` makes it with this origin; it is given the time of what is written, or None where that
    has none.
    """
    ledger = _ScopeLedger(existing, begin, origin)

    async def items(session_ref: str) -> ItemStore:
        return _ScopeItems(ledger, lambda: open_items(session_ref))

    return cast("FilteredLedger", ledger), items


class _ScopeLedger:
    def __init__(
        self,
        existing: Callable[[], Awaitable[FilteredLedger | None]],
        begin: Callable[[int | None], Awaitable[FilteredLedger]],
        origin: str,
    ) -> None:
        self._existing = existing
        self._begin = begin
        self._empty = _Empty(origin)
        self._ledger: FilteredLedger | None = None
        for part in ("vectors", "attachments", "origins"):
            setattr(self, part, _Later(self.found, part))

    async def commit(self, unit: Unit) -> Committed:
        return await (await self.begun(unit.at)).commit(unit)

    async def reindex(self) -> None:
        await (await self.begun()).reindex()

    async def as_of(self, size: int) -> AsyncGenerator[Current, None]:
        async with aclosing((await self.found()).as_of(size)) as rows:
            async for row in rows:
                yield row

    async def stream(
        self, filter: MemoryFilter, after: Position | None = None
    ) -> AsyncGenerator[Current, None]:
        async with aclosing((await self.found()).stream(filter, after)) as rows:
            async for row in rows:
                yield row

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[LedgerSnapshot, None]:
        async with (await self.found()).snapshot() as snapshot:
            yield snapshot

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger or _Later(self.found), name)

    async def found(self) -> FilteredLedger:
        """The ledger, or what stands for it while there is none."""
        if self._ledger is None and (existing := await self._existing()) is not None:
            return self._become(existing)
        return self._ledger or cast("FilteredLedger", self._empty)

    async def begun(self, at: int | None = None) -> FilteredLedger:
        """The ledger, which is made if there is none: at this time, or now."""
        return self._ledger or self._become(await self._begin(at))

    def _become(self, ledger: FilteredLedger) -> FilteredLedger:
        vars(self).update({name: getattr(ledger, name) for name in _PORT})
        self._ledger = ledger
        return ledger

    @property
    def has_begun(self) -> bool:
        """Whether there is a ledger, as far as is known here."""
        return self._ledger is not None


class _Later:
    """Something whose methods are asked for before it can be waited for."""

    def __init__(self, found: Callable[[], Awaitable[Any]], part: str | None = None) -> None:
        self._found = found
        self._part = part

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        async def asked(*given: Any, **named: Any) -> Any:
            found = await self._found()
            found = found if self._part is None else getattr(found, self._part)
            return await getattr(found, name)(*given, **named)

        return asked


class _ScopeItems:
    """The items of a session."""

    def __init__(self, ledger: _ScopeLedger, opened: Callable[[], Awaitable[ItemStore]]) -> None:
        self._ledger = ledger
        self._opened = opened

    async def search(self, query: str, top_k: int) -> Sequence[RetrievedItem]:
        """The items whose keywords occur in a query, best first."""
        check_search(query, top_k)
        await self._ledger.found()
        return await (await self._opened()).search(query, top_k) if self._ledger.has_begun else []

    async def save(self, item: MemoryItem) -> None:
        await self._ledger.begun()
        await (await self._opened()).save(item)


# ---------------------------------------------------------------------------- nothing


async def _none(*_given: object, **_named: object) -> None:
    return None


async def _empty_list(*_given: object, **_named: object) -> list[Any]:
    return []


async def _empty_dict(*_given: object) -> dict[Any, Any]:
    return {}


async def _zero(*_given: object, **_named: object) -> int:
    return 0


async def _no_rows(*_given: object, **_named: object) -> AsyncGenerator[Any, None]:
    return
    yield


class _Empty:
    """A journal without entries, with no attachments and no vectors."""

    def __init__(self, origin: str) -> None:
        self._origin = origin
        self.vectors = self.attachments = self.origins = self

    async def head(self) -> Head:
        return Head(self._origin, 0, bytes.fromhex(genesis(self._origin)))

    async def index(self) -> Index:
        return Index(0, "")

    async def hashes(self, blocks: Collection[Block]) -> Blocks:
        return {block: [] for block in blocks}

    async def rank(self, *_given: object, **_named: object) -> Ranking[Any]:
        return Ranking([], [], hits=0, size=0)

    async def nearest(self, *_given: object, **_named: object) -> NearestFound:
        return NearestFound([], 0)

    async def contents(self, _model: str) -> Contents:
        return Contents(0, bytes(32).hex())

    async def is_index_whole(self, _session_ref: str) -> bool:
        return True

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[LedgerSnapshot, None]:
        yield cast("LedgerSnapshot", _EmptySnapshot(self))

    current = scrub = session = saved_by = recording = put_aside = salt = staticmethod(_none)
    versions = find = select = selected_ids = notes = entries_at = staticmethod(_empty_list)
    marked = marks = outputs = notices = missing = staticmethod(_empty_list)
    kept_sessions = of = items = stored = staticmethod(_empty_list)
    bytes_at = tag_counts = staticmethod(_empty_dict)
    active = count = count_missing = put = forget_others = staticmethod(_zero)
    as_of = stream = staticmethod(_no_rows)


class _EmptySnapshot:
    def __init__(self, empty: _Empty) -> None:
        self.head, self.index = empty.head, empty.index

    def __getattr__(self, _table: str) -> Callable[..., AsyncGenerator[Any, None]]:
        return _no_rows
