"""Policies decide by themselves, by rules, by a human's answer, or by the time that has passed."""

from typing import Any

import pytest

from memoranda.kernel.actors import parse_actor
from memoranda.kernel.ambient import check_reach
from memoranda.kernel.errors import InvalidActor, InvalidWorld, MemoryOutOfReach
from memoranda.worlds.authority import (
    Approved,
    Custom,
    IntentType,
    Pending,
    Rejected,
    RiskAtLeast,
    ScopePattern,
)
from memoranda.worlds.policies import AutoApprove, HumanInTheLoop, PolicyRule, PolicyRules
from memoranda.worlds.proposal import IntentScope, Proposal
from tests.worlds.making import T0, asked, proposal, vote

ANN, BOB = parse_actor("human:ann"), parse_actor("human:bob")
HOUR = 3_600_000
ASKING = HumanInTheLoop(["human:ann", BOB], timeout_ms=HOUR)


def judged_by(*rules: PolicyRule, about: Proposal | None = None, **more: Any) -> Any:
    return PolicyRules(rules, **more).judge(asked(about=about))


# ----------------------------------------------------------------------- automatic


def test_automatic_approval_approves_what_was_asked_for() -> None:
    scope = IntentScope(allowed_paths=("orders.*",))
    policy = AutoApprove("trusted")

    verdict = policy.judge(asked(about=proposal(scope_proposal=scope)))

    assert verdict == Approved("trusted", scope, policy.authority)
    assert policy.authority.to_wire() == {"authorityId": "auto", "kind": "auto"}
    assert policy.may_vote(asked(), ANN) is not None


# --------------------------------------------------------------------------- rules


def test_the_first_rule_that_holds_decides() -> None:
    rules = [
        PolicyRule(IntentType(["orders.drop"]), "reject", "never"),
        PolicyRule(ScopePattern("orders*"), "approve", "orders are fine"),
        PolicyRule(ScopePattern("*"), "reject"),
    ]

    assert judged_by(*rules).reason == "orders are fine"
    dropped = judged_by(*rules, about=proposal(action="orders.drop"))
    assert (type(dropped), dropped.reason) == (Rejected, "never")
    other = judged_by(*rules, about=proposal(action="users.add"))
    assert (type(other), other.reason) == (Rejected, "Policy rejection")


@pytest.mark.parametrize(("default", "kind"), [("approve", Approved), ("reject", Rejected)])
def test_where_no_rule_holds_the_default_decides(default: Any, kind: Any) -> None:
    verdict = judged_by(default=default)

    assert type(verdict) is kind
    assert verdict.reason == "Default policy decision"
    assert verdict.by.kind == "policy"


def test_a_rule_may_hand_the_decision_to_a_human() -> None:
    policy = PolicyRules(
        [PolicyRule(IntentType(["orders.add"]), "escalate")], "approve", escalate_to=ASKING
    )

    assert policy.judge(asked()) == Pending((ANN, BOB), T0 + HOUR)
    assert policy.may_vote(asked(), ANN) is None
    decided = policy.judge(asked(vote(ANN, "approve")))
    assert isinstance(decided, Approved)
    assert decided.by.kind == "human"
    other = asked(about=proposal(action="other"))
    assert isinstance(policy.judge(other), Approved)
    assert policy.may_vote(other, ANN) == "it is decided by rules"


def test_a_rule_that_escalates_to_nobody_is_refused() -> None:
    with pytest.raises(InvalidWorld):
        PolicyRules(default="escalate")
    with pytest.raises(InvalidWorld):
        PolicyRules([PolicyRule(ScopePattern("*"), "maybe")])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("pattern", "action", "holds"),
    [
        ("orders.*", "orders.add", True),
        ("orders.*", "ordersXadd", True),  # a dot is a regular expression's
        ("orders[.]*", "ordersXadd", False),
        ("orders.?dd", "orders.add", True),
        ("orders", "orders.add", False),
        ("*", "anything", True),
        ("ab+", "abbb", True),
        ("add|drop", "orders.drop", False),
        ("a*", "a\nb", False),
    ],
)
def test_a_scope_pattern_matches_the_whole_type(pattern: str, action: str, holds: bool) -> None:
    about = proposal(action=action)

    assert ScopePattern(pattern).holds(asked(about=about)) is holds


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidWorld):
        ScopePattern("orders(")


def test_a_function_of_ones_own_may_be_a_condition() -> None:
    rule = PolicyRule(Custom("large", lambda found: found.intent.body.input["n"] > 10), "reject")

    assert isinstance(judged_by(rule, about=proposal(input={"n": 11}), default="approve"), Rejected)
    assert isinstance(judged_by(rule, about=proposal(input={"n": 1}), default="approve"), Approved)


@pytest.mark.parametrize(
    ("level", "risk", "holds"),
    [("low", "low", True), ("medium", "low", False), ("medium", "high", True)],
)
def test_a_risk_holds_at_its_level_and_above(level: Any, risk: Any, holds: bool) -> None:
    assert RiskAtLeast(level, "assess", lambda _: risk).holds(asked()) is holds


def test_what_is_no_risk_is_refused() -> None:
    with pytest.raises(InvalidWorld):
        RiskAtLeast("huge", "assess", lambda _: "low")  # type: ignore[arg-type]
    with pytest.raises(InvalidWorld):
        RiskAtLeast("low", "assess", lambda _: "none").holds(asked())  # type: ignore[arg-type,return-value]


@pytest.mark.rule("M-4")
def test_an_authority_reads_the_trace_and_never_reaches_memory() -> None:
    def selects_again(_found: Proposal) -> bool:
        check_reach()
        return True

    with pytest.raises(MemoryOutOfReach):
        judged_by(PolicyRule(Custom("selects", selects_again), "approve"))


def test_a_condition_can_not_change_what_it_judges() -> None:
    def changes_it(found: Proposal) -> bool:
        found.intent.body.input["n"] = 99
        return True

    about = proposal(input={"n": 1})

    judged_by(PolicyRule(Custom("changes", changes_it), "approve"), about=about)

    assert about.intent.body.input == {"n": 1}


# --------------------------------------------------------------------------- humans


def test_until_somebody_answers_it_waits() -> None:
    assert ASKING.judge(asked()) == Pending((ANN, BOB), T0 + HOUR)
    assert HumanInTheLoop("human:ann").judge(asked()) == Pending((ANN,), None)


def test_the_first_who_approves_or_rejects_decides() -> None:
    yes, no = vote(ANN, "approve", why="looks right"), vote(BOB, "reject")

    approved = ASKING.judge(asked(yes, no))
    assert approved == Approved("looks right", None, ASKING.authority)
    assert ASKING.judge(asked(no, yes)) == Rejected("human:bob says reject", ASKING.authority)


def test_whoever_abstains_leaves_it_to_the_others() -> None:
    abstained = vote(ANN, "abstain")

    assert ASKING.judge(asked(abstained)) == Pending((BOB,), T0 + HOUR)
    assert isinstance(ASKING.judge(asked(abstained, vote(BOB, "approve"))), Approved)
    assert isinstance(ASKING.judge(asked(abstained, vote(BOB, "abstain"))), Rejected)


def test_the_vote_of_somebody_else_counts_for_nothing() -> None:
    agent = parse_actor("agent:ann")  # the same id, another kind

    assert isinstance(ASKING.judge(asked(vote(agent, "approve"))), Pending)
    assert ASKING.may_vote(asked(), agent) == "agent:ann is not among those who decide it"


def test_nobody_votes_twice() -> None:
    first, second = vote(ANN, "abstain"), vote(ANN, "approve")

    assert ASKING.may_vote(asked(first), ANN) == "human:ann has voted already"
    assert isinstance(ASKING.judge(asked(first, second)), Pending)


def test_nobody_votes_about_what_is_decided() -> None:
    assert ASKING.may_vote(asked(vote(ANN, "approve")), BOB) == "it is decided"


@pytest.mark.parametrize(("outcome", "kind"), [("approve", Approved), ("reject", Rejected)])
def test_when_the_time_is_over_its_outcome_is_done(outcome: Any, kind: type) -> None:
    policy = HumanInTheLoop("human:ann", timeout_ms=10, on_timeout=outcome)

    assert isinstance(policy.judge(asked(now=T0 + 9)), Pending)
    verdict = policy.judge(asked(now=T0 + 10))
    assert isinstance(verdict, kind)
    assert verdict.timed_out  # type: ignore[union-attr]
    assert policy.may_vote(asked(now=T0 + 10), ANN) == "the time to vote is over"


def test_a_vote_in_time_counts_whenever_it_is_judged_and_a_late_one_never() -> None:
    policy = HumanInTheLoop("human:ann", timeout_ms=10)

    assert isinstance(policy.judge(asked(vote(ANN, "approve", at=T0 + 9), now=T0 + 99)), Approved)
    late = policy.judge(asked(vote(ANN, "approve", at=T0 + 10), now=T0 + 99))
    assert late == Rejected("nobody decided in time: reject", policy.authority, timed_out=True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"delegates": []},
        {"delegates": "human:ann", "timeout_ms": -1},
        {"delegates": "human:ann", "timeout_ms": 1.5},
        {"delegates": "human:ann", "on_timeout": "wait"},
    ],
)
def test_a_policy_that_asks_nobody_or_never_ends_so_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidWorld):
        HumanInTheLoop(**wrong)
    with pytest.raises(InvalidActor):
        HumanInTheLoop("ann")
