"""Records on a ledger: the default MemoryStore.

Create, update and delete become version 1, version n+1, and an invalidation with a reason, each
an entry of the journal. Nothing is deleted: what was deleted is no longer returned, and history
has it (GOV-FORGET).
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final, NamedTuple, Protocol, TypeVar

from memoranda.identity import decode
from memoranda.journeys.govern.drafts import Drafts, content_of
from memoranda.journeys.govern.facts import INHERITED, NO_FACTS, Facts, Following
from memoranda.journeys.govern.rulebook import Rulebook
from memoranda.kernel.errors import EntryDamaged, RecordExists, RecordNotFound
from memoranda.kernel.retry import RetryKey
from memoranda.ledger.beside import BesideCounts
from memoranda.ledger.object import Cause
from memoranda.ledger.unit import (
    ACTIVE,
    Committed,
    Current,
    Draft,
    Everything,
    Ledger,
    OfSubject,
    Unit,
)
from memoranda.recall.index import WordIndex
from memoranda.recall.vectors import Embedded
from memoranda.records.filter import GOVERNED_KEYS, MemoryFilter
from memoranda.records.table import Change, Edit, Inserted, NewRow, Note, Row, check_version

R = TypeVar("R")


class FilteredLedger(Ledger, WordIndex, Embedded, Protocol):
    """A ledger whose active objects are found by the filters of records, by words and meaning."""

    async def select(
        self,
        filter: MemoryFilter,
        make: Callable[[Current], R],
        damaged: list[EntryDamaged] | None = None,
    ) -> list[R]:
        """What the filter asks for, each made into a value where it was read.

        What is damaged is raised, or left out and put into the list.
        """
        ...

    def stream(self, filter: MemoryFilter) -> AsyncGenerator[Current, None]:
        """The same, as it is when the stream starts, a few at a time."""
        ...


class Written(NamedTuple):
    """What a unit wrote, or would have written if it were not a retry."""

    committed: Committed
    drafts: list[Draft]


_DELETED: Final[Cause] = "user_request"
"""Why a record is forgotten that was deleted through the store's own verbs."""

Decide = Callable[[Sequence[Current | None]], list[Draft]]


class GovernedTable:
    """The records of one scope, each an object of its ledger."""

    filter_keys = GOVERNED_KEYS

    def __init__(
        self, ledger: FilteredLedger, drafts: Drafts, on_commit: Callable[[int], None] | None = None
    ) -> None:
        self.ledger = ledger
        self.rulebook = Rulebook(drafts.scope, ledger)
        self._drafts = drafts
        self._on_commit = on_commit
        self.before_first: Callable[[int], Awaitable[None]] | None = None
        """What is written before the first unit of this handle, at its time: entries are in the
        order of time, so a later one would move the unit itself. Set once it is there."""
        self._beginning = asyncio.Lock()
        self._beginner: asyncio.Task[object] | None = None

    # ------------------------------------------------------------------ units of work

    async def create(
        self,
        rows: Sequence[NewRow],
        note: Note,
        key: RetryKey | None = None,
        facts: Facts = NO_FACTS,
    ) -> Written:
        """Store new objects; RecordExists if an id is in use."""
        fresh = [self._drafts.created(row, note, facts) for row in rows]
        given = [row.id for row in rows if not row.is_minted]
        if not given:
            return await self.add(fresh, note, key, rows[0].id)

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            known = dict(zip(given, found, strict=True))
            drafts, seen = [], set[str]()
            for row, draft in zip(rows, fresh, strict=True):
                current = known.get(row.id)
                if row.id in seen or (current is not None and current.status == "active"):
                    raise RecordExists(row.id)
                seen.add(row.id)
                again = current and self._drafts.created(row, note, facts, current)
                drafts.append(again or draft)
            return drafts

        return await self.change(given, note, decide, key, rows[0].id, creates=True)

    async def add(
        self, fresh: list[Draft], note: Note, key: RetryKey | None, about: str
    ) -> Written:
        """Store new objects for which there is nothing to read and nothing to decide."""
        unit = Unit(note.actor, note.at, lambda _: fresh, (), key, about)
        return Written(await self.commit(unit), fresh)

    async def change(
        self,
        ids: Sequence[str] | Everything,
        note: Note,
        decide: Decide,
        key: RetryKey | None = None,
        about: str = "",
        *,
        creates: bool = False,
    ) -> Written:
        """Run a unit of work on the newest versions of some objects.

        `creates` says that all it makes is new, also where it follows a version that was deleted.
        """
        del creates  # for whoever asks before a change is made (`gate`)
        drafts: list[Draft] = []

        def decided(found: Sequence[Current | None]) -> list[Draft]:
            drafts[:] = decide(found)  # it may run a second time
            return drafts

        unit = Unit(note.actor, note.at, decided, ids, key, about)
        return Written(await self.commit(unit), drafts)

    async def commit(self, unit: Unit) -> Committed:
        """Run any unit on the ledger; whoever watches is told of new entries."""
        if not await self._writes(unit):
            return Committed([], unit.about, erased_beside=BesideCounts())
        await self.begin(unit.at)
        committed = await self.ledger.commit(unit)
        if self._on_commit is not None and committed.fresh and committed.places:
            self._on_commit(len(committed.places))
        return committed

    async def _writes(self, unit: Unit) -> bool:
        """Whether a unit writes anything, where the journal has not begun and would with it.

        What the unit refuses, it refuses here: whoever mistyped a scope leaves none behind.
        """
        if self.before_first is None or self._beginner is asyncio.current_task():
            return True
        if (await self.ledger.head()).size:
            return True
        if isinstance(unit.reads, Everything):
            return unit.key is not None  # there is nothing else
        is_named = not isinstance(unit.reads, OfSubject)
        drafts = unit.decide([None] * len(unit.reads) if is_named else [])
        return bool(drafts or unit.beside or unit.key)

    async def begin(self, at: int) -> None:
        """Write what comes before the first unit; units that come meanwhile wait for it."""
        if self.before_first is None or self._beginner is asyncio.current_task():
            return
        async with self._beginning:
            if self.before_first is None:
                return
            self._beginner = asyncio.current_task()
            try:
                await self.before_first(at)
                self.before_first = None
            finally:
                self._beginner = None

    # ------------------------------------------------------------- the port of records

    async def insert(
        self, rows: Sequence[NewRow], note: Note, key: RetryKey | None = None
    ) -> Inserted:
        """Store new objects; RecordExists if an id is in use."""
        committed, _ = await self.create(rows, note, key)
        if not committed.fresh:
            return Inserted([committed.about], fresh=False)
        return Inserted([row.id for row in rows])

    async def edit(
        self, edits: Sequence[Edit], note: Note, key: RetryKey | None = None
    ) -> list[Change]:
        """Make the next versions of objects, in the order given."""
        changes: list[Change] = []
        written = await self.edited(edits, note, key, changes)
        return changes if written.committed.fresh else []

    async def edited(
        self,
        edits: Sequence[Edit],
        note: Note,
        key: RetryKey | None = None,
        changes: list[Change] | None = None,
        said: Following = INHERITED,
    ) -> Written:
        """The same, with what was written; what was there before goes into `changes`."""
        ids = list(dict.fromkeys(edit.id for edit in edits))
        before_and_after = [] if changes is None else changes

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            before_and_after.clear()
            newest = dict(zip(ids, found, strict=True))
            drafts = []
            for edit in edits:
                current = active(edit.id, newest[edit.id])
                check_version(edit.id, current.number, edit.expected_version)
                before = _row(current)
                content = edit.apply(before.content)
                draft = self._drafts.edited(current, content, note, said)
                newest[edit.id] = _after(draft)
                drafts.append(draft)
                before_and_after.append(Change(before, content))
            return drafts

        return await self.change(ids, note, decide, key, ids[0])

    async def remove(
        self,
        ids: Sequence[str],
        note: Note,
        *,
        expected_version: int | None = None,
        key: RetryKey | None = None,
    ) -> list[Row]:
        """Invalidate objects and return what they were; unknown ids are passed over.

        VersionConflict where somebody else changed or deleted it since the expected version.
        """
        await self.rulebook.check_forgetting(note.actor, _DELETED)
        removed: list[Row] = []

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            removed.clear()
            drafts = []
            for current in found:
                if current is None:
                    continue
                # Of what is deleted already, too: whoever expected a version has not seen that.
                check_version(current.id, current.number, expected_version)
                if current.status == "active":
                    drafts.append(self._drafts.invalidated(current, note, _DELETED))
                    removed.append(_row(current))
            return drafts

        written = await self.change(ids, note, decide, key, ids[0])
        return removed if written.committed.fresh else []

    async def clear(self, note: Note, removed: list[Row] | None = None) -> None:
        """Invalidate every active object; what they were goes into `removed`, if it is given."""
        await self.rulebook.check_forgetting(note.actor, _DELETED)
        last = ""

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            nonlocal last
            present = [current for current in found if current is not None]
            if removed is not None and present:
                if present[0].id <= last:  # portions come by id: the unit runs a second time
                    removed.clear()
                last = present[-1].id
                removed.extend(map(_row, present))
            return [self._drafts.invalidated(one, note, _DELETED) for one in present]

        await self.change(ACTIVE, note, decide)

    async def get(self, id: str, make: Callable[[Row], R]) -> R | None:
        """The record under this id, made into a value where it was read."""
        return await self.ledger.current(id, lambda current: make(_row(current)))

    async def select(self, filter: MemoryFilter, make: Callable[[Row], R]) -> list[R]:
        """What the filter asks for, each row made into a value where it was read."""
        return await self.ledger.select(filter, lambda current: make(_row(current)))

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[Row, None]:
        """The same rows, as they are when the stream starts, a few at a time."""
        async with aclosing(self.ledger.stream(filter)) as found:
            async for current in found:
                yield _row(current)


def active(id: str, current: Current | None) -> Current:
    """The object, if it is there and active; else RecordNotFound."""
    if current is None or current.status != "active":
        raise RecordNotFound(id)
    return current


def _row(current: Current) -> Row:
    return Row(
        current.id,
        current.number,
        current.created_at,
        current.updated_at,
        content_of(decode(current.body)),
    )


def _after(draft: Draft) -> Current | None:
    """What a draft leaves, for the next edit of the same batch."""
    return None if draft.version is None else Current(*draft.version, draft.body)
