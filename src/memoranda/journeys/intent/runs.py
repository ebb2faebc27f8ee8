"""Running an approved proposal: recall, freeze, execute, seal.

1. the head is still the world that the proposal rests on, or the run is a conflict
2. recall within a time limit, once; what came of it is frozen at ``input.$app`` (MEM-CONTEXT-1)
3. the host executes; every effect is journaled before it starts and when it ends
4. world, edge, snapshot, execution and status are one transaction; the head moves on completed

A run that died is taken up again from what was written. One with an effect that started and has
no result is sealed as failed: nobody knows whether it happened, and it is not called again. So is
one that no longer asks for what was written: what it leads to would not follow from it.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.branches import Runtime
from memoranda.journeys.intent.chronicle import MEMORY, Chronicle, Kept
from memoranda.journeys.intent.documents import FoundFact, LoggedHead, ProposalState
from memoranda.journeys.intent.execution import (
    NOTHING,
    RecallResult,
    executed,
    failed,
    recalled,
)
from memoranda.journeys.intent.live import Beginning, Live, Sealer, Sealing, recorded_effects
from memoranda.journeys.intent.proposals import Submission
from memoranda.journeys.intent.requests import Selections
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import BranchMoved, IllegalMove, MarkMoved, WorldErased
from memoranda.kernel.json import JsonValue
from memoranda.ledger.unit import Expected
from memoranda.recall.frame import freeze_memory_context
from memoranda.recall.provider import MemoryProvider, MemoryQuery
from memoranda.recall.trace import traces_in
from memoranda.worlds.host import HostExecutionOptions, HostExecutionResult
from memoranda.worlds.local_host import LocalHost
from memoranda.worlds.proposal import Intent, Proposal, check_move, to_host_intent
from memoranda.worlds.snapshot import Snapshot

EFFECT_UNKNOWN: Final = "effect.unknown"
CHANGED: Final = "run.changed"
CONFLICT: Final = "world.conflict"
ERASED: Final = "memory.erased"


class SealedRun(NamedTuple):
    """A run that is sealed."""

    sealing: Sealing
    recall: RecallResult
    intent: Intent


@dataclass(eq=False)
class Runner:
    """Runs the approved proposals of one scope."""

    chronicle: Chronicle
    runtime: Runtime
    sealer: Sealer
    provider: MemoryProvider[Any] | None
    selections: Selections
    actor: str
    clock: Clock
    recall_limit: float
    timeout_ms: int | None

    def is_run_at_once(self, submission: Submission) -> bool:
        """Whether a proposal may be run before it is on record: it is written with its run.

        A plain function of this process waits for nothing and asks for no effect: nothing outside
        can have happened if the process dies before it is written. While a provider is asked for
        memory, nobody sees the proposal yet, and whoever gives up waiting leaves nothing behind.
        """
        return submission.is_approved and self.is_plain(submission.proposal)

    def is_plain(self, proposal: Proposal) -> bool:
        """Whether it is a plain function of this process: of two that run it at once, one lands."""
        host = self.runtime.host
        return isinstance(host, LocalHost) and host.is_plain(proposal.intent.body.type)

    async def run(self, standing: ProposalState, submission: Submission | None = None) -> SealedRun:
        """Run a proposal that was approved; BranchMoved, once that is on record, on a conflict.

        `submission` is the proposal, where it is not on record yet. IllegalMove where somebody
        else runs it, or has run it meanwhile.
        """
        proposal = standing.proposal
        if standing.sealed is not None:
            raise IllegalMove(proposal.proposal_id, proposal.status, "executing")
        intent = to_host_intent(proposal.intent)
        try:
            return await self._run(standing, intent, submission)
        except WorldErased as erased:
            if submission is not None:
                standing = await submission.written()
            return await self._erased(standing, intent, erased)

    async def _run(
        self, standing: ProposalState, intent: Intent, submission: Submission | None
    ) -> SealedRun:
        proposal = standing.proposal
        try:
            if standing.begun is not None:
                beginning = await self._taken_up(standing, standing.begun)
            else:
                check_move(proposal.proposal_id, proposal.status, "executing")
                # 1.
                head = (
                    await self.chronicle.known_head(standing.branch)
                    if submission is None
                    else submission.head
                )
                if head.world != proposal.base_world:
                    return await self._conflict(standing, intent, head)
                # 2.
                beginning = await self._fresh(standing, intent, head)
            live = self._live(standing, beginning, submission)
            # 3.
            result = await self._executed(standing, intent, beginning, live)
            # 4.
            return await self._sealed(standing, intent, beginning, live, result)
        except MarkMoved as moved:
            # Another run of it was faster, or what it rests on was erased: then this says so.
            now = await self.chronicle.standing(proposal.proposal_id)
            if moved.name not in _own_names(proposal.proposal_id):
                raise WorldErased(*moved.name.split("/", 1)) from None
            raise IllegalMove(proposal.proposal_id, now.proposal.status, "executing") from None

    # ------------------------------------------------------------------------ beginning

    async def _fresh(self, standing: ProposalState, intent: Intent, head: LoggedHead) -> Beginning:
        base = await self.chronicle.base(head.fact)
        now = self.clock.now_ms()
        provider = self._asked(standing)
        if provider is None:
            return self._begins(intent, head, base, now, RecallResult("none", NOTHING))
        # Of what could be changed, the host gets another one.
        query = MemoryQuery(
            actor_id=standing.proposal.actor.actor_id,
            intent=intent if intent.input is None else to_host_intent(standing.proposal.intent),
            base_world=head.world,
            timestamp=now,
            hints=standing.hints,
        )
        answer = await recalled(provider, query, self.recall_limit)
        if answer.sources:
            answer = answer._replace(size=await self.chronicle.size())
        return self._begins(intent, head, base, now, answer)

    def _asked(self, standing: ProposalState) -> MemoryProvider[Any] | None:
        """Who is asked for memory: the provider, or else whoever has what was selected for it."""
        if self.provider is not None:
            return self.provider
        trace = standing.proposal.trace
        traces = traces_in(None if trace is None else trace.context)
        return self.selections.provider(traces) if traces else None

    def _begins(
        self, intent: Intent, head: LoggedHead, base: Kept, now: int, answer: RecallResult
    ) -> Beginning:
        given = intent.input if isinstance(intent.input, dict) else {}
        base_snapshot = self._under(self.runtime.schema_hash, base, given)
        frozen = freeze_memory_context(base_snapshot, answer.context, answer.is_failed)
        return Beginning(head, base, now, intent.intent_id, frozen, answer)

    def _under(self, schema_hash: str, base: Kept, input_: Mapping[str, JsonValue]) -> Snapshot:
        """A snapshot that was kept, under a schema that may be newer, with this input."""
        meta = {**base.parts["meta"], "schemaHash": schema_hash}
        return Snapshot.known({**base.parts, "meta": meta, "input": input_})

    async def _taken_up(self, standing: ProposalState, begun: FoundFact) -> Beginning:
        said = begun.document
        parent = await self.chronicle.at(said["parent"])
        base = await self.chronicle.kept(parent)
        return Beginning(
            LoggedHead(standing.branch, said["base"], said["schemaHash"], parent),
            base,
            said["now"],
            said["randomSeed"],
            self._under(said["schemaHash"], base, said["input"]),
            RecallResult(said["recall"]["outcome"], NOTHING, sources=said["sources"]),
            recorded_effects(standing.execution),
            is_written=True,
        )

    def _live(
        self, standing: ProposalState, beginning: Beginning, submission: Submission | None = None
    ) -> Live:
        schema_hash = self.runtime.schema_hash
        return Live(
            self.chronicle, self.clock, self.actor, schema_hash, standing, beginning, submission
        )

    # -------------------------------------------------------------- executing and ending

    async def _executed(
        self, standing: ProposalState, intent: Intent, beginning: Beginning, live: Live
    ) -> HostExecutionResult:
        if beginning.is_unsure:
            why = "an effect was started, and whether it happened is not known"
            return self._failed(intent, beginning, EFFECT_UNKNOWN, why)
        options = HostExecutionOptions(
            approved_scope=standing.proposal.approved_scope, timeout_ms=self.timeout_ms
        )
        key = names.execution_key(standing.proposal.proposal_id)
        try:
            result = await executed(
                self.runtime.host,
                key,
                beginning.snapshot,
                intent,
                options,
                live,
                schema_hash=self.runtime.schema_hash,
            )
        finally:
            await live.close()
        if live.broken is not None:
            raise live.broken
        if live.unasked is not None:
            why = f"it was taken up, and did not ask for the effect {live.unasked!r} any more"
            return self._failed(intent, beginning, CHANGED, why)
        return result

    def _failed(
        self, intent: Intent, beginning: Beginning, code: str, why: str
    ) -> HostExecutionResult:
        schema_hash = self.runtime.schema_hash
        return failed(beginning.snapshot, intent, code, why, now=beginning.now,
                      schema_hash=schema_hash)  # fmt: skip

    async def _sealed(
        self,
        standing: ProposalState,
        intent: Intent,
        beginning: Beginning,
        live: Live,
        result: HostExecutionResult,
    ) -> SealedRun:
        """Seal it; where another run moved the head first, as a failed one, and BranchMoved.

        A run that left the world as it was moved nothing: the base is still the head.
        """
        branch = names.branch(standing.branch)
        try:
            sealing = await self._written(standing, beginning, live, result)
        except MarkMoved as moved:
            if moved.name != branch:
                raise
            head = await self.chronicle.known_head(standing.branch)
            if head.world == beginning.head.world:
                return await self._sealed(
                    standing, intent, beginning._replace(head=head), live, result
                )
            failure = self._failed(intent, beginning, CONFLICT, _moved(standing, head))
            await self._written(standing, beginning, live, failure)
            raise _conflict(standing, head) from None
        return SealedRun(sealing, beginning.recall, intent)

    async def _written(
        self,
        standing: ProposalState,
        beginning: Beginning,
        live: Live,
        result: HostExecutionResult,
    ) -> Sealing:
        at = self.clock.now_ms()
        sealing = self.sealer.sealing(
            standing.proposal,
            beginning.head,
            beginning.base,
            beginning.snapshot.input,
            result,
            decision_id=standing.proposal.decision_id or "",
            at=at,
        )
        await self.sealer.seal(sealing, beginning.head, live, actor=self.actor, at=at)
        return sealing

    async def _conflict(
        self, standing: ProposalState, intent: Intent, head: LoggedHead
    ) -> SealedRun:
        """The head moved before the run began: it ends as failed, and nothing is executed."""
        keeper = await self.chronicle.keeper(standing.proposal.base_world)
        base = LoggedHead(standing.branch, standing.proposal.base_world, "", keeper)
        beginning = self._begins(
            intent,
            base,
            await self.chronicle.kept(keeper),
            self.clock.now_ms(),
            RecallResult("none", NOTHING),
        )
        live = self._live(standing, beginning)
        failure = self._failed(intent, beginning, CONFLICT, _moved(standing, head))
        await self._written(standing, beginning, live, failure)
        raise _conflict(standing, head)

    async def _erased(
        self, standing: ProposalState, intent: Intent, erased: WorldErased
    ) -> SealedRun:
        """What the run rests on was erased meanwhile: it has failed, and nothing of that is kept.

        If how it began is written already, that was erased as well, and all that is left to say is
        that it is over.
        """
        if erased.what != MEMORY:
            over = documents.abandoned(
                standing.proposal.proposal_id,
                approved_at=standing.decision.seq if standing.decision else 0,
                why=ERASED,
            )
            drafts = self.chronicle.drafts([over])
            about = Expected(names.proposal(standing.proposal.proposal_id), standing.newest)
            with suppress(MarkMoved):  # somebody else has said so
                await self.chronicle.commit(
                    drafts, actor=self.actor, at=self.clock.now_ms(), expects=[about]
                )
            raise erased
        head = await self.chronicle.known_head(standing.branch)
        if head.world != standing.proposal.base_world:
            return await self._conflict(standing, intent, head)
        base = await self.chronicle.kept(head.fact)
        nothing = RecallResult("erased", NOTHING, str(erased))
        beginning = self._begins(intent, head, base, self.clock.now_ms(), nothing)
        live = self._live(standing, beginning)
        failure = self._failed(intent, beginning, ERASED, "the memory that it used was erased")
        return await self._sealed(standing, intent, beginning, live, failure)


def _own_names(proposal_id: str) -> tuple[str, str]:
    return names.proposal(proposal_id), names.execution(names.execution_key(proposal_id))


def _moved(standing: ProposalState, head: LoggedHead) -> str:
    return f"the head of {standing.branch!r} is {head.world}, not {standing.proposal.base_world}"


def _conflict(standing: ProposalState, head: LoggedHead) -> BranchMoved:
    return BranchMoved(standing.branch, standing.proposal.base_world, head.world)
