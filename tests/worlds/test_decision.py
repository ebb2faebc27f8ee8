"""Decisions are on record with their authority, their actor, and what was decided."""

from typing import Any

import pytest

from memoranda.kernel.actors import parse_actor
from memoranda.kernel.errors import InvalidActor, InvalidWorld
from memoranda.worlds.authority import Approved, Rejected, decision_record
from memoranda.worlds.proposal import (
    ApprovedDecision,
    AuthorityRef,
    DecisionRecord,
    IntentScope,
    RejectedDecision,
    TimeoutDecision,
    TribunalDecisionRecord,
)
from tests.worlds.making import T0, asked, vote

ANN = parse_actor("human:ann")
HUMAN = AuthorityRef(authority_id="human", kind="human")
TRIBUNAL = AuthorityRef(authority_id="court", kind="tribunal")


def record(verdict: Approved | Rejected, *votes: Any) -> DecisionRecord:
    return decision_record(asked(*votes), verdict, decision_id="dec-1", decided_by=ANN)


@pytest.mark.rule("R-3")
def test_a_record_names_the_authority_and_the_actor_apart() -> None:
    made = record(Approved("fine", None, HUMAN))

    assert made.to_wire() == {
        "decisionId": "dec-1",
        "proposalId": "prop-1",
        "authority": {"authorityId": "human", "kind": "human"},
        "decision": {"kind": "approved"},
        "approvedScope": None,
        "reasoning": "fine",
        "decidedAt": T0 + 10,
        "decidedBy": {"actorId": "ann", "kind": "human"},
    }
    assert DecisionRecord.from_wire(made.to_wire()) == made


@pytest.mark.parametrize(
    ("verdict", "decision", "is_approved"),
    [
        (Approved("r", None, HUMAN), ApprovedDecision(), True),
        (Rejected("r", HUMAN), RejectedDecision(reason="r"), False),
        (Approved("r", None, HUMAN, timed_out=True), TimeoutDecision(action="approved"), True),
        (Rejected("r", HUMAN, timed_out=True), TimeoutDecision(action="rejected"), False),
    ],
)
def test_a_verdict_is_on_record_as_what_it_is(
    verdict: Approved | Rejected, decision: Any, is_approved: bool
) -> None:
    made = record(verdict)

    assert made.decision == decision
    assert made.is_approved is is_approved
    assert DecisionRecord.from_wire(made.to_wire()) == made


def test_only_an_approval_has_a_scope() -> None:
    scope = IntentScope(allowed_paths=("orders.*",))

    assert record(Approved("r", scope, HUMAN)).approved_scope == scope
    assert "approvedScope" not in record(Rejected("r", HUMAN)).to_wire()


def test_a_tribunals_record_has_its_votes() -> None:
    votes = [vote("human:ann", "approve"), vote("human:bob", "reject", why="too large")]

    made = record(Rejected("r", TRIBUNAL), *votes)

    assert isinstance(made, TribunalDecisionRecord)
    assert made.quorum_met
    assert made.to_wire()["votes"] == [
        {"voter": {"actorId": "ann", "kind": "human"}, "decision": "approve", "votedAt": T0 + 1},
        {
            "voter": {"actorId": "bob", "kind": "human"},
            "decision": "reject",
            "reasoning": "too large",
            "votedAt": T0 + 1,
        },
    ]
    assert TribunalDecisionRecord.from_wire(made.to_wire()) == made


def test_a_tribunal_that_ran_out_of_time_met_no_quorum() -> None:
    made = record(Rejected("r", TRIBUNAL, timed_out=True))

    assert isinstance(made, TribunalDecisionRecord)
    assert not made.quorum_met


@pytest.mark.parametrize(
    "decision",
    [
        {"kind": "rejected"},
        {"kind": "rejected", "reason": ""},
        {"kind": "timeout", "action": "maybe"},
        {"kind": "approved", "reason": "r"},
        {"kind": "pending"},
        {},
    ],
)
def test_what_is_no_decision_is_refused(decision: dict[str, Any]) -> None:
    wire = record(Approved("r", None, HUMAN)).to_wire()

    with pytest.raises(InvalidWorld):
        DecisionRecord.from_wire({**wire, "decision": decision})


def test_a_decision_without_an_actor_is_refused() -> None:
    wire = record(Approved("r", None, HUMAN)).to_wire()

    with pytest.raises(InvalidActor):
        DecisionRecord.from_wire({**wire, "decidedBy": {"kind": "human"}})
    del wire["decidedBy"]
    with pytest.raises(InvalidWorld):
        DecisionRecord.from_wire(wire)
