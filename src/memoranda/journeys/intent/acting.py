"""The verbs of a handle that concern worlds: propose, act, inbox, approve, reject, replay, why."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from memoranda.journeys.audit.why import Why
from memoranda.journeys.govern.handle import Handle, noted
from memoranda.journeys.intent import names
from memoranda.journeys.intent.app import Run
from memoranda.journeys.intent.branching import BranchHead
from memoranda.journeys.intent.deciding import Answer, Waiting
from memoranda.journeys.intent.phases import check_proposable
from memoranda.journeys.intent.proposing import Wish, trace_of
from memoranda.journeys.intent.replaying import Replay
from memoranda.journeys.records.contents import check_text, retry_key
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.given import check_kind, check_seconds, check_texts
from memoranda.kernel.json import JsonValue, check
from memoranda.kernel.reach import reached
from memoranda.kernel.results import Result, Rows
from memoranda.kernel.retry import RetryKey
from memoranda.recall.trace import traces_in
from memoranda.worlds.intent import IntentScope
from memoranda.worlds.projection import Projection, ProjectionEvent, project
from memoranda.worlds.proposal import ProposalTrace
from memoranda.worlds.snapshot import Snapshot
from memoranda.worlds.world import MAIN

T = TypeVar("T")

Trace = ProposalTrace | Mapping[str, JsonValue] | str


class HasTrace(Protocol):
    """A recall that is on record."""

    @property
    def trace_id(self) -> str:
        """The id of its trace."""
        ...


Used = HasTrace | str | Sequence[HasTrace | str]
"""The memory that a proposal rests on: recalls, or ids of traces."""

ABSENT: Final = object()
"""No input at all, which is not the same as a null one."""


@dataclass(frozen=True, slots=True, repr=False)
class Submitted(Result):
    """A proposal that is on record, and how it stands."""

    proposal_id: str
    status: str


class Acting(Handle[T]):
    """The verbs of worlds."""

    @noted
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
        idempotency_key: str | None = None,
    ) -> Submitted:
        """Propose an action on the head of a branch; the authority decides at once, or later.

        `memory` is what it rests on: a recall, the id of a trace, several of these, or ``()`` for
        none. Without it, what was recalled here since the last proposal is attached (M-2).
        `reason` says why: a summary, or all of it. `paths` are the parts of the state that may
        change. `hints` are for the provider of memory. InvalidIntent for what the domain does not
        know.
        """
        wish = wish_of(action, input, reason, paths, self.actor, hints)
        return await self._submit(wish, branch, request_key(idempotency_key, wish, branch), memory)

    @noted
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
        idempotency_key: str | None = None,
    ) -> Run:
        """Propose an action as `propose` does, and run it once it is approved.

        Where somebody has to decide, it waits for up to `wait` seconds, and then says that it is
        pending: `run` runs it later. BranchMoved if another run moved the head first.
        """
        check_seconds("wait", wait)
        wish = wish_of(action, input, reason, paths, self.actor, hints)
        key = request_key(idempotency_key, wish, branch)
        return await self.app.act(wish, branch=branch, memory=memory, wait=wait, key=key)

    @noted
    async def project(
        self, projection: Projection, event: ProjectionEvent, *, branch: str = MAIN
    ) -> Submitted | None:
        """Let a projection make an intent of an event, and propose it; None if it makes none."""
        check_proposable()
        check_kind("projection", projection, Projection, "a Projection")
        check_kind("event", event, ProjectionEvent, "a ProjectionEvent")
        head = await self.app.at_head(branch)
        body = project(projection, head, self.actor, event)
        if body is None:
            return None
        wish = Wish(
            body.type,
            body.input,
            "input" in body.model_fields_set,
            self.actor,
            scope=body.scope_proposal,
            projection=projection.id,
            source=event.kind,
            event_id=event.event_id,
        )
        return await self._submit(wish, branch, None, None)

    @noted
    async def run(self, proposal_id: str) -> Run:
        """Run a proposal that was approved, or go on with a run that died."""
        return await self.app.run(proposal_id)

    @noted
    async def resume(self) -> Sequence[Run]:
        """Run whatever was approved and is not sealed yet."""
        return await self.app.resume()

    @noted
    async def standing(self, proposal_id: str) -> Run:
        """How a proposal stands, and what was reached if it was run: a world is memory (M-2)."""
        run = await self.app.standing(proposal_id)
        if run.execution_key is not None:
            reached((names.execution(run.execution_key),))
        return run

    # ------------------------------------------------------------------------- decisions

    @noted
    async def inbox(self) -> Rows[Waiting]:
        """What waits for a decision, the oldest first."""
        return Rows(await self.app.inbox())

    @noted
    async def approve(self, proposal_id: str, *, reason: str) -> Answer:
        """Approve a proposal that waits; DecisionRefused to whoever may not."""
        check_text("reason", reason)
        return await self.app.answer(proposal_id, "approve", actor=self.actor, reason=reason)

    @noted
    async def reject(self, proposal_id: str, *, reason: str) -> Answer:
        """Reject a proposal that waits."""
        check_text("reason", reason)
        return await self.app.answer(proposal_id, "reject", actor=self.actor, reason=reason)

    @noted
    async def abstain(self, proposal_id: str, *, reason: str) -> Answer:
        """Neither approve nor reject a proposal that a tribunal decides."""
        check_text("reason", reason)
        return await self.app.answer(proposal_id, "abstain", actor=self.actor, reason=reason)

    # ------------------------------------------------------------------ worlds and replay

    @noted
    async def restore(self, id: str) -> Snapshot:
        """The snapshot of a world, or of an execution with what was frozen in it."""
        return await self.app.restore(id)

    @noted
    async def branch(self, name: str, *, at: str) -> BranchHead:
        """A new branch whose head is a world that is there."""
        return await self.app.fork(name, at)

    @noted
    async def branches(self) -> Rows[BranchHead]:
        """All branches with their heads, by name."""
        return Rows(await self.app.branches.listed())

    @noted
    async def replay(self, id: str) -> Replay:
        """Run a world, or an execution, again from what was recorded, and compare."""
        return await self.app.replay(id)

    def replay_branch(self, name: str = MAIN) -> AsyncGenerator[Replay, None]:
        """Run every execution of a branch again, the first one first, and compare each."""
        return self.app.replay_branch(name)

    @noted
    async def why(self, id: str) -> Why:
        """What led to a world, an execution, a proposal or a record, as a tree with proofs."""
        return await self._explainer.why(id)

    async def _submit(
        self, wish: Wish, branch: str, key: RetryKey | None, memory: object
    ) -> Submitted:
        proposed = await self.app.propose(wish, branch=branch, memory=memory, key=key)
        run = await self.app.standing(proposed.proposal_id)
        return Submitted(run.proposal_id, run.status)


def wish_of(
    action: str,
    input: JsonValue,
    reason: Trace | None,
    paths: Sequence[str] | None,
    actor: ActorRef,
    hints: Mapping[str, JsonValue] | None,
) -> Wish:
    """What an actor wants done; InvalidWorld where what it says of its memory is no trace."""
    check_kind("action", action, str, "the name of an action")
    if paths is not None:
        check_texts("paths", paths)
    said = trace_of(reason)
    traces_in(None if said is None else said.context)
    if hints is not None:
        if not isinstance(hints, Mapping):
            raise InvalidWorld("$.hints", "hints are an object; give a dict")
        check(dict(hints), "$.hints")
    return Wish(
        action,
        None if input is ABSENT else input,
        input is not ABSENT,
        actor,
        said,
        None if paths is None else IntentScope(allowed_paths=tuple(paths)),
        hints=hints,
    )


def request_key(key: str | None, wish: Wish, branch: str) -> RetryKey | None:
    """The key of a request as it was made: what it rests on may be recalled anew for a retry."""
    trace = None if wish.trace is None else wish.trace.to_wire()
    scope = None if wish.scope is None else wish.scope.to_wire()
    asked = [wish.action, wish.has_input, wish.input, str(wish.actor), trace, scope, branch]
    return retry_key(key, "propose", *asked, None if wish.hints is None else dict(wish.hints))
