"""Records on a ledger: the default MemoryStore.

Create, update and delete become version 1, version n+1, and an invalidation with a reason, each
an entry of the journal. Nothing is deleted: what was deleted is no longer returned, and history
has it (GOV-FORGET).
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeVar

from memoranda.identity import decode
from memoranda.journeys.govern.about import NOTHING_SAID
from memoranda.journeys.govern.archive import consolidate
from memoranda.journeys.govern.drafts import Drafts, content_of
from memoranda.journeys.govern.find import FilteredReads, FoundRecords, row_of, still_fitting
from memoranda.journeys.govern.objects import earlier_writes
from memoranda.journeys.govern.rulebook import Rulebook, may_forget
from memoranda.journeys.govern.writes import Write, editing, forgetting
from memoranda.kernel.errors import RecordExists
from memoranda.kernel.given import RetryKey
from memoranda.ledger.attachments import AttachmentCounts
from memoranda.ledger.object import Cause
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import (
    ACTIVE,
    Committed,
    Current,
    Draft,
    Everything,
    Expected,
    OfSubject,
    Unit,
)
from memoranda.recall.index import WordIndex, fits
from memoranda.recall.vectors import Embedded
from memoranda.records.filter import GOVERNED_KEYS, MemoryFilter
from memoranda.records.table import Edit, Inserted, Note, Row, RowEdit

R = TypeVar("R")


class FilteredLedger(Ledger, WordIndex, Embedded, FilteredReads, Protocol):
    """A ledger whose active objects are found by the filters of records, by words and meaning."""


class UnitOutcome(NamedTuple):
    """What a unit wrote, or would have written if it were not a retry."""

    committed: Committed
    drafts: list[Draft]


class WriteOutcomes(NamedTuple):
    """What several writes came to: what each has made, one draft or none; nothing on a retry."""

    committed: Committed
    made: list[Draft | None]


_DELETED: Final[Cause] = "user_request"
"""Why a record is forgotten that was deleted through the store's own verbs."""

FEW: Final = 2
"""How many objects a unit reads or makes at most that is short."""

Decide = Callable[[Sequence[Current | None]], list[Draft]]


class GovernedTable(FoundRecords):
    """The records of one scope, each an object of its ledger."""

    filter_keys = GOVERNED_KEYS

    def __init__(
        self, ledger: FilteredLedger, drafts: Drafts, on_commit: Callable[[int], None] | None = None
    ) -> None:
        super().__init__(ledger)
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

    async def run(
        self,
        writes: Sequence[Write],
        note: Note,
        key: RetryKey | None = None,
        expects: Sequence[Expected] = (),
    ) -> WriteOutcomes:
        """Run writes in one transaction, each on what those before it left.

        Where there is nothing to read, nothing is read and nothing decided.
        """
        asked = [id for write in writes for id in write.reads]
        ids = list(dict.fromkeys(asked))
        is_in_turn = len(ids) < len(writes)  # then one may find what another one left
        made: list[list[Draft]] = []

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            newest = dict(zip(ids, found, strict=True))
            made.clear()  # it may run a second time
            for write in writes:
                made.append(write.drafts([newest[id] for id in write.reads], note))
                if is_in_turn:
                    for draft in made[-1]:
                        newest[write.id] = _after(draft)
            return [draft for drafts in made for draft in drafts]

        about = "" if key is None else _about(writes)
        if ids or expects:
            committed, drafts = await self.change(ids, note, decide, key, about, expects)
        else:
            for write in writes:
                why = write.reason
                made.append(write.decide((), note if why is None else note._replace(reason=why)))
            fresh = [draft for some in made for draft in some]
            committed, drafts = await self.land(fresh, note, key, about)
        if not committed.fresh:
            return WriteOutcomes(committed, [])
        landed = iter(drafts)  # which an approval may have made anew
        return WriteOutcomes(committed, [next(landed) if some else None for some in made])

    async def land(
        self, drafts: list[Draft], note: Note, key: RetryKey | None = None, about: str = ""
    ) -> UnitOutcome:
        """Append drafts that follow from nothing that was read."""
        is_short = len(drafts) <= FEW
        unit = Unit(note.actor, note.at, lambda _: drafts, (), key, about, is_short=is_short)
        return UnitOutcome(await self.commit(unit), drafts)

    async def change(
        self,
        ids: Sequence[str] | Everything,
        note: Note,
        decide: Decide,
        key: RetryKey | None = None,
        about: str = "",
        expects: Sequence[Expected] = (),
    ) -> UnitOutcome:
        """Run a unit of work on the newest versions of some objects."""
        drafts: list[Draft] = []

        def decided(found: Sequence[Current | None]) -> list[Draft]:
            drafts[:] = decide(found)  # it may run a second time
            return drafts

        is_short = not isinstance(ids, Everything) and len(ids) <= FEW
        unit = Unit(
            note.actor, note.at, decided, ids, key, about, expects=expects, is_short=is_short
        )
        return UnitOutcome(await self.commit(unit), drafts)

    def needs_approval(self, drafts: Sequence[Draft]) -> bool:
        """Whether somebody has to approve a change before it is made."""
        del drafts
        return False

    async def commit(self, unit: Unit) -> Committed:
        """Run any unit on the ledger; whoever watches learns of new entries."""
        if self.opening is not None:
            await self.opened()
        if self.before_first is not None:
            if not await self._writes(unit):
                return Committed([], unit.about, erased_attachments=AttachmentCounts())
            if not unit.is_dry:
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
        return bool(drafts or unit.attachments or unit.key)

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
        self, rows: Sequence[Row], note: Note, key: RetryKey | None = None
    ) -> Inserted:
        """Store new objects; RecordExists if an id is in use."""
        created = self._drafts.created
        ids = [row.id for row in rows if not row.is_minted]

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            newest = dict(zip(ids, found, strict=True))
            drafts = []
            for row in rows:
                current = newest.get(row.id)
                if current is not None and current.status == "active":
                    raise RecordExists(row.id)
                drafts.append(created(row, note, replaced=current))
            return drafts

        if len(ids) > 1 and len(set(ids)) < len(ids):
            raise RecordExists(next(id for place, id in enumerate(ids) if id in ids[:place]))
        if ids:
            committed, _ = await self.change(ids, note, decide, key, rows[0].id)
        else:
            committed, _ = await self.land(decide(()), note, key, rows[0].id)
        if committed.fresh:
            return Inserted([row.id for row in rows])
        earlier = await earlier_writes(self.ledger, committed)
        return Inserted([item.id for item in earlier], fresh=False)

    async def edit(
        self, edits: Sequence[Edit], note: Note, key: RetryKey | None = None
    ) -> Iterable[RowEdit]:
        """Make the next versions of objects, in the order given."""
        writes = [editing(self._drafts, edit, NOTHING_SAID) for edit in edits]
        ran = await self.run(writes, note, key)
        return (
            RowEdit(row_of(draft.replaces), content_of(decode(draft.body)))
            for draft in ran.made
            if draft is not None and draft.replaces is not None
        )

    async def remove(
        self,
        ids: Sequence[str],
        note: Note,
        *,
        expected_version: int | None = None,
        key: RetryKey | None = None,
    ) -> Iterable[Row]:
        """Invalidate objects and return what they were; unknown ids are passed over.

        VersionConflict where somebody else changed or deleted it since the expected version.
        """
        writes = [forgetting(self._drafts, id, _DELETED, expected_version) for id in ids]
        ran = await self.rulebook.obeyed(
            partial(may_forget, note.actor, [_DELETED]), partial(self.run, writes, note, key)
        )
        return (row_of(draft.replaces) for draft in ran.made if draft and draft.replaces)

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
                removed.extend(map(row_of, present))
            return [self._drafts.invalidated(version, note, _DELETED) for version in present]

        await self.change(ACTIVE, note, decide)

    async def consolidate(self, note: Note) -> list[Row]:
        """Archive exact duplicates, and return what they were (`archive.consolidate`)."""
        removed: list[Row] = []

        async def tell(drafts: Sequence[Draft]) -> None:
            removed.extend(row_of(draft.replaces) for draft in drafts if draft.replaces)

        await consolidate(self, self._drafts, note, tell)
        return removed

    async def get(self, id: str, make: Callable[[Row], R]) -> R | None:
        """The record under this id, made into a value where it was read."""
        if self.opening is not None:
            await self.opened()
        return await self.ledger.current(id, lambda current: make(row_of(current)))

    async def forget_where(self, filter: MemoryFilter, note: Note) -> list[Row]:
        """Invalidate what the filter asks for, in one transaction, and return what it was."""
        await self.rulebook.check_forgetting(note.actor, _DELETED)
        ids = await self.ledger.selected_ids(filter)
        removed: list[Row] = []

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            fit = still_fitting(found, lambda one: fits(filter.unpaged, one))
            removed[:] = map(row_of, fit)
            return [self._drafts.invalidated(current, note, _DELETED) for current in fit]

        if not ids:
            return []
        written = await self.change(ids, note, decide)
        return removed if written.committed.fresh else []


def _about(writes: Sequence[Write]) -> str:
    """What a retry of writes is about: what surely leaves an entry, or nothing in particular."""
    lasting = [write.id for write in writes if not write.forgets]
    return lasting[0] if lasting else writes[0].id if len(writes) == 1 else ""


def _after(draft: Draft) -> Current | None:
    return None if draft.version is None else Current(*draft.version, draft.body)
