"""A proposal moves as the world protocol says, and holds nothing of the memory that is recalled."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import IllegalMove, InvalidWorld
from memoranda.worlds.proposal import (
    MOVES,
    Proposal,
    ProposalStatus,
    ProposalTrace,
    check_move,
)
from tests.worlds.making import proposal, vectors

STATES = vectors("proposal-states")
PAIRS: list[tuple[ProposalStatus, ProposalStatus]] = list(itertools.product(MOVES, MOVES))


@pytest.mark.parametrize(("status", "to"), PAIRS)
def test_exactly_the_moves_of_the_vectors_are_allowed(
    status: ProposalStatus, to: ProposalStatus
) -> None:
    if to in STATES["transitions"][status]:
        check_move("prop-1", status, to)
        return
    with pytest.raises(IllegalMove) as caught:
        check_move("prop-1", status, to)
    assert caught.value.code == "world.illegal_move"


def test_what_each_status_means_is_in_the_vectors() -> None:
    assert {status: sorted(to) for status, to in MOVES.items()} == {
        status: sorted(to) for status, to in STATES["transitions"].items()
    }
    assert {status for status in MOVES if not MOVES[status]} == set(STATES["terminal"])


def test_an_unknown_status_moves_nowhere() -> None:
    for status, to in (("pending", "approved"), ("submitted", "superseded")):
        with pytest.raises(IllegalMove):
            check_move("prop-1", status, to)


@given(st.lists(st.sampled_from(list(MOVES)), max_size=12))
def test_any_path_of_moves_stays_within_them(wanted: list[ProposalStatus]) -> None:
    seen: list[ProposalStatus] = ["submitted"]
    for to in wanted:
        try:
            check_move("prop-1", seen[-1], to)
        except IllegalMove:
            assert to not in MOVES[seen[-1]]
        else:
            seen.append(to)

    assert all(to in MOVES[status] for status, to in itertools.pairwise(seen))
    assert len(seen) == len(set(seen)) <= 5


def test_no_restriction_and_no_decision_yet_differ() -> None:
    wire = proposal().to_wire()

    assert "approvedScope" not in wire
    assert Proposal.from_wire({**wire, "approvedScope": None}).to_wire()["approvedScope"] is None


def test_it_reads_back_as_it_was_written() -> None:
    trace = ProposalTrace(summary="why", context={"memory": {"selected": []}})
    made = Proposal.from_wire({**proposal().to_wire(), "trace": trace.to_wire()})

    assert Proposal.from_wire(made.to_wire()) == made
    assert made.trace == trace


@pytest.mark.rule("MEM-CTX-1", "MIN-INVASION")
@pytest.mark.parametrize("member", ["memory", "memoryContext", "memoryTrace", "$app", "input"])
def test_no_member_of_it_is_for_memory(member: str) -> None:
    with pytest.raises(InvalidWorld) as caught:
        Proposal.from_wire({**proposal().to_wire(), member: {}})

    assert caught.value.code == "input.world"
    documented = {
        *("proposalId", "actor", "intent", "baseWorld", "status", "epoch", "executionKey"),
        *("trace", "submittedAt", "approvedScope", "decisionId", "resultWorld"),
        *("decidedAt", "completedAt"),
    }
    assert {field.alias for field in Proposal.model_fields.values()} == documented


def test_nobody_proposes_in_anothers_name() -> None:
    wire = proposal("agent:helper").to_wire()

    with pytest.raises(InvalidWorld):
        Proposal.from_wire({**wire, "actor": {"actorId": "helper", "kind": "human"}})
    named = {"actorId": "helper", "kind": "agent", "name": "The helper"}
    assert Proposal.from_wire({**wire, "actor": named}).actor.name == "The helper"


@pytest.mark.parametrize(
    "wrong", [{"trace": {"context": {"memory": {}}}}, {"status": "pending"}, {"epoch": -1}]
)
def test_what_is_no_proposal_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidWorld):
        Proposal.from_wire({**proposal().to_wire(), **wrong})
