"""Decisions: who may decide, who voted how, and what came of it; immutable, one per proposal."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from memoranda.kernel.actors import ActorRef
from memoranda.kernel.wire import tuple_of
from memoranda.worlds.intent import IntentScope
from memoranda.worlds.values import NULLABLE, Id, Milliseconds, Name, Text, WorldModel

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
