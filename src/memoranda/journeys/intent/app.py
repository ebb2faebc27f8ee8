"""The app: runs intents on a scope's worlds, with memory that is recalled, frozen and replayed.

Propose, authority, recall with a time limit, freeze at ``input.$app``, execute, seal, remember in
the background (seed 000, section 3). It takes an optional MemoryStore and an optional
MemoryProvider; whatever they do, a run is neither blocked nor changed by it (MEM-INT-4).
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.branching import Branches, BranchHead, check_free, first_parts
from memoranda.journeys.intent.chronicle import Chronicle, Standing, made_from, the
from memoranda.journeys.intent.deciding import (
    Answer,
    CarriesOut,
    Decider,
    ReadPolicy,
    Waiting,
)
from memoranda.journeys.intent.history import History
from memoranda.journeys.intent.phases import (
    check_proposable,
    recalled_here,
    resting_on,
    says_memory,
    submitted,
    unobserved,
    with_context,
)
from memoranda.journeys.intent.proposing import PROJECTION, Proposed, Proposer, Wish
from memoranda.journeys.intent.recalling import RECALL_LIMIT_S
from memoranda.journeys.intent.replaying import Replay
from memoranda.journeys.intent.running import Ran, Runner
from memoranda.journeys.intent.runtime import Runtime
from memoranda.journeys.intent.sealing import Sealer
from memoranda.journeys.intent.selected import Selections
from memoranda.journeys.intent.store_changes import ChangesStore, is_of_store
from memoranda.journeys.records.foreign import GOES_THROUGH, answer_of, within
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import (
    BranchMoved,
    IllegalMove,
    NotDecided,
    NothingToRun,
    OwnStoreFailed,
    OwnStoreMissing,
    TraceMissing,
    WorldErased,
)
from memoranda.kernel.ids import IdSource
from memoranda.kernel.json import JsonValue
from memoranda.kernel.reach import check_reach, reached
from memoranda.kernel.results import Result
from memoranda.kernel.retry import RetryKey
from memoranda.recall.provider import MemoryExperience, MemoryProvider
from memoranda.recall.trace import MEMORY, MEMORY_TRACES, MemoryTrace, traces_in
from memoranda.records.store import MemoryStore
from memoranda.worlds.authority import Approved, AuthorityPolicy
from memoranda.worlds.decision import VoteChoice
from memoranda.worlds.snapshot import Snapshot
from memoranda.worlds.world import MAIN

POLL_S: Final = 0.1
"""How often whoever waits for a decision looks whether there is one."""

log = logging.getLogger("memoranda.intent")


@dataclass(frozen=True, slots=True, repr=False)
class Run(Result):
    """What a run came to."""

    proposal_id: str
    status: str
    """That of the proposal: completed or failed; evaluating while it waits; rejected."""
    execution_key: str | None = None
    world: str | None = None
    data: JsonValue = None
    """The state after it."""
    error: Mapping[str, JsonValue] | None = None
    recall: str | None = None
    """The outcome of the recall that it was given."""

    @property
    def is_completed(self) -> bool:
        """Whether it was done, and the head moved."""
        return self.status == "completed"

    @property
    def is_pending(self) -> bool:
        """Whether somebody still has to decide."""
        return self.status in ("submitted", "evaluating")


class App:
    """Runs intents on the worlds of one scope."""

    def __init__(
        self,
        chronicle: Chronicle,
        *,
        actor: ActorRef,
        policy: AuthorityPolicy,
        read_policy: ReadPolicy,
        carries_out: CarriesOut,
        store_changes: ChangesStore | None = None,
        clock: Clock,
        ids: IdSource,
        selections: Selections,
        runtime: Runtime | None = None,
        store: MemoryStore[Any] | None = None,
        provider: MemoryProvider[Any] | None = None,
        recalls: object,
        background: "set[asyncio.Task[None]]",
        recall_limit: float = RECALL_LIMIT_S,
        timeout_ms: int | None = None,
    ) -> None:
        self.store: Final = store
        """The memory store that it was given (MEM-INT-2)."""
        self.actor: Final = actor
        self.branches: Final = Branches(chronicle)
        self._chronicle = chronicle
        self._store_changes = store_changes
        self._runtime = runtime
        self._provider = provider
        self._selections = selections
        self._clock = clock
        self._limit = recall_limit
        self._proposer = Proposer(chronicle, policy, ids)
        self._decider = Decider(chronicle, read_policy, ids, carries_out)
        self.recalls: Final = recalls
        """What recalls are known by that a proposal may rest on without naming them."""
        self._remembering = background
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._runner = None
        if runtime is not None:
            self._runner = Runner(
                chronicle,
                runtime,
                Sealer(chronicle, runtime.schema_hash, ids),
                provider,
                selections,
                actor=str(actor),
                clock=clock,
                recall_limit=recall_limit,
                timeout_ms=timeout_ms,
            )

    async def close(self) -> None:
        """Wait for what is still being remembered; each has its own time limit."""
        if self._remembering:
            await asyncio.wait(set(self._remembering))

    # ---------------------------------------------------------------------------- intents

    async def propose(
        self,
        wish: Wish,
        *,
        branch: str = MAIN,
        memory: object = None,
        key: RetryKey | None = None,
    ) -> Proposed:
        """Propose an intent on the head of a branch; InvalidIntent if the domain knows it not.

        `memory` is what it rests on: recalls, or ids of traces. TraceMissing where it goes past a
        reasoning phase (M-2).
        """
        check_proposable()
        runtime = self._needed()
        check_free(branch)
        runtime.check_intent(wish.action, wish.input)
        at = self._clock.now_ms()
        complete = await self._with_memory(wish, memory, at)
        head = await self.branches.opened(branch, runtime, actor=str(self.actor), at=at)
        try:
            proposed = await self._proposer.propose(
                complete, head, runtime.schema_hash, decided_by=self.actor, at=at, key=key
            )
        except WorldErased:
            if memory is not None or not complete.rests_on or wish.rests_on:
                raise
            raise TraceMissing(
                "what was recalled here was erased since; say what it rests on with memory="
                " (recalls, ids of traces, or () for none)"
            ) from None
        if proposed.is_new and wish.projection == PROJECTION:
            submitted(self.recalls)
        return proposed

    async def _with_memory(self, wish: Wish, memory: object, at: int) -> Wish:
        """The wish with the traces of the memory that it used (M-2).

        1. those of its reasoning phase are there already; a projection uses no memory (C-5)
        2. a trace that was made by hand is confirmed, and goes on as we know it     (C-3, C-4)
        3. what is named is attached; where nothing is said, what was recalled here
        """
        # 1.
        if wish.rests_on or wish.projection != PROJECTION:
            return wish
        # 2.
        if memory is None and wish.trace is not None and says_memory(wish):
            confirmed = [
                await self._selections.confirmed(trace, where, at)
                for trace, where in _given_traces(wish.trace.context)
            ]
            sources = dict.fromkeys(name for one in confirmed for name in one.sources)
            complete = with_context(wish, [one.trace for one in confirmed])
            return complete._replace(sources=tuple(sources))
        # 3.
        if memory is None:
            return resting_on(wish, recalled_here(self.recalls, at))
        given = memory if isinstance(memory, list | tuple) else [memory]
        return resting_on(wish, [await self._selections.traced(one) for one in given])

    async def act(
        self,
        wish: Wish,
        *,
        branch: str = MAIN,
        memory: object = None,
        wait: float = 0.0,
        key: RetryKey | None = None,
    ) -> Run:
        """Propose an intent, and run it if it is approved, within `wait` seconds at the latest."""
        proposed = await self.propose(wish, branch=branch, memory=memory, key=key)
        return await self.carry_on(proposed.proposal_id, wait=wait)

    async def carry_on(self, proposal_id: str, *, wait: float = 0.0) -> Run:
        """Run a proposal if it is approved, within `wait` seconds at the latest."""
        standing = await self._decided(proposal_id, wait)
        if standing.proposal.status in ("approved", "executing"):
            return await self._run(standing)
        return await self._as_it_stands(standing)

    async def run(self, proposal_id: str) -> Run:
        """Run a proposal that was approved, or go on with one whose run died."""
        standing = await self._chronicle.standing(proposal_id)
        if standing.sealed is not None:
            reached((made_from(standing.sealed),))  # it was run before: this is a look at it
        if standing.sealed is not None or standing.proposal.status == "rejected":
            return await self._as_it_stands(standing)
        if standing.proposal.status in ("submitted", "evaluating"):
            raise NotDecided(proposal_id, standing.proposal.status, "executing")
        return await self._run(standing)

    async def resume(self) -> list[Run]:
        """Run whatever was approved and is not sealed: what waited, and what died.

        A conflict ends one of them as failed, and stops none of the others; no more does a change
        of a store that fails, or that this handle does not have.
        """
        runs = []
        for key in await self._chronicle.named(names.RUNNING):
            proposal_id = key.rpartition(":")[0]
            with suppress(WorldErased):  # that it is over is on record
                try:
                    runs.append(await self.run(proposal_id))
                except (BranchMoved, IllegalMove, OwnStoreMissing):
                    runs.append(await self.standing(proposal_id))
                except OwnStoreFailed as failed:
                    log.warning("a change that was approved is left to be done", exc_info=failed)
                    runs.append(await self.standing(proposal_id))
        return runs

    async def standing(self, proposal_id: str) -> Run:
        """How a proposal stands."""
        return await self._as_it_stands(await self._chronicle.standing(proposal_id))

    async def _decided(self, proposal_id: str, wait: float) -> Standing:
        """How a proposal stands once it is decided, or the time to wait is over."""
        deadline = asyncio.get_running_loop().time() + wait
        while True:
            standing = await self._chronicle.standing(proposal_id)
            left = deadline - asyncio.get_running_loop().time()
            if standing.decision is not None or left <= 0:
                return standing
            await asyncio.sleep(min(POLL_S, left))
            await self._decider.settle(proposal_id, self._clock.now_ms())

    async def _run(self, standing: Standing) -> Run:
        """Run it, one at a time: whoever asks for a run that is under way gets what it comes to."""
        proposal_id = standing.proposal.proposal_id
        turn = self._turns.setdefault(proposal_id, asyncio.Lock())
        if not turn.locked():
            async with turn:
                return await self._ran(standing)
        async with turn:
            standing = await self._chronicle.standing(proposal_id)
            if standing.sealed is not None:
                return await self._as_it_stands(standing)
            return await self._ran(standing)

    async def _ran(self, standing: Standing) -> Run:
        if is_of_store(standing):
            if self._store_changes is None:
                raise OwnStoreMissing(standing.proposal.proposal_id)
            await self._store_changes.carry_out(standing)
            return await self.standing(standing.proposal.proposal_id)
        if self._runner is None:
            raise NothingToRun
        try:
            ran = await self._runner.run(standing)
        except IllegalMove:
            now = await self._chronicle.standing(standing.proposal.proposal_id)
            if now.sealed is None:
                raise
            return await self._as_it_stands(now)  # another handle was faster
        self._remember(standing, ran)
        ending = ran.ending
        error = ending.terminal.system.last_error
        return Run(
            standing.proposal.proposal_id,
            ending.outcome,
            names.execution_key(standing.proposal.proposal_id),
            ending.world,
            ending.terminal.data,
            None if error is None else error.to_wire(),
            ran.recall.outcome,
        )

    async def _as_it_stands(self, standing: Standing) -> Run:
        proposal = standing.proposal
        if standing.begun is None:
            return Run(proposal.proposal_id, proposal.status)
        data = error = None
        if standing.sealed is not None:
            parts = (await self._chronicle.kept(standing.sealed)).parts
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
        if self._runtime is None:
            raise NothingToRun
        return self._runtime

    # ------------------------------------------------------------------------- remembering

    def _remember(self, standing: Standing, ran: Ran) -> None:
        """Hand the experience to the provider, in the background (MEM-INT-5)."""
        provider = self._provider
        if provider is None:
            return
        experience = MemoryExperience(
            actor_id=standing.proposal.actor.actor_id,
            intent=ran.intent,
            outcome=ran.ending.outcome,
            base_world=standing.proposal.base_world,
            result_world=ran.ending.world,
            timestamp=self._clock.now_ms(),
            data=ran.ending.terminal.data,
        )

        async def remember() -> None:
            told = answer_of(partial(provider.remember, experience))
            try:
                await within(self._limit, told, "remember")
            except GOES_THROUGH:
                raise
            except BaseException as error:
                # The run is sealed: this is told, and changes nothing.
                log.warning("what a run led to was not remembered", exc_info=error)

        with unobserved():  # it may live longer than the phase that the run was proposed in
            task = asyncio.get_running_loop().create_task(remember())
        self._remembering.add(task)
        task.add_done_callback(self._remembering.discard)

    # --------------------------------------------------------------------------- decisions

    async def name_of(self, id: str) -> str | None:
        """The name that a proposal, execution, cycle or recall of this id has; None if none has."""
        for name in (names.proposal(id), names.execution(id), names.cycle(id), names.trace(id)):
            if await self._chronicle.is_there(name):
                return name
        return None

    async def is_proposal(self, id: str) -> bool:
        """Whether a proposal has this id."""
        return await self._chronicle.is_there(names.proposal(id))

    async def inbox(self) -> list[Waiting]:
        """What waits for a decision, the oldest first."""
        check_reach()
        return await self._decider.inbox(self._clock.now_ms())

    async def answer(
        self, proposal_id: str, choice: VoteChoice, *, actor: ActorRef, reason: str | None
    ) -> Answer:
        """Answer a proposal that waits; a change of this handle's own store is carried out.

        The answer stands whatever the store does: what it did not take is left to `resume`.
        """
        now = self._clock.now_ms()
        answer = await self._decider.answer(
            proposal_id, choice, actor=actor, reason=reason, now=now
        )
        if isinstance(answer.verdict, Approved) and self._store_changes is not None:
            standing = await self._chronicle.standing(proposal_id)
            if is_of_store(standing):
                try:
                    await self._run(standing)
                except OwnStoreFailed as failed:
                    log.warning("a change that was approved is left to be done", exc_info=failed)
        return answer

    # ----------------------------------------------------------------- snapshots and replay

    async def restore(self, id: str) -> Snapshot:
        """The snapshot of a world, or of an execution; WorldNotFound, or WorldErased.

        Of a world it is the one that its first execution left, without the input; of an execution
        that run's own, byte for byte, with what was frozen in it.
        """
        check_reach()
        facts = await self._chronicle.execution(id)
        if not facts:
            keeper = await self._chronicle.keeper(id)
            kept = await self._chronicle.kept(keeper)
            reached((made_from(keeper),))
            return Snapshot.known(kept.parts)
        begun = the(facts, documents.BEGUN, id)
        sealed = the(facts, documents.SEALED, id)
        kept = await self._chronicle.kept(sealed)
        left = sealed.document.get("input", begun.document["input"])
        reached((made_from(sealed), *begun.document["sources"]))  # what was frozen in it, too
        return Snapshot.known({**kept.parts, "input": left})

    async def replay(self, id: str) -> Replay:
        """Run a world, or an execution, again from what was recorded, and compare."""
        return await self.history().replay(id)

    def history(self) -> History:
        """All that was run; CapabilityMissing for a host that can't be replayed."""
        check_reach()
        return History(self._chronicle, self._needed())

    async def replay_branch(self, name: str) -> AsyncGenerator[Replay, None]:
        """Replay every execution of a branch, the first one first."""
        async for replay in self.history().branch(name):
            yield replay

    async def fork(self, name: str, world: str) -> BranchHead:
        """A new branch whose head is a world that is there."""
        check_free(name)
        at = self._clock.now_ms()
        head = await self.branches.fork(name, world, actor=str(self.actor), at=at)
        return BranchHead(name, head.world, head.schema_hash, at)

    async def at_head(self, branch: str) -> Snapshot:
        """The snapshot at the head of a branch; where there is none, what it would begin with."""
        check_free(branch)
        runtime = self._needed()
        head = await self._chronicle.head(branch)
        if head is None:
            return Snapshot.known(first_parts(runtime, self._clock.now_ms()))
        return Snapshot.known((await self._chronicle.kept(head.fact)).parts)


def _given_traces(context: Mapping[str, JsonValue] | None) -> list[tuple[MemoryTrace, str]]:
    """The traces that were made by hand, each with where it stands."""
    traces = traces_in(context)
    if len(traces) == 1:
        return [(traces[0], f"$.trace.context.{MEMORY}")]
    where = f"$.trace.context.{MEMORY_TRACES}"
    return [(trace, f"{where}[{number}]") for number, trace in enumerate(traces)]
