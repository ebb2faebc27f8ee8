"""Authorities: who decides about a proposal, and how a policy is asked.

A policy is a small object that combines with others. It is pure: the same proposal, votes and
time give the same verdict, so a decision can be judged again by anyone. It sees the proposal with
its trace, and never memory (M-4). How it was set when the proposal was made is written down with
it: a later vote is judged by that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from memoranda.kernel.actors import ActorRef
from memoranda.kernel.json import JsonValue
from memoranda.worlds.decision import (
    ApprovedDecision,
    AuthorityRef,
    DecisionRecord,
    RejectedDecision,
    TimeoutDecision,
    TribunalDecisionRecord,
    Vote,
)
from memoranda.worlds.intent import IntentScope
from memoranda.worlds.proposal import Proposal
from memoranda.worlds.values import same_actor


@dataclass(frozen=True, slots=True)
class Asked:
    """What a policy is asked: a proposal, the votes so far in their order, and the time."""

    proposal: Proposal
    votes: Sequence[Vote]
    submitted_at: int
    now: int


@dataclass(frozen=True, slots=True)
class Approved:
    """It may run, within a scope (None: no restriction), says this authority."""

    reason: str
    scope: IntentScope | None
    by: AuthorityRef
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Rejected:
    """It may not run, says this authority."""

    reason: str
    by: AuthorityRef
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Pending:
    """Nothing is decided yet: who is waited for, and when it has to be judged again at the latest.

    Without an ``until`` it waits for ever.
    """

    waiting_for: tuple[ActorRef, ...]
    until: int | None = None


Verdict = Approved | Rejected | Pending
"""What an authority says of a proposal."""


class AuthorityPolicy(Protocol):
    """How decisions are made; whoever has these three and an authority is one."""

    @property
    def authority(self) -> AuthorityRef:
        """In whose name it decides."""
        ...

    def judge(self, asked: Asked, /) -> Verdict:
        """The verdict by the votes and the time so far.

        Pure; once something is decided, more votes and a later time change nothing.
        """
        ...

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        """Why this actor may not vote now; None where it may."""
        ...

    def to_wire(self) -> dict[str, JsonValue]:
        """The policy as JSON, with a ``mode``; `policy_from_wire` reads those that are ours."""
        ...


def asked_scope(asked: Asked) -> IntentScope | None:
    """What is approved unless a policy says less: the scope that was asked for."""
    return asked.proposal.intent.body.scope_proposal


def decision_record(
    asked: Asked, verdict: Approved | Rejected, *, decision_id: str, decided_by: ActorRef
) -> DecisionRecord:
    """What goes on record of a verdict, now: a tribunal's with its votes (R-3)."""
    members: dict[str, Any] = {
        "decision_id": decision_id,
        "proposal_id": asked.proposal.proposal_id,
        "authority": verdict.by,
        "decision": _final(verdict),
        "reasoning": verdict.reason,
        "decided_at": asked.now,
        "decided_by": decided_by,
    }
    if isinstance(verdict, Approved):
        members["approved_scope"] = verdict.scope
    if verdict.by.kind != "tribunal":
        return DecisionRecord(**members)
    return TribunalDecisionRecord(
        **members, votes=tuple(asked.votes), quorum_met=not verdict.timed_out
    )


def _final(
    verdict: Approved | Rejected,
) -> ApprovedDecision | RejectedDecision | TimeoutDecision:
    is_approved = isinstance(verdict, Approved)
    if verdict.timed_out:
        return TimeoutDecision(action="approved" if is_approved else "rejected")
    return ApprovedDecision() if is_approved else RejectedDecision(reason=verdict.reason)


# ------------------------------------------------------------------------- counting


def is_among(actor: ActorRef, actors: Sequence[ActorRef]) -> bool:
    """Whether an actor is one of these."""
    return any(same_actor(actor, other) for other in actors)


def counted(votes: Sequence[Vote], voters: Sequence[ActorRef], until: int | None) -> list[Vote]:
    """The votes that count: the first of each voter, of those that were cast before the limit."""
    found: list[Vote] = []
    for vote in votes:
        in_time = until is None or vote.voted_at < until
        heard = is_among(vote.voter, [earlier.voter for earlier in found])
        if in_time and not heard and is_among(vote.voter, voters):
            found.append(vote)
    return found


def limit(asked: Asked, timeout_ms: int | None) -> int | None:
    """When the time to vote is over: from then on no vote counts."""
    return None if timeout_ms is None else asked.submitted_at + timeout_ms


def is_over(asked: Asked, until: int | None) -> bool:
    """Whether the time to vote is over."""
    return until is not None and asked.now >= until


def refusal(
    asked: Asked, actor: ActorRef, voters: Sequence[ActorRef], until: int | None
) -> str | None:
    """Why an actor is not one of the voters who may still vote; None where it is."""
    if not is_among(actor, voters):
        return f"{actor} is none of those who decide it"
    if is_among(actor, [vote.voter for vote in asked.votes]):
        return f"{actor} has voted already"
    return "the time to vote is over" if is_over(asked, until) else None


def decided_already(policy: AuthorityPolicy, asked: Asked) -> str | None:
    """Why nobody votes any more, where the votes so far have decided it."""
    return None if isinstance(policy.judge(asked), Pending) else "it is decided"
