"""The blocking twin of the handle, for scripts, notebooks and threads.

Every call waits on the process's one loop thread (`portal`) for the async one of the same name.
`make twin` writes this file from the async source: change that, not this.
"""

from collections.abc import (
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Generic, Literal, Self, overload

from typing_extensions import TypeVar, Unpack

from memoranda.app.database import DEFAULT_ACTOR, Database
from memoranda.app.groups import (
    ActOptions,
    ConsolidationOptions,
    Govern,
    Inbox,
    Maintain,
    TurnsOf,
    Worlds,
)
from memoranda.app.journal import ExportKind, IdOf, Journal, JournalEntry, JournalHead
from memoranda.app.memory import ListOptions, Memory, RecallOptions
from memoranda.app.options import App
from memoranda.app.portal import PORTAL
from memoranda.journeys.audit.verify import EntryProof, Progress, nobody
from memoranda.journeys.audit.whole import Audit
from memoranda.journeys.audit.why import Why
from memoranda.journeys.govern.about import About, Memo
from memoranda.journeys.govern.batch import Batch
from memoranda.journeys.govern.certificate import ErasureCertificate
from memoranda.journeys.govern.conformance import Status
from memoranda.journeys.govern.imports import ImportReport
from memoranda.journeys.govern.objects import Event, Receipt, Remembered
from memoranda.journeys.govern.read import Include, Order
from memoranda.journeys.govern.times import At, Moment
from memoranda.journeys.intent.branches import BranchHead
from memoranda.journeys.intent.decisions import Answer, Waiting
from memoranda.journeys.intent.replays import Replay
from memoranda.journeys.intent.requests import (
    ABSENT,
    Run,
    Submitted,
    Trace,
    Used,
)
from memoranda.journeys.maintain.indexes import Brought, Reindexed
from memoranda.journeys.recall.originals import Original
from memoranda.journeys.recall.reasoning import Reasoning
from memoranda.journeys.recall.recalled import Item, Recalled
from memoranda.journeys.records.contents import (
    UNCHANGED,
    Unchanged,
)
from memoranda.journeys.records.store import Records
from memoranda.journeys.turn.replays import CycleReplay
from memoranda.journeys.turn.sessions import AnySummariser, Plan
from memoranda.journeys.turn.turns import Turn, Turns
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Rows
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.object import Cause, VerdictType
from memoranda.ledger.policy import OnConflict, Policy
from memoranda.ledger.signed_note import Signer
from memoranda.ledger.validate_events import Log
from memoranda.plans.models import Model
from memoranda.plans.plan import StepType
from memoranda.plans.policy import Interpreted
from memoranda.plans.session import DEFAULT_SESSION, Session
from memoranda.plans.steps.prompt import Listener
from memoranda.recall.selector import Selector
from memoranda.recall.selectors import USUAL
from memoranda.recall.trace import MemoryRef
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord
from memoranda.records.pages import Page
from memoranda.records.store import Capabilities, MemoryStore, MemoryUpdate
from memoranda.worlds.intent import Projection, ProjectionEvent
from memoranda.worlds.snapshot import Snapshot
from memoranda.worlds.world import MAIN

T = TypeVar("T", default=Any)
M = TypeVar("M")


class BlockingRecords(Generic[T]):
    """Memory records of one scope; made by `memoranda.open(...)`, as its `.records`."""

    def __init__(self, twin: Records[T]) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    @property
    def capabilities(self) -> Capabilities:
        """Everything of the contract but consolidate, which needs governed memory."""
        return self._twin.capabilities

    @property
    def given(self) -> MemoryStore[T]:
        """The store that the app was given, as it is; without one, these records (MEM-INT-2).

        It knows nothing of the hooks and the policy of this handle.
        """
        return self._twin.given

    def close(self) -> None:
        """Refuse everything from now on with StoreClosed."""
        return self._twin.close()

    def create(
        self,
        record: MemoryRecordInput[T],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> str:
        """Store a new record and return its id; RecordExists if the id is in use (MEM-CRUD-4).

        With the id of a deleted record it is that record's next version. A retry with the same
        idempotency key returns the first id and writes nothing.
        """
        return PORTAL.call(
            self._twin.create(record, idempotency_key=idempotency_key, reason=reason)
        )

    def get(self, id: str) -> StoredMemoryRecord[T] | None:
        """The record under this id, or None (MEM-CRUD-2)."""
        return PORTAL.call(self._twin.get(id))

    def version(self, id: str) -> int | None:
        """The version of the record under this id, counted from 1, or None."""
        return PORTAL.call(self._twin.version(id))

    def update(
        self,
        id: str,
        patch: Any,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Merge a patch into a record's data (MEM-PATCH-1).

        RecordNotFound if there is none (MEM-CRUD-3). Tags and meta stay: see `annotate`.
        """
        return PORTAL.call(
            self._twin.update(
                id,
                patch,
                expected_version=expected_version,
                idempotency_key=idempotency_key,
                reason=reason,
            )
        )

    def annotate(
        self,
        id: str,
        *,
        tags: Sequence[str] | Unchanged | None = UNCHANGED,
        meta: dict[str, Any] | Unchanged | None = UNCHANGED,
        expected_version: int | None = None,
        reason: str | None = None,
    ) -> None:
        """Replace a record's tags, its meta, or both; what is not named stays; None removes it."""
        return PORTAL.call(
            self._twin.annotate(
                id, tags=tags, meta=meta, expected_version=expected_version, reason=reason
            )
        )

    def delete(
        self,
        id: str,
        *,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Let get and query no longer return this record; an unknown id is no error."""
        return PORTAL.call(
            self._twin.delete(
                id,
                expected_version=expected_version,
                idempotency_key=idempotency_key,
                reason=reason,
            )
        )

    def create_many(
        self,
        records: Sequence[MemoryRecordInput[T]],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> list[str]:
        """Store all of the records, or none; their ids in the same order."""
        return PORTAL.call(
            self._twin.create_many(records, idempotency_key=idempotency_key, reason=reason)
        )

    def update_many(
        self,
        updates: Sequence[MemoryUpdate],
        *,
        idempotency_key: str | None = None,
        reason: str | None = None,
    ) -> None:
        """Make all of the updates in their order, or none."""
        return PORTAL.call(
            self._twin.update_many(updates, idempotency_key=idempotency_key, reason=reason)
        )

    def delete_many(
        self, ids: Sequence[str], *, idempotency_key: str | None = None, reason: str | None = None
    ) -> None:
        """Delete all of these records, or none; unknown ids are no error."""
        return PORTAL.call(
            self._twin.delete_many(ids, idempotency_key=idempotency_key, reason=reason)
        )

    def clear(self) -> None:
        """Delete every record of this scope."""
        return PORTAL.call(self._twin.clear())

    def forget_where(self, filter: MemoryFilter, *, reason: str) -> int:
        """Delete what `query` would return, in one transaction; how many they were.

        What fits only later, and what no longer fits when it is its turn, stays.
        """
        return PORTAL.call(self._twin.forget_where(filter, reason=reason))

    def query(self, filter: MemoryFilter) -> list[StoredMemoryRecord[T]]:
        """The records that the filter asks for, as `records.filter.select` defines it."""
        return PORTAL.call(self._twin.query(filter))

    def page(
        self, filter: MemoryFilter, *, cursor: str | None = None
    ) -> Page[StoredMemoryRecord[T]]:
        """What `query` would return, and in `next` the cursor of what follows.

        With that cursor and the same filter the next page begins, whatever was written meanwhile:
        what is there all the time comes exactly once. The offset counts from the cursor.
        """
        return PORTAL.call(self._twin.page(filter, cursor=cursor))

    def ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what `query` would return, in the same order; hooks are not called."""
        return PORTAL.call(self._twin.ids(filter))

    def count(self, filter: MemoryFilter) -> int:
        """How many records `query` would return."""
        return PORTAL.call(self._twin.count(filter))

    def tags(self, prefix: str = "") -> dict[str, int]:
        """The tags that begin so, by code point, each with how many records have it."""
        return PORTAL.call(self._twin.tags(prefix))

    def stream(self, filter: MemoryFilter) -> Iterator[StoredMemoryRecord[T]]:
        """What `query` would return when the stream starts, a few records at a time.

        Hooks are not called. Close it with `aclose` when you leave it early.
        """
        return PORTAL.iterate(self._twin.stream(filter))


class BlockingBatch(Generic[T]):
    """Collects writes; they land together when its block ends, or none of them does."""

    def __init__(self, twin: Batch[T]) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    def __enter__(self) -> Self:
        PORTAL.call(self._twin.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        PORTAL.call(self._twin.__aexit__(kind, error, traceback))

    @property
    def receipts(self) -> Sequence[Receipt | None]:
        """One for each write, in order; None for a forget that found nothing."""
        return self._twin.receipts

    def remember(
        self,
        data: T | bytes,
        *,
        id: str | None = None,
        reason: str | None = None,
        **about: Unpack[About],
    ) -> str:
        """Remember something new; its id, for what follows in the batch.

        On a retry of the batch another id was written: the receipts have it.
        """
        return self._twin.remember(data, id=id, reason=reason, **about)

    def put(
        self,
        id: str,
        data: T | bytes,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        **about: Unpack[About],
    ) -> None:
        """Create something under an id, or replace it whole."""
        return self._twin.put(id, data, expected_version=expected_version, reason=reason, **about)

    def update(
        self,
        id: str,
        patch: Any,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        **about: Unpack[About],
    ) -> None:
        """Make the next version of something."""
        return self._twin.update(
            id, patch, expected_version=expected_version, reason=reason, **about
        )

    def forget(
        self,
        id: str,
        *,
        reason: str | None = None,
        cause: Cause = "user_request",
        expected_version: int | None = None,
    ) -> None:
        """Forget something, if it is there."""
        return self._twin.forget(id, reason=reason, cause=cause, expected_version=expected_version)


class BlockingInbox:
    """What waits for a decision, and the answers to it."""

    def __init__(self, twin: Inbox) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    def list(self) -> Rows[Waiting]:
        """What waits for a decision, the oldest first."""
        return PORTAL.call(self._twin.list())

    def approve(self, proposal_id: str, *, reason: str) -> Answer:
        """Approve a proposal that waits; DecisionRefused to whoever may not."""
        return PORTAL.call(self._twin.approve(proposal_id, reason=reason))

    def reject(self, proposal_id: str, *, reason: str) -> Answer:
        """Reject a proposal that waits."""
        return PORTAL.call(self._twin.reject(proposal_id, reason=reason))

    def abstain(self, proposal_id: str, *, reason: str) -> Answer:
        """Neither approve nor reject a proposal that a tribunal decides."""
        return PORTAL.call(self._twin.abstain(proposal_id, reason=reason))


class BlockingWorlds:
    """Proposals, runs, snapshots, branches and replay."""

    def __init__(self, twin: Worlds) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    def propose(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        memory: Used | None = None,
        reason: Trace | None = None,
        **options: Unpack[ActOptions],
    ) -> Submitted:
        """Propose an action on the head of a branch; the authority decides at once, or later.

        `memory` and `reason` are as in `act`. InvalidIntent for what the domain does not know.
        """
        return PORTAL.call(
            self._twin.propose(action, input, memory=memory, reason=reason, **options)
        )

    def project(
        self, projection: Projection, event: ProjectionEvent, *, branch: str = MAIN
    ) -> Submitted | None:
        """Let a projection make an intent of an event, and propose it; None if it makes none."""
        return PORTAL.call(self._twin.project(projection, event, branch=branch))

    def run(self, proposal_id: str) -> Run:
        """Run a proposal that was approved, or go on with a run that died."""
        return PORTAL.call(self._twin.run(proposal_id))

    def resume(self) -> Sequence[Run]:
        """Run whatever was approved and is not sealed yet."""
        return PORTAL.call(self._twin.resume())

    def standing(self, proposal_id: str) -> Run:
        """How a proposal stands, and what was reached if it was run."""
        return PORTAL.call(self._twin.standing(proposal_id))

    def restore(self, id: str) -> Snapshot:
        """The snapshot of a world, or of an execution with what was frozen in it."""
        return PORTAL.call(self._twin.restore(id))

    def branch(self, name: str, *, at: str) -> BranchHead:
        """A new branch whose head is a world that is there."""
        return PORTAL.call(self._twin.branch(name, at=at))

    def branches(self) -> Rows[BranchHead]:
        """All branches with their heads, by name."""
        return PORTAL.call(self._twin.branches())

    def replay(self, id: str) -> Replay:
        """Run a world, or an execution, again from what was recorded, and compare."""
        return PORTAL.call(self._twin.replay(id))

    def replay_branch(self, name: str = MAIN) -> Iterator[Replay]:
        """Run every execution of a branch again, the first one first, and compare each."""
        return PORTAL.iterate(self._twin.replay_branch(name))


class BlockingTurns:
    """A runtime: it takes the turns of one session, one after another."""

    def __init__(self, twin: Turns) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    @property
    def session(self) -> Session | None:
        """The session as it stands; None before it has begun, or while that is unknown."""
        return self._twin.session

    @property
    def planned(self) -> Interpreted | None:
        """The plan; None where the first text is still to choose it."""
        return self._twin.planned

    @property
    def is_stopped(self) -> bool:
        """Whether it has failed fast."""
        return self._twin.is_stopped

    def close(self) -> None:
        """Refuse every turn from now on with StoreClosed."""
        return self._twin.close()

    def start(self, *, fresh: bool = False) -> None:
        """Find the session: resumed, or cold, or not at all (`plans.session`).

        With `fresh` the one that is there is put aside first, the only way out of a mismatch.
        SessionMismatch for a session of another plan, SessionDamaged for one that is damaged.
        """
        return PORTAL.call(self._twin.start(fresh=fresh))

    def take(
        self, text: str, *, cycle_id: str | None = None, listener: Listener | None = None
    ) -> Turn:
        """Take one turn with what the user says; `listener` hears the answer as it comes.

        `cycle_id` is for a retry: the same cycle lands once, and is not run again once it has
        landed. CycleFailed where a step failed: nothing was stored, and the next turn may go on.
        A FailFast stops this runtime.
        """
        return PORTAL.call(self._twin.take(text, cycle_id=cycle_id, listener=listener))


class BlockingTurnsOf:
    """Turns of an agent through an execution plan."""

    def __init__(self, twin: TurnsOf) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    def open(
        self,
        plan: Plan,
        *,
        model: Model,
        policy_ref: Mapping[str, JsonValue] | None = None,
        session: str = DEFAULT_SESSION,
        fresh: bool = False,
        record: bool = False,
        summariser: AnySummariser | None = None,
        steps: Sequence[StepType] = (),
    ) -> BlockingTurns:
        """Begin a session, or go on with it, through a plan; `take` takes its turns.

        `session` is its name. `fresh` puts the session that is there aside and begins anew.
        `record` keeps what each turn was given and what came of it, so that it can be replayed;
        without it only digests are kept. Without a `summariser`, summaries are made without a
        model. `steps` are types of steps that take the place of ours.

        InvalidPlan lists all that is wrong with a plan. SessionMismatch for a session that another
        plan left, SessionDamaged for one that can't be read.
        """
        return BlockingTurns(
            PORTAL.call(
                self._twin.open(
                    plan,
                    model=model,
                    policy_ref=policy_ref,
                    session=session,
                    fresh=fresh,
                    record=record,
                    summariser=summariser,
                    steps=steps,
                )
            )
        )

    def replay(
        self,
        cycle_id: str,
        *,
        summariser: AnySummariser | None = None,
        steps: Sequence[StepType] = (),
    ) -> CycleReplay:
        """Run a recorded cycle again, without a model and without memory, and compare.

        It needs the summariser and the steps that the turn had, if those were not ours.
        WorldNotFound for a cycle that is not on record, NotRecorded for one that was not recorded.
        """
        return PORTAL.call(self._twin.replay(cycle_id, summariser=summariser, steps=steps))


class BlockingGovern(Generic[T]):
    """Governed acts on memory, its policies, audits and status."""

    def __init__(self, twin: Govern[T]) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    def archive(
        self,
        id: str,
        *,
        reason: str,
        cause: Cause = "obsolescence",
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Put it away: it is no longer returned, and what refers to it still finds it."""
        return PORTAL.call(
            self._twin.archive(
                id,
                reason=reason,
                cause=cause,
                expected_version=expected_version,
                idempotency_key=idempotency_key,
            )
        )

    def reinstate(
        self,
        id: str,
        *,
        reason: str,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Make what was archived or forgotten active again, as its next version."""
        return PORTAL.call(
            self._twin.reinstate(
                id,
                reason=reason,
                expected_version=expected_version,
                idempotency_key=idempotency_key,
            )
        )

    def supersede(
        self,
        id: str,
        data: T | bytes,
        *,
        reason: str,
        cause: Cause = "obsolescence",
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> tuple[Receipt, Receipt]:
        """Let a new object stand in the place of this one: both or neither.

        What is not named passes on to it, as in `update`; the receipt of the new one says how many
        sources were dropped.
        """
        return PORTAL.call(
            self._twin.supersede(
                id,
                data,
                reason=reason,
                cause=cause,
                expected_version=expected_version,
                idempotency_key=idempotency_key,
                **about,
            )
        )

    def revise(
        self,
        id: str,
        *,
        reason: str,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Say something else of a statement that stays as it is, as its next version.

        What is not named stays; None says that there is none. With another verdict or other sources
        it is no longer approved; with other sources what was Factual is Unanswered, unless the
        verdict is named again. Only somebody who took no part in it may call it Factual:
        JudgementRefused to others.
        """
        return PORTAL.call(
            self._twin.revise(
                id,
                reason=reason,
                expected_version=expected_version,
                idempotency_key=idempotency_key,
                **about,
            )
        )

    def consolidate(
        self,
        ids: Sequence[str],
        statement: str,
        *,
        justification: str,
        derived_fragments: Sequence[str] = (),
        on_conflict: OnConflict = "refuse",
        widening: str | None = None,
        **about: Unpack[ConsolidationOptions],
    ) -> Receipt | Refusal:
        """Sum several objects up in one, if every gate passes; else a Refusal that names them all.

        The inputs stay as they are. The output is a ConsolidatedStatement with all of their
        sources, the most restrictive validity and the lowest trust. Another validity may be named;
        one that claims more than the inputs do needs a `widening`, which says why. It is Factual
        only if all of them are, and if all that it says stands in them. PolicyRefused where the
        policy `consolidation` rules it out.
        """
        return PORTAL.call(
            self._twin.consolidate(
                ids,
                statement,
                justification=justification,
                derived_fragments=derived_fragments,
                on_conflict=on_conflict,
                widening=widening,
                **about,
            )
        )

    def approve(self, id: str, *, reason: str, verdict: VerdictType | None = None) -> Receipt:
        """Raise a record's trust to approved; ApprovalRefused to whoever contributed to it.

        With a `verdict` it is judged as well: that is how something becomes Factual.
        """
        return PORTAL.call(self._twin.approve(id, reason=reason, verdict=verdict))

    def change_policy(self, policy: Policy, *, reason: str) -> Receipt:
        """Put a policy's next version into force; there is no other way to change one."""
        return PORTAL.call(self._twin.change_policy(policy, reason=reason))

    def record_audit(
        self, audit_ref: str, *, report: Audit, reason: str, accept: Collection[int | str] = ()
    ) -> Receipt:
        """Record a re-audit that rests on what `verify` just said; it lifts breaks (GOV-BREAK).

        Each damage in the report is accepted by its entry, or by its check where it has none: what
        it was is never factual or verified again. AuditRefused where the report is not of the
        journal as it is, where damage is not accepted, and to agents unless a policy lets them.
        """
        return PORTAL.call(
            self._twin.record_audit(audit_ref, report=report, reason=reason, accept=accept)
        )

    def status(self) -> Status:
        """How the scope stands: its policies, the breaks that stand, checkpoints and anchors."""
        return PORTAL.call(self._twin.status())


class BlockingJournal(Generic[T]):
    """The journal of one scope: append-only, hash-chained, under one Merkle root."""

    def __init__(self, twin: Journal[T]) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    def head(self) -> JournalHead:
        """Where the journal ends: its origin, its size, and the hash of its newest entry."""
        return PORTAL.call(self._twin.head())

    def entries(self, start: int = 0, *, limit: int | None = None) -> Rows[JournalEntry]:
        """The entries from a number on, at most so many; all of them without a limit.

        EntryDamaged where a body is not the one that its entry was written with.
        """
        return PORTAL.call(self._twin.entries(start, limit=limit))

    def tail(self, after: int | None = None) -> Iterator[JournalEntry]:
        """The entries that come after a number, as they are written, by this process or another.

        Without a number, those that are written from now on. It never ends by itself.
        """
        return PORTAL.iterate(self._twin.tail(after))

    def ids(self, prefix: str, *, kinds: Collection[IdOf] = (), limit: int = 20) -> Sequence[str]:
        """The ids that begin so, of these kinds of things, or of all; at most `limit` of a kind.

        Where one of them is the prefix itself, it is the only one. Of records, those that were
        erased have only their whole id.
        """
        return PORTAL.call(self._twin.ids(prefix, kinds=kinds, limit=limit))

    def proof(self, seq: int) -> EntryProof | None:
        """That an entry stands where it says, under the journal's root as it is now.

        None where there is no such entry, or others are gone, so that there is no root over them.
        """
        return PORTAL.call(self._twin.proof(seq))

    def original(self, ref: MemoryRef | Item[T] | str) -> Original[T]:
        """What a reference, or an item of a recall, leads to: loaded and verified (M-1).

        RecordNotFound, WorldErased, or InvalidProof where it is not what the reference says.
        """
        return PORTAL.call(self._twin.original(ref))

    def object(self, id: str, *, version: int | None = None) -> dict[str, JsonValue]:
        """A version as a MemoryObject with its integrity hash; the newest, if none is named."""
        return PORTAL.call(self._twin.object(id, version=version))

    def export(
        self,
        kind: ExportKind = "journal",
        *,
        signers: Sequence[Signer] = (),
        progress: Progress = nobody,
    ) -> Iterator[bytes]:
        """The lines of an export: the journal (docs/format.md), its MemoryLog, or its objects."""
        return PORTAL.iterate(self._twin.export(kind, signers=signers, progress=progress))

    def import_objects(
        self, objects: Log, *, log: Log | None = None, lenient: bool = False, dry_run: bool = False
    ) -> ImportReport:
        """Bring MemoryObjects in, as NDJSON or documents; nothing at all if any line is refused.

        Leniently, what can come in does, and the report names every other line. `log` is the
        MemoryLog of the same objects, which is compared with them. ImportRefused says which line
        was refused first, and why; ConformanceBroken where one is Factual while a break stands.
        """
        return PORTAL.call(
            self._twin.import_objects(objects, log=log, lenient=lenient, dry_run=dry_run)
        )


class BlockingMaintain:
    """Indexes, vectors, and bytes of what was erased."""

    def __init__(self, twin: Maintain) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    def reindex(self) -> Reindexed:
        """Make the word index anew, and log it; searches are refused until it is whole."""
        return PORTAL.call(self._twin.reindex())

    def embed(self, *, progress: Progress = nobody) -> Brought:
        """Give everything a vector that has none, with the database's embedder, and log it.

        CapabilityMissing without an embedder; ModelFailed if it fails.
        """
        return PORTAL.call(self._twin.embed(progress=progress))

    def scrub(self) -> None:
        """See once more that no byte of what was erased is left, the long way where there is one.

        For after an erasure that others kept from finishing, and for PostgreSQL's old rows.
        """
        return PORTAL.call(self._twin.scrub())


class BlockingReasoning(Generic[T]):
    """One reasoning phase: recall in it, then propose or act through it."""

    def __init__(self, twin: Reasoning[T]) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    @property
    def branch(self) -> str:
        """The same as that of the async one."""
        return self._twin.branch

    @property
    def actor(self) -> ActorRef:
        """Who reasons, and proposes."""
        return self._twin.actor

    @property
    def id(self) -> str:
        """What it is called over the wire."""
        return self._twin.id

    @property
    def recalled(self) -> Sequence[Recalled[T]]:
        """What was recalled in it so far."""
        return self._twin.recalled

    def original(self, ref: MemoryRef | Item[T] | str) -> Original[T]:
        """The same as `memory.journal.original`."""
        return PORTAL.call(self._twin.original(ref))

    def recall(self, query: str, *, top_k: int, **asked: Any) -> Recalled[T]:
        """The same as the handle's `recall`; ReasoningClosed once a proposal was submitted."""
        return PORTAL.call(self._twin.recall(query, top_k=top_k, **asked))

    def propose(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        reason: Trace | None = None,
        paths: Sequence[str] | None = None,
        hints: Mapping[str, JsonValue] | None = None,
        idempotency_key: str | None = None,
    ) -> Submitted:
        """Propose an action with all that was recalled, and close the phase (M-2, M-3).

        TraceMissing if memory was read that no recall tells of, or while one is under way.
        """
        return PORTAL.call(
            self._twin.propose(
                action,
                input,
                reason=reason,
                paths=paths,
                hints=hints,
                idempotency_key=idempotency_key,
            )
        )

    def act(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        reason: Trace | None = None,
        paths: Sequence[str] | None = None,
        hints: Mapping[str, JsonValue] | None = None,
        wait: float = 0.0,
        idempotency_key: str | None = None,
    ) -> Run:
        """The same, and run it once it is approved."""
        return PORTAL.call(
            self._twin.act(
                action,
                input,
                reason=reason,
                paths=paths,
                hints=hints,
                wait=wait,
                idempotency_key=idempotency_key,
            )
        )


class BlockingMemory(Generic[T]):
    """What one actor can do with one scope."""

    def __init__(self, twin: Memory[T]) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    @property
    def scope(self) -> str:
        """The same as that of the async one."""
        return self._twin.scope

    @property
    def actor(self) -> ActorRef:
        """The same as that of the async one."""
        return self._twin.actor

    def __dir__(self) -> list[str]:
        return dir(self._twin)

    @property
    def records(self) -> BlockingRecords[T]:
        """The store of plain records: create, get, update, delete, query, and more."""
        return BlockingRecords(self._twin.records)

    @property
    def inbox(self) -> BlockingInbox:
        """What waits for a decision, and the answers to it."""
        return BlockingInbox(self._twin.inbox)

    @property
    def worlds(self) -> BlockingWorlds:
        """Proposals, runs, snapshots, branches and replay."""
        return BlockingWorlds(self._twin.worlds)

    @property
    def turns(self) -> BlockingTurnsOf:
        """Turns of an agent through an execution plan."""
        return BlockingTurnsOf(self._twin.turns)

    @property
    def govern(self) -> BlockingGovern[T]:
        """Archive, reinstate, supersede, revise, consolidate, approve; policies, audits, status."""
        return BlockingGovern(self._twin.govern)

    @property
    def journal(self) -> BlockingJournal[T]:
        """The journal itself: entries, proofs, originals, exports and imports."""
        return BlockingJournal(self._twin.journal)

    @property
    def maintain(self) -> BlockingMaintain:
        """Indexes, vectors, and bytes of what was erased."""
        return BlockingMaintain(self._twin.maintain)

    def remember(
        self,
        data: T | bytes,
        *,
        id: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Remember a text, or any data, with what is known about it (docs/writing.md).

        What is not said is written as unknown. Bytes need a `media_type`; they are kept, and not
        searched. `valid_to` is until when it holds, `expires` from when it is not to be returned.
        `thread`, `speaker` and `said_at` say where it was said, by whom and when. That something is
        Factual is for another actor to say, with `govern.approve` or `govern.revise`.
        """
        return PORTAL.call(
            self._twin.remember(
                data, id=id, reason=reason, idempotency_key=idempotency_key, **about
            )
        )

    def remember_many(
        self,
        data: Sequence[T | Memo[T] | bytes],
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Sequence[Receipt]:
        """Remember all of these, or none: data, or a `Memo` with what is said of it alone.

        What is said here is said of each, but for what a memo says otherwise.
        """
        return PORTAL.call(
            self._twin.remember_many(data, reason=reason, idempotency_key=idempotency_key, **about)
        )

    def put(
        self,
        id: str,
        data: T | bytes,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Create something under an id, or replace it whole: what is not said of it is not there.

        The receipt says which (`created`). With an `expected_version` of 0, nothing may have been
        there, ever: VersionConflict. What was derived stays marked as derived.
        """
        return PORTAL.call(
            self._twin.put(
                id,
                data,
                expected_version=expected_version,
                reason=reason,
                idempotency_key=idempotency_key,
                **about,
            )
        )

    def update(
        self,
        id: str,
        patch: Any,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Make the next version: an object's members are merged, other data is replaced.

        What is not named passes on; None says that there is none. Another statement has only the
        sources that are given with it, and is neither judged nor approved: `keep_sources`, with a
        reason, keeps the old ones. The receipt says how many were dropped.
        """
        return PORTAL.call(
            self._twin.update(
                id,
                patch,
                expected_version=expected_version,
                reason=reason,
                idempotency_key=idempotency_key,
                **about,
            )
        )

    def batch(
        self, *, reason: str | None = None, idempotency_key: str | None = None
    ) -> BlockingBatch[T]:
        """Many writes in one transaction: all of them land when the block ends, or none.

        ::

            async with memory.batch(reason="the visit is over") as batch:
                batch.put("visit", {"state": "done"})
                batch.forget("reminder")
            batch.receipts
        """
        return BlockingBatch(self._twin.batch(reason=reason, idempotency_key=idempotency_key))

    def forget(
        self,
        id: str,
        *,
        reason: str,
        cause: Cause = "user_request",
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt | None:
        """Say that it is not to be used any more; history keeps it (GOV-FORGET).

        None where nothing was there.
        """
        return PORTAL.call(
            self._twin.forget(
                id,
                reason=reason,
                cause=cause,
                expected_version=expected_version,
                idempotency_key=idempotency_key,
            )
        )

    def erase(
        self,
        id: str | None = None,
        *,
        subject: str | None = None,
        whole_scope: bool = False,
        reason: str,
        cause: Cause = "user_request",
        dry_run: bool = False,
    ) -> ErasureCertificate:
        """Remove content for good: of one object, of a data subject, or of the whole scope.

        Name exactly one of the three. An id is that of a record, a trace, a proposal, an execution
        or a cycle; whatever was made from it goes too. `dry_run` counts what would go, and changes
        nothing. The journal still verifies afterwards.
        """
        return PORTAL.call(
            self._twin.erase(
                id,
                subject=subject,
                whole_scope=whole_scope,
                reason=reason,
                cause=cause,
                dry_run=dry_run,
            )
        )

    def get(
        self,
        id: str,
        *,
        at: At | None = None,
        valid_at: Moment | None = None,
        include: Collection[Include] = (),
        factual: bool = False,
    ) -> Remembered[T] | None:
        """What is remembered under this id, if it is current; None if nothing is.

        `at` asks what we knew then: give a time, or the number of an entry to see everything up to
        and with that entry. `valid_at` asks for what held then. `include` widens it to what is
        expired, judged false, invalidated, archived or superseded. `factual` asks for what may be
        used as a fact: judged Factual, and refused with ConformanceBroken while a break stands.
        """
        return PORTAL.call(
            self._twin.get(id, at=at, valid_at=valid_at, include=include, factual=factual)
        )

    def list(
        self,
        *,
        text: str | None = None,
        every: bool = True,
        limit: int | None = None,
        cursor: str | None = None,
        order_by: Order = "created",
        order: Literal["asc", "desc"] = "desc",
        **asked: Unpack[ListOptions],
    ) -> Page[Remembered[T]]:
        """What is current and fits the filters, newest first; without a limit, all of it.

        With `text`, what says every word of it, or any of them if not `every`. It is a look-up, not
        a recall: nothing is ranked, and nothing is traced. A page that is not the last has a cursor
        in its `next`: hand it back with the same question to get the next page, whatever was
        written meanwhile. `order_by` is ``created``, ``updated`` or ``entry``, the order of the
        journal. UnknownFilterKey for a filter that does not exist (docs/filters.md).
        """
        return PORTAL.call(
            self._twin.list(
                text=text,
                every=every,
                limit=limit,
                cursor=cursor,
                order_by=order_by,
                order=order,
                **asked,
            )
        )

    def history(self, id: str) -> Rows[Event[T]]:
        """Everything that happened to it, the first step first; RecordNotFound if nothing did."""
        return PORTAL.call(self._twin.history(id))

    def recall(
        self,
        query: str,
        *,
        top_k: int,
        offset: int = 0,
        selector: str | Selector = USUAL,
        about: str | None = None,
        branch: str = MAIN,
        **asked: Unpack[RecallOptions],
    ) -> Recalled[T]:
        """Select memory for a question; the selection is on record before it is handed out.

        `top_k` has no default; `offset` leaves out that many of the best, for a next page.
        `selector` is ``context``, ``full-text``, ``keyword``, ``recent``, ``worlds``, or one of
        your own. The filters are those of `list`: only what fits them is looked at. With
        `subject`, only that person's records are, and the question is erased with them. `about`
        names the person a question is about where the answer may come from anybody's records.
        `branch` is the one that the work is for: the trace names its head.

        The outcome is found, empty, degraded or failed; a failed recall has no items to ask for.
        Hand the result to `act` as `memory=`.
        """
        return PORTAL.call(
            self._twin.recall(
                query,
                top_k=top_k,
                offset=offset,
                selector=selector,
                about=about,
                branch=branch,
                **asked,
            )
        )

    def why(self, id: str) -> Why:
        """What led to a recall, a world, an execution, a proposal or a record, as a tree."""
        return PORTAL.call(self._twin.why(id))

    def verify(self, *, progress: Progress = nobody) -> Audit:
        """Walk everything that is stored, and report all that is wrong.

        It is compared with every checkpoint within reach: the database's own, and those of the
        anchors. Damage is logged once, as a conformance break; the audit says whether it could be.
        """
        return PORTAL.call(self._twin.verify(progress=progress))

    def act(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        memory: Used | None = None,
        reason: Trace | None = None,
        wait: float = 0.0,
        **options: Unpack[ActOptions],
    ) -> Run:
        """Propose an action, and run it once it is approved.

        `memory` names what it rests on: a recall, the id of a trace, several of these, or ``()``
        for none. Without it, what was recalled here since the last proposal is attached. `reason`
        says why. Where somebody has to decide, it waits for up to `wait` seconds, and then is
        pending: `worlds.run` runs it later. BranchMoved if another run moved the head first.
        """
        return PORTAL.call(
            self._twin.act(action, input, memory=memory, reason=reason, wait=wait, **options)
        )

    @contextmanager
    def reasoning(self, *, branch: str = MAIN) -> Iterator[BlockingReasoning[T]]:
        """A phase in which memory is selected; its proposal closes it and carries all its traces.

        `branch` is the one that it is for: traces name its head, and the proposal is made on it.
        """
        with PORTAL.entered(self._twin.reasoning(branch=branch)) as twin:
            yield BlockingReasoning(twin)

    def close(self) -> None:
        """Close the database that this handle was opened with; see `memoranda.open`.

        A handle that `Database.scope` made has nothing to close.
        """
        return PORTAL.call(self._twin.close())


class BlockingDatabase:
    """One open database. Made by `connect`; await it, or use it with ``async with``."""

    def __init__(self, twin: Database) -> None:
        self._twin = twin

    def __repr__(self) -> str:
        return f"<blocking {self._twin!r}>"

    def __enter__(self) -> Self:
        PORTAL.call(self._twin.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        PORTAL.call(self._twin.__aexit__(kind, error, traceback))

    @property
    def read_only(self) -> bool:
        """Whether nothing is ever written through it."""
        return self._twin.read_only

    @overload
    def scope(
        self,
        name: str | None = ...,
        *,
        actor: ActorRef | str = ...,
        model: None = ...,
        app: App[Any] | None = ...,
    ) -> BlockingMemory[Any]: ...

    @overload
    def scope(
        self,
        name: str | None = ...,
        *,
        actor: ActorRef | str = ...,
        model: type[M],
        app: App[M] | None = ...,
    ) -> BlockingMemory[M]: ...

    def scope(
        self,
        name: str | None = None,
        *,
        actor: ActorRef | str = DEFAULT_ACTOR,
        model: type[Any] | None = None,
        app: App[Any] | None = None,
    ) -> BlockingMemory[Any]:
        """A handle on one scope, for one actor. It reads nothing and is dropped at no cost.

        ``name`` defaults to MEMORANDA_SCOPE, then to ``default``. With ``model``, data goes in and
        comes out as that type; without it, data is any JSON value. ``app`` says what actions, which
        authority and whose memory it runs with.

        A scope that is new reads as empty, and its journal begins with the first write, which a
        recall is as well: it leaves a trace. Where the database is read-only, or was opened with
        ``create=False``, a scope that is not there is refused with ScopeNotFound when it is used.
        """
        return BlockingMemory(self._twin.scope(name, actor=actor, model=model, app=app))

    def scopes(self) -> list[str]:
        """Every scope that was ever written to, sorted."""
        return PORTAL.call(self._twin.scopes())

    def exists(self, scope: str) -> bool:
        """Whether anything was ever written to a scope. Nothing is made."""
        return PORTAL.call(self._twin.exists(scope))

    def close(self) -> None:
        """Finish what is under way, make the last checkpoints, and let go of the database.

        Every handle refuses everything from then on with StoreClosed. WrongLoop in another event
        loop than the one it was opened in: what is under way there could not be waited for.
        """
        return PORTAL.call(self._twin.close())
