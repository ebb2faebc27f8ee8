"""Authorities: who decides about a proposal, and how a policy is asked.

A policy is a small object that combines with others. It is pure: the same proposal, votes and
time give the same verdict, so a decision can be judged again by anyone. It sees the proposal with
its trace, and never memory (M-4). How it was set when the proposal was made is written down with
it: a later vote is judged by that.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from memoranda.kernel.actors import ActorRef
from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.worlds.proposal import (
    ApprovedDecision,
    AuthorityKind,
    AuthorityRef,
    DecisionRecord,
    IntentScope,
    Proposal,
    RejectedDecision,
    TimeoutDecision,
    TribunalDecisionRecord,
    Vote,
)
from memoranda.worlds.snapshot import same_actor


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


class InOwnName:
    """What policies share that decide in a name of their own."""

    __slots__ = ()

    authority_id: str
    authority_kind: ClassVar[AuthorityKind] = "policy"

    @property
    def authority(self) -> AuthorityRef:
        """In whose name it decides."""
        return AuthorityRef(authority_id=self.authority_id, kind=self.authority_kind)


def is_among(actor: ActorRef, actors: Sequence[ActorRef]) -> bool:
    return any(same_actor(actor, other) for other in actors)


# ---------------------------------------------------------------------- conditions

# Conditions of policy rules: what a proposal must be like for a rule to hold.
#
# A function of one's own is named, and the name is written down with the policy: whoever reads it
# back must hand in the function again. It runs where memory can't be reached (M-4), on a copy.


Risk = Literal["low", "medium", "high"]
RISKS: tuple[Risk, ...] = ("low", "medium", "high")
"""From the least to the greatest."""


class Condition(Protocol):
    """What a rule asks of a proposal."""

    def holds(self, asked: Asked, /) -> bool:
        """Whether the proposal is like that."""
        ...

    def to_wire(self) -> dict[str, JsonValue]:
        """The condition as JSON, with a ``kind``."""
        ...


@dataclass(frozen=True, slots=True)
class IntentType:
    """The intent is one of these types."""

    types: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", tuple(self.types))

    def holds(self, asked: Asked, /) -> bool:
        return asked.proposal.intent.body.type in self.types

    def to_wire(self) -> dict[str, JsonValue]:
        return {"kind": "intent_type", "types": list(self.types)}


@dataclass(frozen=True, slots=True)
class ScopePattern:
    """The intent's *type* matches as a whole, as in the world protocol (not its scope).

    ``*`` stands for any text and ``?`` for any character; all else is a regular expression, so
    that a dot matches any character too: write ``orders[.]*`` where that matters.
    """

    pattern: str
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        expression = self.pattern.replace("*", ".*").replace("?", ".")
        try:
            object.__setattr__(self, "_compiled", re.compile(expression))
        except re.error as refused:
            raise InvalidWorld("$.pattern", f"it is no pattern: {refused}") from None

    def holds(self, asked: Asked, /) -> bool:
        return self._compiled.fullmatch(asked.proposal.intent.body.type) is not None

    def to_wire(self) -> dict[str, JsonValue]:
        return {"kind": "scope_pattern", "pattern": self.pattern}


@dataclass(frozen=True, slots=True)
class Custom:
    """A function of the user's own says so, under a name that is written down."""

    name: str
    function: Callable[[Proposal], bool] = field(repr=False, compare=False)

    def holds(self, asked: Asked, /) -> bool:
        return bool(_out_of_reach(self.function, asked))

    def to_wire(self) -> dict[str, JsonValue]:
        """As the world protocol writes it: the name alone."""
        return {"kind": "custom", "evaluator": self.name}


@dataclass(frozen=True, slots=True)
class RiskAtLeast:
    """A function of the user's own puts the risk at this level, or higher."""

    level: Risk
    name: str
    function: Callable[[Proposal], Risk] = field(repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.level not in RISKS:
            raise InvalidWorld("$.level", f"a risk is {', '.join(RISKS)}")

    def holds(self, asked: Asked, /) -> bool:
        """Whether the function says so; InvalidWorld where what it says is no risk."""
        risk = _out_of_reach(self.function, asked)
        if risk not in RISKS:
            raise InvalidWorld(self.name, f"it says {risk!r}, and a risk is {', '.join(RISKS)}")
        return RISKS.index(risk) >= RISKS.index(self.level)

    def to_wire(self) -> dict[str, JsonValue]:
        """The level, and the name of the function."""
        return {"kind": "risk", "level": self.level, "evaluator": self.name}


def _out_of_reach(function: Callable[[Proposal], object], asked: Asked) -> object:
    with out_of_reach("an authority"):
        return function(Proposal.from_wire(asked.proposal.to_wire()))
