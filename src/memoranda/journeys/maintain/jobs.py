"""The jobs of maintenance: what each does to one scope, and what it would do (dry runs).

Every job may be run again at any time, also after half of it: it looks at what is there now, and a
scope that needs nothing is left as it is. Each of its steps is short, and it gives way after each.

=============  ===================================================================================
job            what it does
=============  ===================================================================================
expiry         archives what has expired; it was not returned any more since
consolidate    archives exact duplicates
retention      archives what has an ephemeral tag, is past its age, or is beyond the number
index          brings the word index forward and merges it; makes one anew that is stale or broken
embed          gives everything a vector that has none, where this process has an embedder
checkpoint     makes and signs the checkpoint that is due
snapshots      stores whole snapshots in fewer bytes; they are restored as before
scrub          sees that what was erased is in no byte, where an erasure could not finish
own_store      the same retention, and `consolidate()`, on a store that the app was given
=============  ===================================================================================
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from memoranda.journeys.govern.archive import Archived, Decided, archive, consolidate, duplicates
from memoranda.journeys.govern.conformance import Conformance
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.objects import Telling
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.maintain.upkeep import embed_missing, reindex
from memoranda.journeys.records.store import Records
from memoranda.kernel.clock import Clock, format_time
from memoranda.kernel.errors import CapabilityMissing, EmbedderMissing
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.ledger.unit import Current
from memoranda.recall.embedder import Embedder, stored_as
from memoranda.recall.index import fits
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRetentionPolicy, StoredMemoryRecord, expiries
from memoranda.records.store import Capability, MemoryStore
from memoranda.records.table import Note

ACTOR: Final = "policy:maintenance"
"""Who acts: a rule that somebody has put into force, and nobody."""

TAIL: Final = 64
"""So few entries beyond the end of the word index are left to whoever searches."""
PAGE: Final = 500
"""So many records of a store of one's own are read at once."""

Counts = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Work:
    """What a job works on: one scope, its policy, and what this process has."""

    table: GovernedTable
    drafts: Drafts
    conformance: Conformance
    clock: Clock
    telling: Telling[Any]
    retention: MemoryRetentionPolicy
    checkpoint: Callable[[bool], Awaitable[int]]
    """Makes the checkpoint that is due; how many would be made, on a dry run."""
    embedder: Embedder | None
    own_records: Records[Any] | None
    """The records of a store that the app was given, if it was given one."""
    state: Mapping[str, JsonValue]
    """What the last run of the job left for this one."""
    is_dry: bool

    @property
    def note(self) -> Note:
        """Who acts, and when; each object has a reason of its own."""
        return Note(ACTOR, self.clock.now_ms(), None)


class Done(NamedTuple):
    """What a job came to: what it did or would do, by name, and what the next run is to know."""

    counts: Counts
    state: Mapping[str, JsonValue] = {}
    says: Mapping[str, JsonValue] = {}
    """What else the entry of the run says."""


# ------------------------------------------------------------------------------- retention


async def retain(work: Work) -> Done:
    """Archive what the retention policy lets go, by the first cause that applies (MEM-MAINT-2).

    The causes are those of `records.model.expiries`, found by the database's own indexes.
    """
    policy, now, ledger = work.retention, work.clock.now_ms(), work.table.ledger
    gone: dict[str, tuple[str, MemoryFilter]] = {}
    counts = {"ephemeral": 0, "past_max_age": 0, "beyond_max_records": 0}
    for tag in policy.ephemeral_tags:
        tagged = MemoryFilter(tags=(tag,))
        for id in await ledger.selected_ids(tagged):
            gone.setdefault(id, (f"retention: tagged {tag}", tagged))
    counts["ephemeral"] = len(gone)
    if policy.max_age is not None:
        old = MemoryFilter(updated_before=now - policy.max_age - 1)
        for id in await ledger.selected_ids(old):
            why = f"retention: last updated more than {policy.max_age} ms ago"
            gone.setdefault(id, (why, old))
        counts["past_max_age"] = len(gone) - counts["ephemeral"]
    if policy.max_records is not None:
        beyond = await ledger.count(MemoryFilter()) - len(gone) - policy.max_records
        if beyond > 0:
            oldest = MemoryFilter(order="asc", limit=beyond + len(gone))
            why = f"retention: more than {policy.max_records} records"
            left = [id for id in await ledger.selected_ids(oldest) if id not in gone]
            gone.update({id: (why, MemoryFilter()) for id in left[:beyond]})
            counts["beyond_max_records"] = min(beyond, len(left))
    if work.is_dry:
        return Done(counts)

    def decided(there: Mapping[str, Current], id: str) -> str | None:
        reason, asked = gone[id]
        return reason if fits(asked, there[id]) else None

    return await _archived(work, list(gone), decided, counts)


async def expire(work: Work) -> Done:
    """Archive what has expired by now."""
    now = work.clock.now_ms()
    ids = await work.table.ledger.expired(now, MAX_INTEGER)

    def decided(there: Mapping[str, Current], id: str) -> str | None:
        at = there[id].expires_at
        return f"expired at {format_time(at)}" if at is not None and at <= now else None

    counts = {"expired": len(ids)}
    return Done(counts) if work.is_dry else await _archived(work, ids, decided, counts)


async def fold_duplicates(work: Work) -> Done:
    """Archive exact duplicates; no statement is made (MEM-MAINT-3)."""
    if work.is_dry:
        return Done({"duplicates": len(await duplicates(work.table))})
    found = await consolidate(work.table, work.drafts, work.note, work.telling.tell)
    return await _told(work, found, {"duplicates": found.archived})


async def _archived(work: Work, ids: list[str], decided: Decided, counts: Counts) -> Done:
    found = await archive(work.table, work.drafts, work.note, ids, decided, work.telling.tell)
    return await _told(work, found, counts)


async def _told(work: Work, found: Archived, counts: Counts) -> Done:
    """What was archived; damage that was met is logged as such, and named (GOV-BREAK)."""
    if not found.damaged:
        return Done(counts)
    await work.conformance.note_all(found.damaged)
    return Done({**counts, "damaged": len(found.damaged)})


# ---------------------------------------------------------------------- what is derived


async def tidy_index(work: Work) -> Done:
    """Bring the word index forward, or make it anew where it is stale or broken."""
    ledger = work.table.ledger
    async with ledger.snapshot() as snapshot:
        index, head = await snapshot.index(), await snapshot.head()
    if head.size and (index.is_stale or index.broken is not None):
        if not work.is_dry:
            await reindex(work.table, work.drafts, ACTOR, work.clock.now_ms())
        return Done({"rebuilt": 1})
    tail = head.size - index.indexed
    if tail < TAIL:
        return Done({"merged": 0})
    if not work.is_dry:
        await ledger.tidy()
    return Done({"merged": tail})


async def embed(work: Work) -> Done:
    """Give everything a vector that has none, and say in the run's own entry what was made."""
    if work.embedder is None:
        raise EmbedderMissing
    vectors = work.table.ledger.vectors
    if work.is_dry:
        return Done({"embedded": await vectors.count_missing(stored_as(work.embedder))})
    made = await embed_missing(
        work.table, work.drafts, work.clock, vectors, work.embedder, actor=ACTOR, is_logged=False
    )
    says = {"model": made.model, "vectors": made.vectors, "digest": made.digest}
    return Done({"embedded": made.embedded}, says=says)


async def checkpoint(work: Work) -> Done:
    """Make the checkpoint that is due; it is journaled in the directory, as all of them are."""
    return Done({"checkpoints": await work.checkpoint(work.is_dry)})


async def compact_snapshots(work: Work) -> Done:
    """Store whole snapshots in fewer bytes, from where the last run came to."""
    after, bodies, saved = work.state.get("upto", -1), 0, 0
    while True:
        found = await work.table.ledger.compact(after, dry_run=work.is_dry)
        after, bodies, saved = found.upto, bodies + found.bodies, saved + found.saved
        if found.is_all:
            return Done({"bodies": bodies, "bytes_saved": saved}, {"upto": after})
        await asyncio.sleep(0)


async def scrub(work: Work) -> Done:
    """See that what was erased is in no byte; StoreUnavailable while others still read it."""
    if not work.is_dry:
        await work.table.ledger.scrub()
    return Done({"scrubbed": 1})


async def tend_own_store(work: Work) -> Done:
    """Delete what the retention policy lets go in a store of one's own, and fold it (MEM-MAINT-1).

    The policy is the approval: nobody is asked again. The hooks of the app hear of each.
    """
    records = work.own_records
    if records is None:
        raise CapabilityMissing("a store of its own (store=)")
    found = await _all_of(records.given)
    gone = expiries(work.retention, found, now=work.clock.now_ms())
    if work.is_dry:
        return Done({"deleted": len(gone)})
    for expiry in gone:
        await records.delete(expiry.id)
    if Capability.CONSOLIDATE not in records.capabilities:
        return Done({"deleted": len(gone)})
    await records.consolidate()
    left = len(found) - len(gone)
    return Done({"deleted": len(gone), "folded": left - len(await _all_of(records.given))})


async def _all_of(store: MemoryStore[Any]) -> list[StoredMemoryRecord[Any]]:
    found: list[StoredMemoryRecord[Any]] = []
    while page := await store.query(MemoryFilter(order="asc", limit=PAGE, offset=len(found))):
        found += page
    return found


# -------------------------------------------------------------------------------- the list


@dataclass(frozen=True, slots=True)
class Job:
    """One job: what it does, what it needs, and whether a run that did something is journaled."""

    name: str
    perform: Callable[[Work], Awaitable[Done]]
    needs: str = ""
    """What a process must have for it: ``embedder``, or ``own_records``."""
    is_logged: bool = True


JOBS: Final[Mapping[str, Job]] = {
    job.name: job
    for job in (
        Job("expiry", expire),
        Job("consolidate", fold_duplicates),
        Job("retention", retain),
        Job("index", tidy_index),
        Job("embed", embed, needs="embedder"),
        Job("checkpoint", checkpoint, is_logged=False),
        Job("snapshots", compact_snapshots),
        Job("scrub", scrub),
        Job("own_store", tend_own_store, needs="own_records"),
    )
}
"""Every job, in the order in which they are run together."""
