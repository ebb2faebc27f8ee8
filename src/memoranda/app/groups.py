"""The groups of a handle: verbs for one subject each, below the sixteen that are used daily."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Generic, TypedDict, TypeVar

from typing_extensions import Unpack

from memoranda.app.handle import Verbs, verb
from memoranda.journeys.audit import survey
from memoranda.journeys.audit.survey import CycleAccount, LineageStep
from memoranda.journeys.audit.whole import Audit
from memoranda.journeys.govern.about import About, Source
from memoranda.journeys.govern.conformance import Status
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.govern.times import Moment
from memoranda.journeys.intent.branches import BranchHead
from memoranda.journeys.intent.decisions import Answer, Waiting
from memoranda.journeys.intent.replays import Replay
from memoranda.journeys.intent.requests import ABSENT, Run, Submitted, Trace, Used
from memoranda.journeys.turn.sessions import (
    AnySummariser,
    AnyTurnExtractor,
    CycleReplay,
    Plan,
    TurnSession,
)
from memoranda.journeys.turn.turns import Turn, Turns
from memoranda.kernel.given import check_kind, check_number
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.results import Rows
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.object import Cause, VerdictType
from memoranda.ledger.policy import OnConflict, Policy
from memoranda.ledger.time import TemporalScope
from memoranda.plans.models import Model
from memoranda.plans.plan import StepType
from memoranda.plans.session import DEFAULT_SESSION
from memoranda.records.filter import Page
from memoranda.worlds.proposal import Projection, ProjectionEvent
from memoranda.worlds.snapshot import Snapshot
from memoranda.worlds.world import MAIN

T = TypeVar("T")


class ActOptions(TypedDict, total=False):
    """How an action is proposed besides what it is and what it rests on."""

    branch: str
    """The branch that it is for; ``main`` unless said otherwise."""
    paths: Sequence[str] | None
    """The parts of the state that it may change."""
    hints: Mapping[str, JsonValue] | None
    """For the provider of memory."""
    reasoning_id: str | None
    """The reasoning phase that it closes, and whose recalls it rests on, in the place of memory."""
    idempotency_key: str | None


class ConsolidationOptions(TypedDict, total=False):
    """What is said of a consolidation besides its statement."""

    verdict: VerdictType
    source: Source | Sequence[Source] | None
    valid_from: Moment | None
    valid_to: Moment | None
    temporal_scope: TemporalScope | None
    tags: Sequence[str] | None
    meta: Mapping[str, Any] | None


class Inbox(Verbs[Any]):
    """What waits for a decision, and the answers to it."""

    @verb
    async def list(self) -> Rows[Waiting]:
        """What waits for a decision, the oldest first."""
        return await self._handle.parts.intents.inbox()

    @verb
    async def approve(self, proposal_id: str, *, reason: str) -> Answer:
        """Approve a proposal that waits; DecisionRefused to whoever may not."""
        return await self._handle.parts.intents.answer(proposal_id, "approve", reason)

    @verb
    async def reject(self, proposal_id: str, *, reason: str) -> Answer:
        """Reject a proposal that waits."""
        return await self._handle.parts.intents.answer(proposal_id, "reject", reason)

    @verb
    async def abstain(self, proposal_id: str, *, reason: str) -> Answer:
        """Neither approve nor reject a proposal that a tribunal decides."""
        return await self._handle.parts.intents.answer(proposal_id, "abstain", reason)


class Worlds(Verbs[Any]):
    """Proposals, runs, snapshots, branches and replay."""

    @verb
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
        return await self._handle.parts.intents.propose(
            action, input, memory=memory, reason=reason, **options
        )

    @verb
    async def project(
        self, projection: Projection, event: ProjectionEvent, *, branch: str = MAIN
    ) -> Submitted | None:
        """Let a projection make an intent of an event, and propose it; None if it makes none."""
        return await self._handle.parts.intents.project(projection, event, branch=branch)

    @verb
    async def run(self, proposal_id: str) -> Run:
        """Run a proposal that was approved, or go on with a run that died."""
        return await self._handle.parts.intents.run(proposal_id)

    @verb
    async def resume(self) -> Sequence[Run]:
        """Run whatever was approved and is not sealed yet."""
        return await self._handle.parts.intents.resume()

    @verb
    async def standing(self, proposal_id: str) -> Run:
        """How a proposal stands, and what was reached if it was run."""
        return await self._handle.parts.intents.standing(proposal_id)

    @verb
    async def restore(self, id: str) -> Snapshot:
        """The snapshot of a world, or of an execution with what was frozen in it."""
        return await self._handle.parts.intents.restore(id)

    @verb
    async def branch(self, name: str, *, at: str) -> BranchHead:
        """A new branch whose head is a world that is there."""
        return await self._handle.parts.intents.branch(name, at=at)

    @verb
    async def branches(self) -> Rows[BranchHead]:
        """All branches with their heads, by name."""
        return await self._handle.parts.intents.branches()

    @verb
    async def lineage(self, name: str = MAIN, *, limit: int = 50) -> Rows[LineageStep]:
        """How the head of a branch moved, the newest step first, at most so many."""
        check_number("limit", limit)
        return await survey.lineage(self._handle.parts.ledger, name, limit=limit)

    @verb
    async def replay(self, id: str) -> Replay:
        """Run a world, or an execution, again from what was recorded, and compare."""
        return await self._handle.parts.intents.history().replay(id)

    async def replay_branch(self, name: str = MAIN) -> AsyncGenerator[Replay, None]:
        """Run every execution of a branch again, the first one first, and compare each."""
        parts = await self._handle.ready()
        async with aclosing(parts.intents.history().branch(name)) as replays:
            async for replay in replays:
                yield replay


class TurnsOf(Verbs[Any]):
    """Turns of an agent through an execution plan."""

    @verb
    async def open(
        self,
        plan: Plan | None = None,
        *,
        model: Model | None = None,
        policy_ref: Mapping[str, JsonValue] | None = None,
        session: str = DEFAULT_SESSION,
        fresh: bool = False,
        record: bool = False,
        subject: str | None = None,
        summariser: AnySummariser | None = None,
        extractor: AnyTurnExtractor | None = None,
        steps: Sequence[StepType] = (),
    ) -> Turns:
        """Begin a session, or go on with it, through a plan; `take` takes its turns.

        Where no plan or model is named it is the app's; without one of those, the plan is the chat
        that memoranda brings along, and CapabilityMissing says that there is no model.

        `session` is its name. `fresh` puts the session that is there aside and begins anew.
        `record` keeps what each turn was given and what came of it, so that it can be replayed;
        without it only digests are kept. `subject` is whom the turns are with: what they say of
        themselves is remembered of that person, else of the 'user'. Without a `summariser`,
        summaries are made without a model, and without an `extractor` facts are found so.
        `steps` are types of steps that take the place of ours.

        InvalidPlan lists all that is wrong with a plan. SessionMismatch for a session that another
        plan left, SessionDamaged for one that can't be read.
        """
        return await self._handle.parts.turning.open(
            self._handle.plan if plan is None else plan,
            model=self._handle.model if model is None else model,
            policy_ref=policy_ref,
            session=session,
            fresh=fresh,
            record=record,
            subject=subject,
            summariser=summariser,
            extractor=extractor,
            steps=steps,
        )

    async def take(
        self,
        message: str,
        *,
        session: str = DEFAULT_SESSION,
        cycle_id: str | None = None,
        subject: str | None = None,
        fresh: bool = False,
        record: bool = False,
    ) -> Turn:
        """Take one turn with what a user says, through the app's plan and with its model.

        The same as `open`, and `take` of what that gives. `cycle_id` is for a retry, which lands
        once.
        """
        turns = await self.open(session=session, subject=subject, fresh=fresh, record=record)
        return await turns.take(message, cycle_id=cycle_id)

    @verb
    async def sessions(
        self, *, limit: int | None = None, cursor: str | None = None
    ) -> Page[TurnSession]:
        """The sessions of the scope, by name: what the next turn of each goes on from."""
        if limit is not None:
            check_number("limit", limit)
        if cursor is not None:
            check_kind("cursor", cursor, str, "the `next` of the page before")
        most = MAX_INTEGER - 1 if limit is None else limit
        found = await self._handle.parts.turning.sessions(cursor or "", most + 1)
        return Page(found[:most], found[most - 1].name if len(found) > most > 0 else None)

    @verb
    async def account(self, cycle_id: str) -> CycleAccount:
        """A turn as the journal has it: what each step took and gave, where that was recorded.

        WorldNotFound for a cycle that is not on record, WorldErased for one that was erased.
        """
        return await survey.cycle_account(self._handle.parts.ledger, cycle_id)

    @verb
    async def replay(
        self,
        cycle_id: str,
        *,
        summariser: AnySummariser | None = None,
        extractor: AnyTurnExtractor | None = None,
        steps: Sequence[StepType] = (),
    ) -> CycleReplay:
        """Run a recorded cycle again, without a model and without memory, and compare.

        It needs the summariser, the extractor and the steps that the turn had, if those were not
        ours.
        WorldNotFound for a cycle that is not on record, NotRecorded for one that was not recorded.
        """
        return await self._handle.parts.turning.replay(cycle_id, summariser, extractor, steps)


class Govern(Verbs[T], Generic[T]):
    """Governed acts on memory, its policies, audits and status."""

    @verb
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
        return await self._handle.parts.transitions.archive(
            id,
            reason=reason,
            cause=cause,
            expected_version=expected_version,
            idempotency_key=idempotency_key,
        )

    @verb
    async def reinstate(
        self,
        id: str,
        *,
        reason: str,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Make what was archived or forgotten active again, as its next version."""
        return await self._handle.parts.transitions.reinstate(
            id, reason=reason, expected_version=expected_version, idempotency_key=idempotency_key
        )

    @verb
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
        return await self._handle.parts.transitions.supersede(
            id,
            data,
            reason=reason,
            cause=cause,
            expected_version=expected_version,
            idempotency_key=idempotency_key,
            **about,
        )

    @verb
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
        parts = self._handle.parts
        write = parts.writer.revise(id, about, expected_version, reason)
        return await parts.writer.one(write, idempotency_key)

    @verb
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
        return await self._handle.parts.transitions.consolidate(
            ids,
            statement,
            justification=justification,
            derived_fragments=derived_fragments,
            on_conflict=on_conflict,
            widening=widening,
            **about,
        )

    @verb
    async def approve(self, id: str, *, reason: str, verdict: VerdictType | None = None) -> Receipt:
        """Raise a record's trust to approved; ApprovalRefused to whoever contributed to it.

        With a `verdict` it is judged as well: that is how something becomes Factual.
        """
        return await self._handle.parts.transitions.approve(id, reason=reason, verdict=verdict)

    @verb
    async def change_policy(self, policy: Policy, *, reason: str) -> Receipt:
        """Put a policy's next version into force; there is no other way to change one."""
        parts = self._handle.parts
        return await parts.scoped.conformance.change_policy(
            policy, reason=reason, actor=str(parts.actor)
        )

    @verb
    async def record_audit(
        self, audit_ref: str, *, report: Audit, reason: str, accept: Collection[int | str] = ()
    ) -> Receipt:
        """Record a re-audit that rests on what `verify` just said; it lifts breaks (GOV-BREAK).

        Each damage in the report is accepted by its entry, or by its check where it has none: what
        it was is never factual or verified again. AuditRefused where the report is not of the
        journal as it is, where damage is not accepted, and to agents unless a policy lets them.
        """
        return await self._handle.parts.scoped.conformance.record_audit(
            audit_ref,
            report=report,
            reason=reason,
            actor=str(self._handle.parts.actor),
            accept=accept,
        )

    @verb
    async def status(self) -> Status:
        """How the scope stands: its policies, the breaks that stand, checkpoints and anchors."""
        return await self._handle.parts.scoped.conformance.status()
