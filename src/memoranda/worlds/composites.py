"""Policies made of policies: what is still open of one, and how one is written and read back."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, ClassVar, Final, TypeVar, get_args

from memoranda.identity import canonical_bytes
from memoranda.kernel.actors import ActorKind, ActorRef, parse_actor
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.worlds.authority import (
    Approved,
    Asked,
    AuthorityPolicy,
    Condition,
    Custom,
    InOwnName,
    IntentType,
    Pending,
    Rejected,
    RiskAtLeast,
    ScopePattern,
    Verdict,
    asked_scope,
)
from memoranda.worlds.policies import (
    AnyHuman,
    AutoApprove,
    HumanInTheLoop,
    OnTimeout,
    PolicyRule,
    PolicyRules,
    Tribunal,
    quorum_from_wire,
)
from memoranda.worlds.proposal import AuthorityRef
from memoranda.worlds.snapshot import same_actor

P = TypeVar("P", bound=AuthorityPolicy)

_KINDS: Final[frozenset[str]] = frozenset(get_args(ActorKind))


@dataclass(frozen=True, slots=True)
class _Combined(InOwnName):
    """Policies that decide together; `judge` says how."""

    policies: Sequence[AuthorityPolicy]
    authority_id: str

    mode: ClassVar[str]

    def __post_init__(self) -> None:
        if not self.policies:
            raise InvalidWorld("$.policies", "there is no policy to decide it")
        object.__setattr__(self, "policies", tuple(self.policies))

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        """Whoever may vote in one that still waits."""
        reasons = [
            policy.may_vote(asked, actor)
            for policy in self.policies
            if isinstance(policy.judge(asked), Pending)
        ]
        if not reasons:
            return "it is decided"
        return None if None in reasons else reasons[0]

    def to_wire(self) -> dict[str, JsonValue]:
        policies = [policy.to_wire() for policy in self.policies]
        return {"mode": self.mode, "authorityId": self.authority_id, "policies": policies}


@dataclass(frozen=True, slots=True)
class AllOf(_Combined):
    """Approved when every policy approves; one that rejects decides for all."""

    authority_id: str = "all_of"

    mode = "all_of"

    def judge(self, asked: Asked, /) -> Verdict:
        """The first rejection; else what is still waited for; else all approve."""
        verdicts = [policy.judge(asked) for policy in self.policies]
        for verdict in verdicts:
            if isinstance(verdict, Rejected):
                return verdict
        if waiting := [verdict for verdict in verdicts if isinstance(verdict, Pending)]:
            return _waiting_for_all(waiting)
        approvals = [verdict for verdict in verdicts if isinstance(verdict, Approved)]
        return Approved(
            "; ".join(verdict.reason for verdict in approvals),
            asked_scope(asked),
            self.authority,
            timed_out=any(verdict.timed_out for verdict in approvals),
        )


@dataclass(frozen=True, slots=True)
class AnyOf(_Combined):
    """Approved when one policy approves; rejected when all reject."""

    authority_id: str = "any_of"

    mode = "any_of"

    def judge(self, asked: Asked, /) -> Verdict:
        """The first approval; else what is still waited for; else all reject."""
        verdicts = [policy.judge(asked) for policy in self.policies]
        for verdict in verdicts:
            if isinstance(verdict, Approved):
                return verdict
        if waiting := [verdict for verdict in verdicts if isinstance(verdict, Pending)]:
            return _waiting_for_all(waiting)
        rejections = [verdict for verdict in verdicts if isinstance(verdict, Rejected)]
        return Rejected(
            "; ".join(verdict.reason for verdict in rejections),
            self.authority,
            timed_out=any(verdict.timed_out for verdict in rejections),
        )


@dataclass(frozen=True, slots=True)
class ForActor:
    """Who proposes decides which policy holds: ``kind:id`` first, then ``kind``, then otherwise."""

    policies: Mapping[str, AuthorityPolicy]
    otherwise: AuthorityPolicy

    def __post_init__(self) -> None:
        for name in self.policies.keys() - _KINDS:
            parse_actor(name)  # a name that is neither would never hold
        object.__setattr__(self, "policies", MappingProxyType(dict(self.policies)))

    @property
    def authority(self) -> AuthorityRef:
        """The one for everybody who is not named."""
        return self.otherwise.authority

    def judge(self, asked: Asked, /) -> Verdict:
        return self.policy_for(asked).judge(asked)

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        return self.policy_for(asked).may_vote(asked, actor)

    def to_wire(self) -> dict[str, JsonValue]:
        """Each policy under the name of those for whom it holds."""
        policies = {name: policy.to_wire() for name, policy in self.policies.items()}
        return {
            "mode": "for_actor",
            "policies": policies,
            "otherwise": self.otherwise.to_wire(),
        }

    def policy_for(self, asked: Asked) -> AuthorityPolicy:
        actor = asked.proposal.actor
        by_kind = self.policies.get(actor.kind, self.otherwise)
        return self.policies.get(str(actor), by_kind)


@dataclass(frozen=True, slots=True)
class SeparateApprover:
    """Whoever proposed it has no vote; where nobody else is left to decide, it is rejected."""

    policy: AuthorityPolicy

    @property
    def authority(self) -> AuthorityRef:
        return self.policy.authority

    def judge(self, asked: Asked, /) -> Verdict:
        verdict = self.policy.judge(self._of_others(asked))
        if not isinstance(verdict, Pending):
            return verdict
        proposer = asked.proposal.actor
        others = tuple(who for who in verdict.waiting_for if not same_actor(who, proposer))
        if not others and verdict.until is None:
            return Rejected("nobody but the proposer is left to decide it", self.authority)
        return replace(verdict, waiting_for=others)

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        if same_actor(actor, asked.proposal.actor):
            return f"{actor} proposed it: somebody else has to decide it"
        return self.policy.may_vote(self._of_others(asked), actor)

    def to_wire(self) -> dict[str, JsonValue]:
        return {"mode": "separate_approver", "policy": self.policy.to_wire()}

    @staticmethod
    def _of_others(asked: Asked) -> Asked:
        proposer = asked.proposal.actor
        others = [vote for vote in asked.votes if not same_actor(vote.voter, proposer)]
        return replace(asked, votes=others)


def _waiting_for_all(waiting: Sequence[Pending]) -> Pending:
    actors = {(who.kind, who.actor_id): who for verdict in waiting for who in verdict.waiting_for}
    limits = [verdict.until for verdict in waiting if verdict.until is not None]
    return Pending(tuple(actors.values()), min(limits, default=None))


# -------------------------------------------------------------------- what is open

# What of a policy is still open once a proposal was judged: all that is written down with it.
#
# A verdict by rules, or by a function of the user's own, is made once, when the proposal is made.
# What is left is whoever has to answer: plain data, which anybody can judge by later.


def still_open(policy: AuthorityPolicy, asked: Asked) -> AuthorityPolicy:
    """The part of a policy that has to be satisfied yet; the policy must have judged Pending.

    Once a policy has decided, more votes change nothing: of several, the ones that have decided
    are left out, and what they said is kept by what is left.
    """
    match policy:
        case PolicyRules(escalate_to=behind) if behind is not None:
            return still_open(behind, asked)
        case ForActor():
            return still_open(policy.policy_for(asked), asked)
        case SeparateApprover(policy=inner):
            return SeparateApprover(still_open(inner, asked))
        case AllOf(policies=policies, authority_id=name):
            return AllOf(_waiting(policies, asked), name)
        case AnyOf(policies=policies, authority_id=name):
            return AnyOf(_waiting(policies, asked), name)
    return policy


def _waiting(policies: Sequence[AuthorityPolicy], asked: Asked) -> list[AuthorityPolicy]:
    return [
        still_open(policy, asked) for policy in policies if isinstance(policy.judge(asked), Pending)
    ]


# ------------------------------------------------------------------------- reading

# Policies read back from what was written down with a proposal.
#
# A policy that names a function of the user's own is read only where that function is handed in
# again: to pass over a rule that can't be judged could approve what it was there to reject.


Evaluators = Mapping[str, Callable[..., Any]]
"""The functions of `Custom` and `RiskAtLeast`, by name."""


def policy_from_wire(wire: JsonValue, evaluators: Evaluators | None = None) -> AuthorityPolicy:
    """The policy that `to_wire` wrote, or InvalidWorld where none of ours writes that."""
    return read_back(_policy, wire, evaluators or {})


def read_back(read: Callable[[JsonValue, Evaluators], P], wire: JsonValue, known: Evaluators) -> P:
    """What `read` makes of a document, if it writes all of that document again; InvalidWorld."""
    try:
        policy = read(wire, known)
        is_whole = canonical_bytes(policy.to_wire()) == canonical_bytes(wire)
    except (LookupError, TypeError, AttributeError) as refused:
        raise InvalidWorld("$", f"no policy is written so ({refused!r})") from None
    if not is_whole:
        raise InvalidWorld("$", "it has members that no policy of ours writes")
    return policy


def _policy(wire: JsonValue, known: Evaluators) -> AuthorityPolicy:
    match wire["mode"]:
        case "auto_approve":
            return AutoApprove(wire["reason"], wire["authorityId"])
        case "hitl":
            return HumanInTheLoop(_actors(wire["delegates"]), *_timing(wire), wire["authorityId"])
        case "any_human":
            return AnyHuman(_actors(wire["delegates"]), *_timing(wire), wire["authorityId"])
        case "tribunal":
            quorum = quorum_from_wire(wire["quorum"])
            return Tribunal(_actors(wire["members"]), quorum, *_timing(wire), wire["authorityId"])
        case "policy_rules":
            behind = wire.get("escalateTo")
            return PolicyRules(
                [_rule(rule, known) for rule in wire["rules"]],
                wire["defaultDecision"],
                None if behind is None else _policy(behind, known),
                wire["authorityId"],
            )
        case "all_of":
            return AllOf([_policy(value, known) for value in wire["policies"]], wire["authorityId"])
        case "any_of":
            return AnyOf([_policy(value, known) for value in wire["policies"]], wire["authorityId"])
        case "for_actor":
            named = {name: _policy(value, known) for name, value in wire["policies"].items()}
            return ForActor(named, _policy(wire["otherwise"], known))
        case "separate_approver":
            return SeparateApprover(_policy(wire["policy"], known))
        case mode:
            raise InvalidWorld("$.mode", f"no policy of ours has the mode {mode!r}")


def _rule(wire: JsonValue, known: Evaluators) -> PolicyRule:
    return PolicyRule(
        condition_from_wire(wire["condition"], known), wire["decision"], wire.get("reason")
    )


def condition_from_wire(wire: JsonValue, known: Evaluators) -> Condition:
    """The condition that `to_wire` wrote; LookupError, or InvalidWorld, where none of ours does."""
    match wire["kind"]:
        case "intent_type":
            return IntentType(wire["types"])
        case "scope_pattern":
            return ScopePattern(wire["pattern"])
        case "custom":
            return Custom(wire["evaluator"], _evaluator(wire["evaluator"], known))
        case "risk":
            function = _evaluator(wire["evaluator"], known)
            return RiskAtLeast(wire["level"], wire["evaluator"], function)
        case kind:
            raise InvalidWorld("$.condition.kind", f"no condition of ours is of the kind {kind!r}")


def _evaluator(name: str, known: Evaluators) -> Callable[..., Any]:
    if name not in known:
        raise InvalidWorld("$.condition.evaluator", f"no function is handed in for {name!r}")
    return known[name]


def _actors(wire: JsonValue) -> list[ActorRef]:
    return [ActorRef.model_validate(actor) for actor in wire]


def _timing(wire: JsonValue) -> tuple[int | None, OnTimeout]:
    return wire.get("timeout"), wire["onTimeout"]
