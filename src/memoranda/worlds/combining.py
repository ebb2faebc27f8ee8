"""Policies made of policies: all of them, any of them, one for each actor, somebody else's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, get_args

from memoranda.kernel.actors import ActorKind, ActorRef, parse_actor
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.worlds.authority import (
    Approved,
    Asked,
    AuthorityPolicy,
    Pending,
    Rejected,
    Verdict,
    asked_scope,
)
from memoranda.worlds.decision import AuthorityRef
from memoranda.worlds.values import same_actor

_KINDS: Final[frozenset[str]] = frozenset(get_args(ActorKind))


@dataclass(frozen=True, slots=True)
class AllOf:
    """Approved when every policy approves; one that rejects decides for all."""

    policies: Sequence[AuthorityPolicy]
    authority_id: str = "all_of"

    def __post_init__(self) -> None:
        object.__setattr__(self, "policies", _some(self.policies))

    @property
    def authority(self) -> AuthorityRef:
        """A policy."""
        return AuthorityRef(authority_id=self.authority_id, kind="policy")

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

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        """Whoever may vote in one that still waits."""
        return _any_may_vote(self.policies, asked, actor)

    def to_wire(self) -> dict[str, JsonValue]:
        """Every policy in it."""
        policies = [policy.to_wire() for policy in self.policies]
        return {"mode": "all_of", "authorityId": self.authority_id, "policies": policies}


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Approved when one policy approves; rejected when all reject."""

    policies: Sequence[AuthorityPolicy]
    authority_id: str = "any_of"

    def __post_init__(self) -> None:
        object.__setattr__(self, "policies", _some(self.policies))

    @property
    def authority(self) -> AuthorityRef:
        """A policy."""
        return AuthorityRef(authority_id=self.authority_id, kind="policy")

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

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        """Whoever may vote in one that still waits."""
        return _any_may_vote(self.policies, asked, actor)

    def to_wire(self) -> dict[str, JsonValue]:
        """Every policy in it."""
        policies = [policy.to_wire() for policy in self.policies]
        return {"mode": "any_of", "authorityId": self.authority_id, "policies": policies}


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
        """What the policy for the proposer says."""
        return self.policy_for(asked).judge(asked)

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        """Those of the policy for the proposer."""
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
        """The policy that holds for the proposer."""
        actor = asked.proposal.actor
        by_kind = self.policies.get(actor.kind, self.otherwise)
        return self.policies.get(str(actor), by_kind)


@dataclass(frozen=True, slots=True)
class SeparateApprover:
    """Whoever proposed it has no vote; where nobody else is left to decide, it is rejected."""

    policy: AuthorityPolicy

    @property
    def authority(self) -> AuthorityRef:
        """That of the policy."""
        return self.policy.authority

    def judge(self, asked: Asked, /) -> Verdict:
        """What the policy says by the others' votes."""
        verdict = self.policy.judge(self._of_others(asked))
        if not isinstance(verdict, Pending):
            return verdict
        proposer = asked.proposal.actor
        others = tuple(who for who in verdict.waiting_for if not same_actor(who, proposer))
        if not others and verdict.until is None:
            return Rejected("nobody but the proposer is left to decide it", self.authority)
        return replace(verdict, waiting_for=others)

    def may_vote(self, asked: Asked, actor: ActorRef, /) -> str | None:
        """Those of the policy, but for the proposer."""
        if same_actor(actor, asked.proposal.actor):
            return f"{actor} proposed it: somebody else has to decide it"
        return self.policy.may_vote(self._of_others(asked), actor)

    def to_wire(self) -> dict[str, JsonValue]:
        """The policy in it."""
        return {"mode": "separate_approver", "policy": self.policy.to_wire()}

    @staticmethod
    def _of_others(asked: Asked) -> Asked:
        proposer = asked.proposal.actor
        others = [vote for vote in asked.votes if not same_actor(vote.voter, proposer)]
        return replace(asked, votes=others)


def _some(policies: Sequence[AuthorityPolicy]) -> tuple[AuthorityPolicy, ...]:
    if not policies:
        raise InvalidWorld("$.policies", "there is no policy to decide it")
    return tuple(policies)


def _waiting_for_all(waiting: Sequence[Pending]) -> Pending:
    """Everybody who is waited for, each once, until the first limit of all."""
    actors = {(who.kind, who.actor_id): who for verdict in waiting for who in verdict.waiting_for}
    limits = [verdict.until for verdict in waiting if verdict.until is not None]
    return Pending(tuple(actors.values()), min(limits, default=None))


def _any_may_vote(policies: Sequence[AuthorityPolicy], asked: Asked, actor: ActorRef) -> str | None:
    reasons = [
        policy.may_vote(asked, actor)
        for policy in policies
        if isinstance(policy.judge(asked), Pending)
    ]
    if not reasons:
        return "it is decided"
    return None if None in reasons else reasons[0]
