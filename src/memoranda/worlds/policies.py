"""Policies that decide by themselves, by rules, or by a human's answer.

How they combine stands in `composites`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

from memoranda.kernel.actors import ActorRef, parse_actor
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.worlds.authority import (
    Approved,
    Asked,
    AuthorityPolicy,
    Condition,
    InOwnName,
    Pending,
    Rejected,
    Verdict,
    asked_scope,
    is_among,
)
from memoranda.worlds.proposal import AuthorityKind, Vote
from memoranda.worlds.snapshot import Count, WorldModel, wire_of

OnTimeout = Literal["approve", "reject"]
RuleDecision = Literal["approve", "reject", "escalate"]

_BY_RULE: Final[dict[RuleDecision, str]] = {
    "approve": "Policy approval",
    "reject": "Policy rejection",
    "escalate": "Policy escalation",
}
"""The reason of a rule that gives none."""


@dataclass(frozen=True, slots=True)
class AutoApprove(InOwnName):
    """Whatever is proposed may run."""

    reason: str = "approved automatically"
    authority_id: str = "auto"
    authority_kind: ClassVar[AuthorityKind] = "auto"

    def judge(self, asked: Asked, /) -> Verdict:
        return Approved(self.reason, asked_scope(asked), self.authority)

    def may_vote(self, _asked: Asked, _actor: ActorRef, /) -> str | None:
        return "it is decided without votes"

    def to_wire(self) -> dict[str, JsonValue]:
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
        wire: dict[str, JsonValue] = {
            "condition": self.condition.to_wire(),
            "decision": self.decision,
        }
        return wire if self.reason is None else {**wire, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class PolicyRules(InOwnName):
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

    def judge(self, asked: Asked, /) -> Verdict:
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


class _ByVotes(InOwnName):
    """What policies share that ask for votes: who may vote, once each, and for how long."""

    __slots__ = ()

    timeout_ms: int | None
    on_timeout: OnTimeout

    @property
    def _voters(self) -> tuple[ActorRef, ...]:
        raise NotImplementedError

    def judge(self, asked: Asked, /) -> Verdict:
        raise NotImplementedError

    def _is_asked(self, actor: ActorRef) -> bool:
        return is_among(actor, self._voters)

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        if not self._is_asked(actor):
            return f"{actor} is not among those who decide it"
        if is_among(actor, [vote.voter for vote in asked.votes]):
            return f"{actor} has voted already"
        if self._is_over(asked):
            return "the time to vote is over"
        return None if isinstance(self.judge(asked), Pending) else "it is decided"

    def _check_timeout(self) -> None:
        if self.timeout_ms is not None and (
            type(self.timeout_ms) is not int or self.timeout_ms < 0
        ):
            raise InvalidWorld("$.timeout", "it is a whole number of milliseconds")
        if self.on_timeout not in {"approve", "reject"}:
            raise InvalidWorld("$.onTimeout", "it is approve or reject")

    def _until(self, asked: Asked) -> int | None:
        """When the time to vote is over: from then on no vote counts."""
        return None if self.timeout_ms is None else asked.submitted_at + self.timeout_ms

    def _is_over(self, asked: Asked) -> bool:
        until = self._until(asked)
        return until is not None and asked.now >= until

    def _counted(self, asked: Asked) -> list[Vote]:
        """The votes that count: the first of each voter, of those that were cast in time."""
        until = self._until(asked)
        found: list[Vote] = []
        for vote in asked.votes:
            in_time = until is None or vote.voted_at < until
            heard = is_among(vote.voter, [earlier.voter for earlier in found])
            if in_time and not heard and self._is_asked(vote.voter):
                found.append(vote)
        return found

    def _waiting_for(self, votes: Sequence[Vote]) -> tuple[ActorRef, ...]:
        voted = [vote.voter for vote in votes]
        return tuple(actor for actor in self._voters if not is_among(actor, voted))

    def _undecided(self, asked: Asked, votes: Sequence[Vote]) -> Verdict:
        """Who is still waited for; when the time is over, what is done then."""
        if not self._is_over(asked):
            return Pending(self._waiting_for(votes), self._until(asked))
        reason = f"nobody decided in time: {self.on_timeout}"
        if self.on_timeout == "approve":
            return Approved(reason, asked_scope(asked), self.authority, timed_out=True)
        return Rejected(reason, self.authority, timed_out=True)

    def _wire(self, mode: str, voters: str, **others: JsonValue) -> dict[str, JsonValue]:
        wire: dict[str, JsonValue] = {
            "mode": mode,
            "authorityId": self.authority_id,
            voters: [wire_of(actor) for actor in self._voters],
            **others,
            "onTimeout": self.on_timeout,
        }
        return wire if self.timeout_ms is None else {**wire, "timeout": self.timeout_ms}


@dataclass(frozen=True, slots=True)
class HumanInTheLoop(_ByVotes):
    """Somebody is asked: the first of the delegates who approves or rejects decides.

    When the time is over, ``on_timeout`` is done. Delegates who all abstain approve nothing.
    """

    delegates: Sequence[ActorRef | str] | ActorRef | str
    timeout_ms: int | None = None
    on_timeout: OnTimeout = "reject"
    authority_id: str = "human"
    authority_kind: ClassVar[AuthorityKind] = "human"

    def __post_init__(self) -> None:
        given = self.delegates
        named = (given,) if isinstance(given, str | ActorRef) else given
        object.__setattr__(self, "delegates", tuple(parse_actor(actor) for actor in named))
        if not self._voters:
            raise InvalidWorld("$.delegates", "there is nobody to ask")
        self._check_timeout()

    def judge(self, asked: Asked, /) -> Verdict:
        """What the first answer says; until there is one, it waits."""
        votes = self._counted(asked)
        for vote in votes:
            said = vote.reasoning or f"{vote.voter} says {vote.decision}"
            if vote.decision == "approve":
                return Approved(said, asked_scope(asked), self.authority)
            if vote.decision == "reject":
                return Rejected(said, self.authority)
        if not self._waiting_for(votes):
            return Rejected("everybody who was asked abstained", self.authority)
        return self._undecided(asked, votes)

    def to_wire(self) -> dict[str, JsonValue]:
        return self._wire("hitl", "delegates")

    @property
    def _voters(self) -> tuple[ActorRef, ...]:
        return self.delegates  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class AnyHuman(HumanInTheLoop):
    """Some human is asked, whoever it is: the first who approves or rejects decides.

    One who abstains leaves it to others.
    """

    delegates: Sequence[ActorRef | str] | ActorRef | str = "human:anyone"
    authority_id: str = "any-human"

    def _is_asked(self, actor: ActorRef) -> bool:
        return actor.kind == "human"

    def _waiting_for(self, votes: Sequence[Vote]) -> tuple[ActorRef, ...]:
        del votes
        return self._voters

    def to_wire(self) -> dict[str, JsonValue]:
        return self._wire("any_human", "delegates")


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
class Tribunal(_ByVotes):
    """Its members vote until the quorum is met or missed, or the time is over."""

    members: Sequence[ActorRef | str]
    quorum: Quorum
    timeout_ms: int | None = None
    on_timeout: OnTimeout = "reject"
    authority_id: str = "tribunal"
    authority_kind: ClassVar[AuthorityKind] = "tribunal"

    def __post_init__(self) -> None:
        members = tuple(parse_actor(actor) for actor in self.members)
        object.__setattr__(self, "members", members)
        if not members:
            raise InvalidWorld("$.members", "a tribunal has members")
        if any(is_among(actor, members[:place]) for place, actor in enumerate(members)):
            raise InvalidWorld("$.members", "a member is named twice")
        if isinstance(self.quorum, Threshold) and self.quorum.count > len(members):
            raise InvalidWorld("$.quorum.count", "it has fewer members than that")
        self._check_timeout()

    def judge(self, asked: Asked, /) -> Verdict:
        """The verdict of the votes so far; before the first vote it waits, whatever the quorum."""
        votes = self._counted(asked)
        approving = sum(vote.decision == "approve" for vote in votes)
        rejecting = sum(vote.decision == "reject" for vote in votes)
        count = f"({approving}/{len(self.members)} approved)"
        match self._decided(approving, rejecting, len(votes)):
            case True:
                return Approved(f"Tribunal approved {count}", asked_scope(asked), self.authority)
            case False:
                return Rejected(f"Tribunal rejected {count}", self.authority)
        return self._undecided(asked, votes)

    def to_wire(self) -> dict[str, JsonValue]:
        return self._wire("tribunal", "members", quorum=self.quorum.to_wire())

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
    def _voters(self) -> tuple[ActorRef, ...]:
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
