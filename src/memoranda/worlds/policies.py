"""Policies that decide by themselves, by rules, or by a human's answer.

How they combine stands in `combining`, how many decide together in `tribunal`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memoranda.kernel.actors import ActorRef, parse_actor
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.worlds.authority import (
    Approved,
    Asked,
    AuthorityPolicy,
    Condition,
    Pending,
    Rejected,
    Verdict,
    asked_scope,
    counted,
    decided_already,
    is_among,
    is_over,
    limit,
    refusal,
)
from memoranda.worlds.proposal import AuthorityRef
from memoranda.worlds.values import Count, WorldModel, wire_of

OnTimeout = Literal["approve", "reject"]
RuleDecision = Literal["approve", "reject", "escalate"]

_BY_RULE: Final[dict[RuleDecision, str]] = {
    "approve": "Policy approval",
    "reject": "Policy rejection",
    "escalate": "Policy escalation",
}
"""The reason of a rule that gives none."""


@dataclass(frozen=True, slots=True)
class AutoApprove:
    """Whatever is proposed may run."""

    reason: str = "approved automatically"
    authority_id: str = "auto"

    @property
    def authority(self) -> AuthorityRef:
        """Automatic."""
        return AuthorityRef(authority_id=self.authority_id, kind="auto")

    def judge(self, asked: Asked, /) -> Verdict:
        """Approved."""
        return Approved(self.reason, asked_scope(asked), self.authority)

    def may_vote(self, _asked: Asked, _actor: ActorRef, /) -> str | None:
        """Nobody is asked."""
        return "it is decided without votes"

    def to_wire(self) -> dict[str, JsonValue]:
        """Its mode and reason."""
        return {
            "mode": "auto_approve",
            "authorityId": self.authority_id,
            "reason": self.reason,
        }


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """Where the condition holds, this is decided."""

    condition: Condition
    decision: RuleDecision
    reason: str | None = None

    def to_wire(self) -> dict[str, JsonValue]:
        """As the world protocol writes it."""
        wire: dict[str, JsonValue] = {
            "condition": self.condition.to_wire(),
            "decision": self.decision,
        }
        return wire if self.reason is None else {**wire, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class PolicyRules:
    """Rules in order: the first that holds decides, else the default.

    ``escalate`` hands the decision to another policy, say a human.
    """

    rules: Sequence[PolicyRule] = ()
    default: RuleDecision = "reject"
    escalate_to: AuthorityPolicy | None = None
    authority_id: str = "policy"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        decisions = {self.default, *(rule.decision for rule in self.rules)}
        if unknown := decisions - _BY_RULE.keys():
            raise InvalidWorld("$.rules", f"{min(unknown)!r} is no decision of a rule")
        if "escalate" in decisions and self.escalate_to is None:
            raise InvalidWorld("$.escalateTo", "a rule escalates, and nobody is named to decide")

    @property
    def authority(self) -> AuthorityRef:
        """A policy."""
        return AuthorityRef(authority_id=self.authority_id, kind="policy")

    def judge(self, asked: Asked, /) -> Verdict:
        """What the first rule that holds says."""
        decision, reason = self._decided(asked)
        if decision == "escalate" and self.escalate_to is not None:
            return self.escalate_to.judge(asked)
        if decision == "approve":
            return Approved(reason, asked_scope(asked), self.authority)
        return Rejected(reason, self.authority)

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        """Those of the policy to which it was escalated; nobody else."""
        if self.escalate_to is not None and self._decided(asked)[0] == "escalate":
            return self.escalate_to.may_vote(asked, actor)
        return "it is decided by rules"

    def to_wire(self) -> dict[str, JsonValue]:
        """Every rule, the default, and the policy behind it."""
        wire: dict[str, JsonValue] = {
            "mode": "policy_rules",
            "authorityId": self.authority_id,
            "rules": [rule.to_wire() for rule in self.rules],
            "defaultDecision": self.default,
        }
        if self.escalate_to is not None:
            wire["escalateTo"] = self.escalate_to.to_wire()
        return wire

    def _decided(self, asked: Asked) -> tuple[RuleDecision, str]:
        for rule in self.rules:
            if rule.condition.holds(asked):
                return rule.decision, rule.reason or _BY_RULE[rule.decision]
        return self.default, "Default policy decision"


@dataclass(frozen=True, slots=True)
class HumanInTheLoop:
    """Somebody is asked: the first of the delegates who approves or rejects decides.

    When the time is over, ``on_timeout`` is done. Delegates who all abstain approve nothing.
    """

    delegates: Sequence[ActorRef | str] | ActorRef | str
    timeout_ms: int | None = None
    on_timeout: OnTimeout = "reject"
    authority_id: str = "human"

    def __post_init__(self) -> None:
        given = self.delegates
        named = (given,) if isinstance(given, str | ActorRef) else given
        object.__setattr__(self, "delegates", tuple(parse_actor(actor) for actor in named))
        if not self._delegates:
            raise InvalidWorld("$.delegates", "there is nobody to ask")
        check_timeout(self.timeout_ms, self.on_timeout)

    @property
    def authority(self) -> AuthorityRef:
        """A human."""
        return AuthorityRef(authority_id=self.authority_id, kind="human")

    def judge(self, asked: Asked, /) -> Verdict:
        """What the first answer says; until there is one, it waits."""
        until = limit(asked, self.timeout_ms)
        votes = counted(asked.votes, self._delegates, until)
        for vote in votes:
            said = vote.reasoning or f"{vote.voter} says {vote.decision}"
            if vote.decision == "approve":
                return Approved(said, asked_scope(asked), self.authority)
            if vote.decision == "reject":
                return Rejected(said, self.authority)
        heard = [vote.voter for vote in votes]
        waiting_for = tuple(actor for actor in self._delegates if not is_among(actor, heard))
        if not waiting_for:
            return Rejected("everybody who was asked abstained", self.authority)
        if is_over(asked, until):
            return timed_out(asked, self.on_timeout, self.authority)
        return Pending(waiting_for, until)

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        """The delegates, once each, in time."""
        until = limit(asked, self.timeout_ms)
        return refusal(asked, actor, self._delegates, until) or decided_already(self, asked)

    def to_wire(self) -> dict[str, JsonValue]:
        """Who is asked, for how long, and what is done then."""
        wire: dict[str, JsonValue] = {
            "mode": "hitl",
            "authorityId": self.authority_id,
            "delegates": [wire_of(actor) for actor in self._delegates],
            "onTimeout": self.on_timeout,
        }
        return wire if self.timeout_ms is None else {**wire, "timeout": self.timeout_ms}

    @property
    def _delegates(self) -> tuple[ActorRef, ...]:
        return self.delegates  # type: ignore[return-value]


def check_timeout(timeout_ms: int | None, on_timeout: str) -> None:
    """Refuse what is not a time limit, or not an outcome of it."""
    if timeout_ms is not None and (type(timeout_ms) is not int or timeout_ms < 0):
        raise InvalidWorld("$.timeout", "it is a whole number of milliseconds")
    if on_timeout not in {"approve", "reject"}:
        raise InvalidWorld("$.onTimeout", "it is approve or reject")


def timed_out(asked: Asked, on_timeout: OnTimeout, authority: AuthorityRef) -> Verdict:
    """What a policy says when nobody decided in time."""
    reason = f"nobody decided in time: {on_timeout}"
    if on_timeout == "approve":
        return Approved(reason, asked_scope(asked), authority, timed_out=True)
    return Rejected(reason, authority, timed_out=True)


# ----------------------------------------------------------------------- tribunals

# Tribunals: many decide together, once enough of them have said the same.
#
# Only members vote, once each. To abstain is to vote neither way. Votes are counted, so the order
# in which they come does not matter, and what is decided stays decided whoever votes after it.


class Unanimous(WorldModel):
    """All members approve; one who rejects ends it."""

    kind: Literal["unanimous"] = "unanimous"


class Majority(WorldModel):
    """More than half of the members; when all have voted, more who approve than who reject."""

    kind: Literal["majority"] = "majority"


class Threshold(WorldModel):
    """So many members approve; it ends when that can't be reached any more."""

    kind: Literal["threshold"] = "threshold"
    count: Count


Quorum = Unanimous | Majority | Threshold


@dataclass(frozen=True, slots=True)
class Tribunal:
    """Its members vote until the quorum is met or missed, or the time is over."""

    members: Sequence[ActorRef | str]
    quorum: Quorum
    timeout_ms: int | None = None
    on_timeout: OnTimeout = "reject"
    authority_id: str = "tribunal"

    def __post_init__(self) -> None:
        members = tuple(parse_actor(actor) for actor in self.members)
        object.__setattr__(self, "members", members)
        if not members:
            raise InvalidWorld("$.members", "a tribunal has members")
        if any(is_among(actor, members[:place]) for place, actor in enumerate(members)):
            raise InvalidWorld("$.members", "a member is named twice")
        if isinstance(self.quorum, Threshold) and self.quorum.count > len(members):
            raise InvalidWorld("$.quorum.count", "it has fewer members than that")
        check_timeout(self.timeout_ms, self.on_timeout)

    @property
    def authority(self) -> AuthorityRef:
        """A tribunal."""
        return AuthorityRef(authority_id=self.authority_id, kind="tribunal")

    def judge(self, asked: Asked, /) -> Verdict:
        """The verdict of the votes so far; before the first vote it waits, whatever the quorum."""
        until = limit(asked, self.timeout_ms)
        votes = counted(asked.votes, self._members, until)
        approving = sum(vote.decision == "approve" for vote in votes)
        rejecting = sum(vote.decision == "reject" for vote in votes)
        count = f"({approving}/{len(self.members)} approved)"
        match self._decided(approving, rejecting, len(votes)):
            case True:
                return Approved(f"Tribunal approved {count}", asked_scope(asked), self.authority)
            case False:
                return Rejected(f"Tribunal rejected {count}", self.authority)
        if is_over(asked, until):
            return timed_out(asked, self.on_timeout, self.authority)
        voted = [vote.voter for vote in votes]
        return Pending(tuple(m for m in self._members if not is_among(m, voted)), until)

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        """The members, once each, in time."""
        until = limit(asked, self.timeout_ms)
        return refusal(asked, actor, self._members, until) or decided_already(self, asked)

    def to_wire(self) -> dict[str, JsonValue]:
        """As the world protocol writes it."""
        wire: dict[str, JsonValue] = {
            "mode": "tribunal",
            "authorityId": self.authority_id,
            "members": [wire_of(actor) for actor in self._members],
            "quorum": self.quorum.to_wire(),
            "onTimeout": self.on_timeout,
        }
        return wire if self.timeout_ms is None else {**wire, "timeout": self.timeout_ms}

    def _decided(self, approving: int, rejecting: int, votes: int) -> bool | None:
        """Whether the quorum is met (True), missed (False), or still open (None)."""
        members = len(self.members)
        if not votes:
            return None
        if isinstance(self.quorum, Unanimous):
            met, missed = approving == members, rejecting > 0
        elif isinstance(self.quorum, Threshold):
            met, missed = approving >= self.quorum.count, rejecting > members - self.quorum.count
        else:
            met, missed = approving > members // 2, rejecting > members // 2
            if votes == members:
                met = approving > rejecting
        if met:
            return True
        return False if missed or votes == members else None

    @property
    def _members(self) -> tuple[ActorRef, ...]:
        return self.members  # type: ignore[return-value]


def quorum_from_wire(wire: JsonValue) -> Quorum:
    match wire:
        case {"kind": "unanimous"}:
            return Unanimous.from_wire(wire)
        case {"kind": "majority"}:
            return Majority.from_wire(wire)
        case {"kind": "threshold"}:
            return Threshold.from_wire(wire)
    raise InvalidWorld("$.quorum.kind", "a quorum is unanimous, majority or threshold")
