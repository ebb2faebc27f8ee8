"""Proposals: what somebody wants to run, on which world, and how far it has come.

A proposal moves only as the world protocol says; any other move raises. It holds no memory
context (MEM-CTX-1): memory that led to it stands in ``trace.context.memory`` (M-2), and no member
beside that is added for memory (MIN-INVASION).
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import IllegalMove, InvalidWorld
from memoranda.kernel.wire import tuple_of
from memoranda.worlds.intent import IntentInstance, IntentScope
from memoranda.worlds.values import (
    NULLABLE,
    Count,
    Id,
    JsonObject,
    Milliseconds,
    Name,
    Text,
    WorldModel,
    same_actor,
)

ProposalStatus = Literal[
    "submitted", "evaluating", "approved", "rejected", "executing", "completed", "failed"
]

MOVES: Final[Mapping[ProposalStatus, frozenset[ProposalStatus]]] = MappingProxyType(
    {
        "submitted": frozenset({"evaluating", "rejected"}),
        "evaluating": frozenset({"approved", "rejected"}),
        "approved": frozenset({"executing"}),
        "rejected": frozenset(),
        "executing": frozenset({"completed", "failed"}),
        "completed": frozenset(),
        "failed": frozenset(),
    }
)
"""From each status, those that may follow it."""


def check_move(proposal_id: str, status: str, to: str) -> None:
    """Refuse a move that the world protocol does not know with IllegalMove."""
    if to not in MOVES.get(status, ()):  # type: ignore[call-overload]
        raise IllegalMove(proposal_id, status, to)


class ProposalTrace(WorldModel):
    """Why somebody proposes this, and what it rests on: ``context.memory`` is the memory (M-2)."""

    summary: Name
    reasoning: Text | None = None
    context: JsonObject | None = None


class Proposal(WorldModel):
    """What an actor wants to run on a world, under a key that is fixed before it runs.

    The actor is the one of the intent's origin: nobody proposes in another's name.
    """

    proposal_id: Id
    actor: ActorRef
    intent: IntentInstance
    base_world: Id
    status: ProposalStatus
    epoch: Count
    execution_key: Id
    trace: ProposalTrace | None = None
    submitted_at: Milliseconds
    approved_scope: Annotated[IntentScope | None, NULLABLE] = None
    decision_id: Id | None = None
    result_world: Id | None = None
    decided_at: Milliseconds | None = None
    completed_at: Milliseconds | None = None

    @model_validator(mode="after")
    def _has_one_actor(self) -> Self:
        if not same_actor(self.actor, self.intent.meta.origin.actor):
            raise InvalidWorld("$.actor", "the intent's origin names another")
        return self


# ----------------------------------------------------------------------- decisions

# Decisions: who may decide, who voted how, and what came of it; immutable, one per proposal.


AuthorityKind = Literal["auto", "human", "policy", "tribunal"]
VoteChoice = Literal["approve", "reject", "abstain"]


class AuthorityRef(WorldModel):
    """Who decides: not an actor, but what an actor answers for (R-3)."""

    authority_id: Id
    kind: AuthorityKind
    name: Text | None = None


class Vote(WorldModel):
    """One actor's answer; a human in the loop answers by a vote as well."""

    voter: ActorRef
    decision: VoteChoice
    reasoning: Text | None = None
    voted_at: Milliseconds


class ApprovedDecision(WorldModel):
    """It may run."""

    kind: Literal["approved"] = "approved"


class RejectedDecision(WorldModel):
    """It may not, and why."""

    kind: Literal["rejected"] = "rejected"
    reason: Name


class TimeoutDecision(WorldModel):
    """Nobody answered in time; what the policy says then is done."""

    kind: Literal["timeout"] = "timeout"
    action: Literal["approved", "rejected"]


FinalDecision = Annotated[
    ApprovedDecision | RejectedDecision | TimeoutDecision, Field(discriminator="kind")
]


class DecisionRecord(WorldModel):
    """What was decided about a proposal, by which authority and which actor (R-3).

    ``approvedScope`` is there when it was approved; null is no restriction.
    """

    decision_id: Id
    proposal_id: Id
    authority: AuthorityRef
    decision: FinalDecision
    approved_scope: Annotated[IntentScope | None, NULLABLE] = None
    reasoning: Text | None = None
    decided_at: Milliseconds
    decided_by: ActorRef

    @property
    def is_approved(self) -> bool:
        """Whether it may run."""
        decision = self.decision
        outcome = decision.action if isinstance(decision, TimeoutDecision) else decision.kind
        return outcome == "approved"


class TribunalDecisionRecord(DecisionRecord):
    """The same of a tribunal, with every vote."""

    votes: Annotated[Sequence[Vote], tuple_of(Vote)]
    quorum_met: bool
