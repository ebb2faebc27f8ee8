"""A policy that was written down judges as the one that wrote it, or is not read at all."""

from typing import Any

import pytest
from hypothesis import given

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidWorld, MemorandaError
from memoranda.worlds.authority import (
    AuthorityPolicy,
    Custom,
    IntentType,
    RiskAtLeast,
    ScopePattern,
)
from memoranda.worlds.composites import AllOf, AnyOf, ForActor, SeparateApprover, policy_from_wire
from memoranda.worlds.policies import (
    AutoApprove,
    HumanInTheLoop,
    Majority,
    PolicyRule,
    PolicyRules,
    Threshold,
    Tribunal,
    Unanimous,
)
from memoranda.worlds.proposal import Proposal
from tests.worlds.making import asked, vote
from tests.worlds.test_combining import policies, votes


def is_large(_found: Proposal) -> bool:
    return True


def risk(_found: Proposal) -> Any:
    return "high"


EVALUATORS = {"large": is_large, "risk": risk}
NAMED = ActorRef(actor_id="ann", kind="human", name="Ann", meta={"team": 1})
ALL = [
    AutoApprove("fine", "a"),
    HumanInTheLoop([NAMED, "human:bob"], timeout_ms=5, on_timeout="approve"),
    HumanInTheLoop("human:ann"),
    Tribunal(["human:ann", "agent:b"], Unanimous(), timeout_ms=5),
    Tribunal(["human:ann"], Majority()),
    Tribunal(["human:ann"], Threshold(count=1), authority_id="court"),
    PolicyRules(),
    PolicyRules(
        [
            PolicyRule(IntentType(["a", "b"]), "approve", "fine"),
            PolicyRule(ScopePattern("a.*"), "reject"),
            PolicyRule(Custom("large", is_large), "escalate"),
            PolicyRule(RiskAtLeast("medium", "risk", risk), "reject"),
        ],
        "approve",
        HumanInTheLoop("human:ann"),
    ),
    AllOf([AutoApprove(), AnyOf([PolicyRules(), SeparateApprover(HumanInTheLoop("human:a"))])]),
    ForActor({"human": AutoApprove(), "agent:x": PolicyRules()}, HumanInTheLoop("human:ann")),
]


def stored(policy: AuthorityPolicy) -> Any:
    return decode(canonical_bytes(policy.to_wire()))


@pytest.mark.parametrize("policy", ALL, ids=lambda policy: str(policy.to_wire()["mode"]))
def test_every_policy_reads_back_as_it_was_written(policy: AuthorityPolicy) -> None:
    read = policy_from_wire(stored(policy), EVALUATORS)

    assert read == policy
    assert read.judge(asked()) == policy.judge(asked())
    assert stored(read) == stored(policy)


@given(policies, votes)
def test_what_was_read_judges_alike(policy: AuthorityPolicy, cast: list[Any]) -> None:
    read = policy_from_wire(stored(policy))

    assert read.judge(asked(*cast)) == policy.judge(asked(*cast))
    assert read.judge(asked(vote("human:ann", "approve"))) == policy.judge(
        asked(vote("human:ann", "approve"))
    )


def test_a_policy_with_a_function_that_is_not_handed_in_is_not_read() -> None:
    wire = stored(PolicyRules([PolicyRule(Custom("large", is_large), "reject")], "approve"))

    with pytest.raises(InvalidWorld) as caught:
        policy_from_wire(wire)

    assert caught.value.where == "$.condition.evaluator"


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        "auto_approve",
        {},
        {"mode": "unsafe"},
        {"mode": "auto_approve"},
        {**AutoApprove().to_wire(), "extra": 1},
        {**HumanInTheLoop("human:a").to_wire(), "timeout": None},
        {**HumanInTheLoop("human:a").to_wire(), "delegates": "human:a"},
        {**HumanInTheLoop("human:a").to_wire(), "delegates": [{"actorId": "a"}]},
        {**HumanInTheLoop("human:a").to_wire(), "onTimeout": "wait"},
        {**PolicyRules().to_wire(), "rules": 5},
        {**PolicyRules().to_wire(), "rules": [{"decision": "approve"}]},
        {
            **PolicyRules().to_wire(),
            "rules": [{"condition": {"kind": "weather"}, "decision": "approve"}],
        },
        {"mode": "all_of", "authorityId": "a", "policies": []},
        {"mode": "separate_approver", "policy": None},
    ],
)
def test_what_no_policy_writes_is_refused(wrong: Any) -> None:
    with pytest.raises(MemorandaError) as caught:
        policy_from_wire(wrong)

    assert caught.value.code in {"input.world", "input.actor"}
