"""Policies read back from what was written down with a proposal.

A policy that names a function of the user's own is read only where that function is handed in
again: to pass over a rule that can't be judged could approve what it was there to reject.
"""

from collections.abc import Callable, Mapping
from typing import Any

from memoranda.identity import canonical_bytes
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.worlds.authority import AuthorityPolicy
from memoranda.worlds.combining import AllOf, AnyOf, ForActor, SeparateApprover
from memoranda.worlds.conditions import Condition, Custom, IntentType, RiskAtLeast, ScopePattern
from memoranda.worlds.policies import (
    AutoApprove,
    HumanInTheLoop,
    OnTimeout,
    PolicyRule,
    PolicyRules,
)
from memoranda.worlds.tribunal import Tribunal, quorum_from_wire

Evaluators = Mapping[str, Callable[..., Any]]
"""The functions of `Custom` and `RiskAtLeast`, by name."""


def policy_from_wire(wire: JsonValue, evaluators: Evaluators | None = None) -> AuthorityPolicy:
    """The policy that `to_wire` wrote, or InvalidWorld where none of ours writes that."""
    try:
        policy = _policy(wire, evaluators or {})
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
            return AllOf([_policy(one, known) for one in wire["policies"]], wire["authorityId"])
        case "any_of":
            return AnyOf([_policy(one, known) for one in wire["policies"]], wire["authorityId"])
        case "for_actor":
            named = {name: _policy(one, known) for name, one in wire["policies"].items()}
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
