"""The groups of a handle: verbs for one subject each, below the sixteen that are used daily."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Generic, Protocol, TypedDict, TypeVar

from typing_extensions import Unpack

from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.journeys.audit.whole import Audit
from memoranda.journeys.govern.about import About, Source
from memoranda.journeys.govern.conformance import Status
from memoranda.journeys.govern.memory import GovernedMemory
from memoranda.journeys.govern.moments import Moment
from memoranda.journeys.govern.receipts import Receipt
from memoranda.journeys.intent.acting import ABSENT, Submitted, Trace, Used
from memoranda.journeys.intent.app import Run
from memoranda.journeys.intent.branching import BranchHead
from memoranda.journeys.intent.deciding import Answer, Waiting
from memoranda.journeys.intent.replaying import Replay
from memoranda.journeys.maintain.embedding import Brought
from memoranda.journeys.maintain.reindex import Reindexed
from memoranda.journeys.records.store import Records
from memoranda.journeys.turn.replaying import CycleReplay
from memoranda.journeys.turn.turns import Turns
from memoranda.journeys.turn.verbs import AnySummariser, Plan
from memoranda.kernel.given import check_callable
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Rows
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.object import Cause, VerdictType
from memoranda.ledger.policy import OnConflict, Policy
from memoranda.ledger.time import TemporalScope
from memoranda.plans.models import Model
from memoranda.plans.session import DEFAULT_SESSION
from memoranda.plans.step import StepType
from memoranda.worlds.projection import Projection, ProjectionEvent
from memoranda.worlds.snapshot import Snapshot
from memoranda.worlds.world import MAIN

T = TypeVar("T")


class Verbs(Protocol[T]):
    """What a handle and its groups work with."""

    @property
    def records(self) -> Records[T]:
        """The memory store that the handle exposes."""
        ...

    @property
    def verbs(self) -> GovernedMemory[T]:
        """All verbs, though the scope may not be opened yet."""
        ...

    async def ready(self) -> GovernedMemory[T]:
        """All verbs, once the scope is opened; StoreClosed after the database was closed."""
        ...

    async def close(self) -> None:
        """Close the database, if it was opened for this handle alone."""
        ...


class ActOptions(TypedDict, total=False):
    """How an action is proposed, beside what it is and what it rests on."""

    branch: str
    """The branch that it is for; ``main`` unless said otherwise."""
    paths: Sequence[str] | None
    """The parts of the state that it may change."""
    hints: Mapping[str, JsonValue] | None
    """For the provider of memory."""
    idempotency_key: str | None


class ConsolidationOptions(TypedDict, total=False):
    """What is said of a consolidation beside its statement."""

    verdict: VerdictType
    source: Source | Sequence[Source] | None
    valid_from: Moment | None
    valid_to: Moment | None
    temporal_scope: TemporalScope | None
    tags: Sequence[str] | None
    meta: Mapping[str, Any] | None


class Inbox:
    """What waits for a decision, and the answers to it."""

    def __init__(self, verbs: Verbs[Any]) -> None:
        self._verbs = verbs

    async def list(self) -> Rows[Waiting]:
        """What waits for a decision, the oldest first."""
        return await (await self._verbs.ready()).inbox()

    async def approve(self, proposal_id: str, *, reason: str) -> Answer:
        """Approve a proposal that waits; DecisionRefused to whoever may not."""
        return await (await self._verbs.ready()).approve(proposal_id, reason=reason)

    async def reject(self, proposal_id: str, *, reason: str) -> Answer:
        """Reject a proposal that waits."""
        return await (await self._verbs.ready()).reject(proposal_id, reason=reason)

    async def abstain(self, proposal_id: str, *, reason: str) -> Answer:
        """Neither approve nor reject a proposal that a tribunal decides."""
        return await (await self._verbs.ready()).abstain(proposal_id, reason=reason)


class Worlds:
    """Proposals, runs, snapshots, branches and replay."""

    def __init__(self, verbs: Verbs[Any]) -> None:
        self._verbs = verbs

    async def propose(
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
        verbs = await self._verbs.ready()
        return await verbs.propose(action, input, memory=memory, reason=reason, **options)

    async def project(
        self, projection: Projection, event: ProjectionEvent, *, branch: str = MAIN
    ) -> Submitted | None:
        """Let a projection make an intent of an event, and propose it; None if it makes none."""
        return await (await self._verbs.ready()).project(projection, event, branch=branch)

    async def run(self, proposal_id: str) -> Run:
        """Run a proposal that was approved, or go on with a run that died."""
        return await (await self._verbs.ready()).run(proposal_id)

    async def resume(self) -> Sequence[Run]:
        """Run whatever was approved and is not sealed yet."""
        return await (await self._verbs.ready()).resume()

    async def standing(self, proposal_id: str) -> Run:
        """How a proposal stands, and what was reached if it was run."""
        return await (await self._verbs.ready()).standing(proposal_id)

    async def restore(self, id: str) -> Snapshot:
        """The snapshot of a world, or of an execution with what was frozen in it."""
        return await (await self._verbs.ready()).restore(id)

    async def branch(self, name: str, *, at: str) -> BranchHead:
        """A new branch whose head is a world that is there."""
        return await (await self._verbs.ready()).branch(name, at=at)

    async def branches(self) -> Rows[BranchHead]:
        """All branches with their heads, by name."""
        return await (await self._verbs.ready()).branches()

    async def replay(self, id: str) -> Replay:
        """Run a world, or an execution, again from what was recorded, and compare."""
        return await (await self._verbs.ready()).replay(id)

    async def replay_branch(self, name: str = MAIN) -> AsyncGenerator[Replay, None]:
        """Run every execution of a branch again, the first one first, and compare each."""
        async with aclosing((await self._verbs.ready()).replay_branch(name)) as replays:
            async for replay in replays:
                yield replay


class TurnsOf:
    """Turns of an agent through an execution plan."""

    def __init__(self, verbs: Verbs[Any]) -> None:
        self._verbs = verbs

    async def open(
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
    ) -> Turns:
        """Begin a session, or go on with it, through a plan; `take` takes its turns.

        `session` is its name. `fresh` puts the session that is there aside and begins anew.
        `record` keeps what each turn was given and what came of it, so that it can be replayed;
        without it only digests are kept. Without a `summariser`, summaries are made without a
        model. `steps` are types of steps that take the place of ours.

        InvalidPlan lists all that is wrong with a plan. SessionMismatch for a session that another
        plan left, SessionDamaged for one that can't be read.
        """
        verbs = await self._verbs.ready()
        return await verbs.turns(
            plan,
            model=model,
            policy_ref=policy_ref,
            session=session,
            fresh=fresh,
            record=record,
            summariser=summariser,
            steps=steps,
        )

    async def replay(
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
        verbs = await self._verbs.ready()
        return await verbs.replay_turn(cycle_id, summariser=summariser, steps=steps)


class Govern(Generic[T]):
    """Governed acts on memory, its policies, audits and status."""

    def __init__(self, verbs: Verbs[T]) -> None:
        self._verbs = verbs

    async def archive(
        self,
        id: str,
        *,
        reason: str,
        cause: Cause = "obsolescence",
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Put it away: it is no longer returned, and what refers to it still finds it."""
        verbs = await self._verbs.ready()
        return await verbs.archive(
            id,
            reason=reason,
            cause=cause,
            expected_version=expected_version,
            idempotency_key=idempotency_key,
        )

    async def reinstate(
        self,
        id: str,
        *,
        reason: str,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Make what was archived or forgotten active again, as its next version."""
        verbs = await self._verbs.ready()
        return await verbs.reinstate(
            id, reason=reason, expected_version=expected_version, idempotency_key=idempotency_key
        )

    async def supersede(
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
        verbs = await self._verbs.ready()
        return await verbs.supersede(
            id,
            data,
            reason=reason,
            cause=cause,
            expected_version=expected_version,
            idempotency_key=idempotency_key,
            **about,
        )

    async def revise(
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
        verbs = await self._verbs.ready()
        return await verbs.revise(
            id,
            reason=reason,
            expected_version=expected_version,
            idempotency_key=idempotency_key,
            **about,
        )

    async def consolidate(
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
        verbs = await self._verbs.ready()
        return await verbs.consolidate(
            ids,
            statement,
            justification=justification,
            derived_fragments=derived_fragments,
            on_conflict=on_conflict,
            widening=widening,
            **about,
        )

    async def approve(self, id: str, *, reason: str, verdict: VerdictType | None = None) -> Receipt:
        """Raise a record's trust to approved; ApprovalRefused to whoever contributed to it.

        With a `verdict` it is judged as well: that is how something becomes Factual.
        """
        verbs = await self._verbs.ready()
        return await verbs.approve_record(id, reason=reason, verdict=verdict)

    async def change_policy(self, policy: Policy, *, reason: str) -> Receipt:
        """Put a policy's next version into force; there is no other way to change one."""
        return await (await self._verbs.ready()).change_policy(policy, reason=reason)

    async def record_audit(
        self, audit_ref: str, *, report: Audit, reason: str, accept: Collection[int | str] = ()
    ) -> Receipt:
        """Record a re-audit that rests on what `verify` just said; it lifts breaks (GOV-BREAK).

        Each damage in the report is accepted by its entry, or by its check where it has none: what
        it was is never factual or verified again. AuditRefused where the report is not of the
        journal as it is, where damage is not accepted, and to agents unless a policy lets them.
        """
        verbs = await self._verbs.ready()
        return await verbs.record_audit(audit_ref, report=report, reason=reason, accept=accept)

    async def status(self) -> Status:
        """How the scope stands: its policies, the breaks that stand, checkpoints and anchors."""
        return await (await self._verbs.ready()).status()


class Maintain:
    """Indexes, vectors, and bytes of what was erased."""

    def __init__(self, verbs: Verbs[Any]) -> None:
        self._verbs = verbs

    async def reindex(self) -> Reindexed:
        """Make the word index anew, and log it; searches are refused until it is whole."""
        return await (await self._verbs.ready()).reindex()

    async def embed(self, *, progress: Progress = nobody) -> Brought:
        """Give everything a vector that has none, with the database's embedder, and log it.

        CapabilityMissing without an embedder; ModelFailed if it fails.
        """
        check_callable("progress", progress)
        return await (await self._verbs.ready()).embed(progress=progress)

    async def scrub(self) -> None:
        """See once more that no byte of what was erased is left, the long way where there is one.

        For after an erasure that others kept from finishing, and for PostgreSQL's old rows.
        """
        await (await self._verbs.ready()).scrub()
