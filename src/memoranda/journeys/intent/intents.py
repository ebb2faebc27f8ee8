"""Intents: runs them on a scope's worlds, with memory that is recalled, frozen and replayed.

Propose, authority, recall with a time limit, freeze at ``input.$app``, execute, seal, remember in
the background (seed 000, section 3). It takes an optional MemoryStore and an optional
MemoryProvider; whatever they do, a run is neither blocked nor changed by it (MEM-INT-4).
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakValueDictionary

from memoranda.journeys.intent import names
from memoranda.journeys.intent.branches import (
    Branches,
    BranchHead,
    Runtime,
    check_free,
    first_parts,
)
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.decisions import (
    Answer,
    CarriesOut,
    ChangesStore,
    Decider,
    ReadPolicy,
    Waiting,
    is_of_store,
)
from memoranda.journeys.intent.documents import ProposalState, made_from
from memoranda.journeys.intent.execution import remembered
from memoranda.journeys.intent.live import Sealer
from memoranda.journeys.intent.phases import check_proposable, recalled_here, submitted, unobserved
from memoranda.journeys.intent.proposals import Proposer, Submission
from memoranda.journeys.intent.replays import WorldHistory, restored_snapshot
from memoranda.journeys.intent.requests import (
    ABSENT,
    PROJECTION,
    IntentRequest,
    Run,
    Selections,
    Submitted,
    Trace,
    Used,
    projected,
    request_key,
    request_of,
    with_memory,
)
from memoranda.journeys.intent.runs import Runner, SealedRun
from memoranda.journeys.records.contents import check_text
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import check_reach, reached
from memoranda.kernel.clock import Clock, IdSource
from memoranda.kernel.errors import (
    BranchMoved,
    IllegalMove,
    NotDecided,
    NothingToRun,
    OwnStoreFailed,
    OwnStoreMissing,
    RunElsewhere,
    WorldErased,
)
from memoranda.kernel.given import RetryKey, check_kind, check_seconds
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Rows
from memoranda.ledger.lease import RUN
from memoranda.recall.provider import MemoryExperience, MemoryProvider
from memoranda.records.store import MemoryStore
from memoranda.worlds.authority import Approved, AuthorityPolicy
from memoranda.worlds.proposal import Projection, ProjectionEvent, VoteChoice, project
from memoranda.worlds.snapshot import Snapshot
from memoranda.worlds.world import MAIN

POLL_S: Final = 0.1
"""How often whoever waits for a decision looks whether there is one."""

log = logging.getLogger("memoranda.intent")


@dataclass(kw_only=True, eq=False)
class Intents:
    """Proposes, decides, runs and replays intents on the worlds of one scope."""

    chronicle: Chronicle
    actor: ActorRef
    policy: AuthorityPolicy
    read_policy: ReadPolicy
    carries_out: CarriesOut
    store_changes: ChangesStore | None
    clock: Clock
    ids: IdSource
    selections: Selections
    runtime: Runtime | None
    store: MemoryStore[Any] | None
    """The memory store that it was given (MEM-INT-2)."""
    provider: MemoryProvider[Any] | None
    recalls: object
    """What recalls are known by that a proposal may rest on without naming them."""
    background: "set[asyncio.Task[None]]"
    recall_limit: float
    timeout_ms: int | None

    def __post_init__(self) -> None:
        self._branches = Branches(self.chronicle)
        self._proposer = Proposer(self.chronicle, self.policy, self.ids)
        self._decider = Decider(self.chronicle, self.read_policy, self.ids, self.carries_out)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._runner = None
        if self.runtime is not None:
            self._runner = Runner(
                self.chronicle,
                self.runtime,
                Sealer(self.chronicle, self.runtime.schema_hash, self.ids),
                self.provider,
                self.selections,
                str(self.actor),
                self.clock,
                self.recall_limit,
                self.timeout_ms,
            )

    async def close(self) -> None:
        """Wait for what is still being remembered; each has its own time limit."""
        if self.background:
            await asyncio.wait(set(self.background))

    # ---------------------------------------------------------------------------- intents

    async def propose(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        memory: Used | None = None,
        reason: Trace | None = None,
        branch: str = MAIN,
        paths: Sequence[str] | None = None,
        hints: Mapping[str, JsonValue] | None = None,
        reasoning_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Submitted:
        """Propose an action on the head of a branch; the authority decides at once, or later.

        What each parameter means is said at `memory.act`. InvalidIntent for what the domain does
        not know.
        """
        request = request_of(action, input, reason, paths, self.actor, hints)
        key = request_key(idempotency_key, request, branch)
        return await self.submit(request, branch, key, memory, reasoning_id)

    async def act(
        self,
        action: str,
        input: JsonValue = ABSENT,
        *,
        memory: Used | None = None,
        reason: Trace | None = None,
        branch: str = MAIN,
        paths: Sequence[str] | None = None,
        hints: Mapping[str, JsonValue] | None = None,
        wait: float = 0.0,
        reasoning_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> Run:
        """Propose an action as `propose` does, and run it once it is approved.

        Where somebody has to decide, it waits for up to `wait` seconds, and then says that it is
        pending: `run` runs it later. BranchMoved if another run moved the head first.
        """
        check_seconds("wait", wait)
        request = request_of(action, input, reason, paths, self.actor, hints)
        key = request_key(idempotency_key, request, branch)
        submission = await self._submission(
            request, branch=branch, memory=memory, key=key, reasoning_id=reasoning_id
        )
        return await self._acted(submission, wait)

    async def project(
        self, projection: Projection, event: ProjectionEvent, *, branch: str = MAIN
    ) -> Submitted | None:
        """Let a projection make an intent of an event, and propose it; None if it makes none."""
        check_proposable()
        check_kind("projection", projection, Projection, "a Projection")
        check_kind("event", event, ProjectionEvent, "a ProjectionEvent")
        head = await self._at_head(branch)
        body = project(projection, head, self.actor, event)
        if body is None:
            return None
        request = projected(body, projection, event, self.actor)
        return await self.submit(request, branch, None, None)

    async def submit(
        self,
        request: IntentRequest,
        branch: str,
        key: RetryKey | None,
        memory: object,
        reasoning_id: str | None = None,
    ) -> Submitted:
        """Propose what is asked for, and say how it stands."""
        submission = await self._submission(
            request, branch=branch, memory=memory, key=key, reasoning_id=reasoning_id
        )
        run = await self._standing(await self._written(submission))
        return Submitted(run.proposal_id, run.status)

    async def _submission(
        self,
        request: IntentRequest,
        *,
        branch: str,
        memory: object,
        key: RetryKey | None,
        reasoning_id: str | None,
    ) -> Submission:
        """A proposal on the head of a branch, judged and not written yet.

        `memory` is what it rests on: recalls, or ids of traces; or it is all that was recalled
        under the name of a reasoning phase. TraceMissing where it goes past a
        reasoning phase (M-2). InvalidIntent if the domain does not know it.
        """
        check_proposable()
        runtime = self._needed()
        check_free(branch)
        runtime.check_intent(request.action, request.input)
        at = self.clock.now_ms()
        complete = await with_memory(
            request,
            memory,
            self.selections,
            lambda: recalled_here(self.recalls, at),
            at,
            reasoning_id,
        )
        head = await self._branches.opened(branch, runtime, actor=str(self.actor), at=at)
        return self._proposer.submission(
            complete, head, runtime.schema_hash,
            decided_by=self.actor, at=at, key=key,
            is_named=memory is not None or bool(request.rests_on),
        )  # fmt: skip

    async def _written(self, submission: Submission) -> str:
        """The id of a proposal that is on record now; that of the first, if this is a retry."""
        committed = await submission.write()
        self._settle_recalls(submission)
        return committed.about

    def _settle_recalls(self, submission: Submission) -> None:
        if submission.is_written and submission.request.projection == PROJECTION:
            submitted(self.recalls)

    async def _acted(self, submission: Submission, wait: float) -> Run:
        """Run what is proposed if it is approved, within `wait` seconds at the latest."""
        runner, is_written_first = self._runner, submission.key or submission.request.phase
        if is_written_first or runner is None or not runner.is_run_at_once(submission):
            return await self.carry_on(await self._written(submission), wait=wait)
        standing = submission.standing()
        try:
            return self._done(standing, await runner.run(standing, submission))
        finally:
            self._settle_recalls(submission)

    async def carry_on(self, proposal_id: str, *, wait: float = 0.0) -> Run:
        """Run a proposal if it is approved, within `wait` seconds at the latest."""
        standing = await self._decided(proposal_id, wait)
        if standing.proposal.status in ("approved", "executing"):
            return await self._run(standing)
        return await self._as_it_stands(standing)

    async def run(self, proposal_id: str) -> Run:
        """Run a proposal that was approved, or go on with one whose run died."""
        standing = await self.chronicle.standing(proposal_id)
        if standing.sealed is not None:
            reached((made_from(standing.sealed),))  # it was run before: this is a look at it
        if standing.sealed is not None or standing.proposal.status == "rejected":
            return await self._as_it_stands(standing)
        if standing.proposal.status in ("submitted", "evaluating"):
            raise NotDecided(proposal_id, standing.proposal.status, "executing")
        return await self._run(standing)

    async def resume(self) -> Sequence[Run]:
        """Run whatever was approved and is not sealed: what waited, and what died.

        A conflict ends one of them as failed, and stops none of the others; no more does a change
        of a store that fails, or that this handle does not have.
        """
        runs = []
        for key in await self.chronicle.named(names.RUNNING):
            proposal_id = key.rpartition(":")[0]
            with suppress(WorldErased):  # that it is over is on record
                try:
                    runs.append(await self.run(proposal_id))
                except (BranchMoved, IllegalMove, OwnStoreMissing):
                    runs.append(await self._standing(proposal_id))
                except OwnStoreFailed as failed:
                    log.warning("a change that was approved is left to be done", exc_info=failed)
                    runs.append(await self._standing(proposal_id))
        return runs

    async def standing(self, proposal_id: str) -> Run:
        """How a proposal stands, and what was reached if it was run: a world is memory (M-2)."""
        run = await self._standing(proposal_id)
        if run.execution_key is not None:
            reached((names.execution(run.execution_key),))
        return run

    async def _standing(self, proposal_id: str) -> Run:
        return await self._as_it_stands(await self.chronicle.standing(proposal_id))

    async def _decided(self, proposal_id: str, wait: float) -> ProposalState:
        """How a proposal stands once it is decided, or the time to wait is over."""
        deadline = asyncio.get_running_loop().time() + wait
        while True:
            standing = await self.chronicle.standing(proposal_id)
            left = deadline - asyncio.get_running_loop().time()
            if standing.decision is not None or left <= 0:
                return standing
            await asyncio.sleep(min(POLL_S, left))
            await self._decider.settle(proposal_id, self.clock.now_ms())

    async def _run(self, standing: ProposalState) -> Run:
        """Run it, one at a time: whoever asks for a run that is under way gets what it comes to."""
        proposal_id = standing.proposal.proposal_id
        turn = self._turns.setdefault(proposal_id, asyncio.Lock())
        if not turn.locked():
            async with turn:
                return await self._ran(standing)
        async with turn:
            standing = await self.chronicle.standing(proposal_id)
            if standing.sealed is not None:
                return await self._as_it_stands(standing)
            return await self._ran(standing)

    async def _ran(self, standing: ProposalState) -> Run:
        """Run it under a lease; RunElsewhere while another handle, or process, does."""
        proposal_id = standing.proposal.proposal_id
        if self._runner is not None and self._runner.is_plain(standing.proposal):
            return await self._carried_out(standing)
        async with self.chronicle.leased(RUN + proposal_id, self.clock) as is_ours:
            if is_ours:
                return await self._carried_out(standing)
        now = await self.chronicle.standing(proposal_id)
        if now.sealed is None:
            raise RunElsewhere(proposal_id, now.proposal.status, "executing")
        return await self._as_it_stands(now)

    async def _carried_out(self, standing: ProposalState) -> Run:
        if is_of_store(standing):
            if self.store_changes is None:
                raise OwnStoreMissing(standing.proposal.proposal_id)
            await self.store_changes.carry_out(standing)
            return await self._standing(standing.proposal.proposal_id)
        if self._runner is None:
            raise NothingToRun
        try:
            ran = await self._runner.run(standing)
        except IllegalMove:
            now = await self.chronicle.standing(standing.proposal.proposal_id)
            if now.sealed is None:
                raise
            return await self._as_it_stands(now)  # another handle was faster
        return self._done(standing, ran)

    def _done(self, standing: ProposalState, ran: SealedRun) -> Run:
        self._remember(standing, ran)
        sealing = ran.sealing
        error = sealing.terminal.system.last_error
        return Run(
            standing.proposal.proposal_id,
            sealing.outcome,
            names.execution_key(standing.proposal.proposal_id),
            sealing.world["worldId"],
            sealing.terminal.data,
            None if error is None else error.to_wire(),
            ran.recall.outcome,
        )

    async def _as_it_stands(self, standing: ProposalState) -> Run:
        proposal = standing.proposal
        if standing.begun is None:
            return Run(proposal.proposal_id, proposal.status)
        data = error = None
        if standing.sealed is not None:
            parts = (await self.chronicle.kept(standing.sealed)).parts
            data, error = parts["data"], parts["system"]["lastError"]
        return Run(
            proposal.proposal_id,
            proposal.status,
            proposal.execution_key,
            proposal.result_world,
            data,
            error,
            standing.begun.document["recall"]["outcome"],
        )

    def _needed(self) -> Runtime:
        if self.runtime is None:
            raise NothingToRun
        return self.runtime

    # ------------------------------------------------------------------------- remembering

    def _remember(self, standing: ProposalState, ran: SealedRun) -> None:
        """Hand the experience to the provider, in the background (MEM-INT-5)."""
        provider = self.provider
        if provider is None:
            return
        experience = MemoryExperience(
            actor_id=standing.proposal.actor.actor_id,
            intent=ran.intent,
            outcome=ran.sealing.outcome,
            base_world=standing.proposal.base_world,
            result_world=ran.sealing.world["worldId"],
            timestamp=self.clock.now_ms(),
            data=ran.sealing.terminal.data,
        )

        with unobserved():  # it may live longer than the phase that the run was proposed in
            task = asyncio.get_running_loop().create_task(
                remembered(provider, experience, self.recall_limit)
            )
        self.background.add(task)
        task.add_done_callback(self.background.discard)

    # --------------------------------------------------------------------------- decisions

    async def inbox(self) -> Rows[Waiting]:
        check_reach()
        return Rows(await self._decider.inbox(self.clock.now_ms()))

    async def answer(self, proposal_id: str, choice: VoteChoice, reason: str) -> Answer:
        """Answer a proposal that waits; DecisionRefused to whoever may not.

        A change of this handle's own store is carried out.
        The answer stands whatever the store does: what it did not take is left to `resume`.
        """
        check_text("reason", reason)
        now = self.clock.now_ms()
        answer = await self._decider.answer(
            proposal_id, choice, actor=self.actor, reason=reason, now=now
        )
        if isinstance(answer.verdict, Approved) and self.store_changes is not None:
            standing = await self.chronicle.standing(proposal_id)
            if is_of_store(standing):
                try:
                    await self._run(standing)
                except OwnStoreFailed as failed:
                    log.warning("a change that was approved is left to be done", exc_info=failed)
        return answer

    # ----------------------------------------------------------------- snapshots and replay

    async def restore(self, id: str) -> Snapshot:
        return await restored_snapshot(self.chronicle, id)

    def history(self) -> WorldHistory:
        """What was run here, to be run again from what was recorded, and compared."""
        check_reach()
        return WorldHistory(self.chronicle, self._needed())

    async def branch(self, name: str, *, at: str) -> BranchHead:
        """A new branch whose head is a world that is there."""
        check_free(name)
        now = self.clock.now_ms()
        head = await self._branches.fork(name, at, actor=str(self.actor), at=now)
        return BranchHead(name, head.world, head.schema_hash, now)

    async def branches(self) -> Rows[BranchHead]:
        return Rows(await self._branches.listed())

    async def _at_head(self, branch: str) -> Snapshot:
        """The snapshot at the head of a branch; where there is none, what it would begin with."""
        check_free(branch)
        runtime = self._needed()
        head = await self.chronicle.head(branch)
        if head is None:
            return Snapshot.known(first_parts(runtime, self.clock.now_ms()))
        return Snapshot.known((await self.chronicle.kept(head.fact)).parts)
