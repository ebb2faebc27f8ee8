"""A tribunal decides as the vectors say, in whatever order its members vote."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.actors import parse_actor
from memoranda.kernel.errors import InvalidWorld
from memoranda.worlds.authority import Approved, Pending, Rejected, Verdict
from memoranda.worlds.policies import (
    Majority,
    Quorum,
    Threshold,
    Tribunal,
    Unanimous,
    quorum_from_wire,
)
from memoranda.worlds.proposal import IntentScope, VoteChoice
from tests.worlds.making import T0, asked, proposal, vectors, vote

VECTORS = vectors("tribunal")["tribunal"]


def member(number: int) -> str:
    return f"human:m{number}"


def tribunal(members: int, quorum: Quorum, **more: Any) -> Tribunal:
    return Tribunal([member(number) for number in range(members)], quorum, **more)


def judged(court: Tribunal, votes: list[tuple[int, VoteChoice]]) -> Verdict:
    return court.judge(asked(*[vote(member(number), choice) for number, choice in votes]))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["name"]))
def test_a_tribunal_decides_as_the_vectors_say(vector: dict[str, Any]) -> None:
    court = tribunal(vector["members"], quorum_from_wire(vector["quorum"]))
    cast: list[tuple[int, VoteChoice]] = list(enumerate(vector["votes"]))
    verdicts = [judged(court, cast[:number]) for number in range(len(cast) + 1)]

    used, result = vector["votes_used"], vector["result"]

    assert all(isinstance(verdict, Pending) for verdict in verdicts[:used])
    if result is None:
        assert isinstance(verdicts[used], Pending)
    elif result["kind"] == "approved":
        assert verdicts[used] == Approved(
            f"Tribunal approved ({vector['votes'][:used].count('approve')}/{vector['members']}"
            " approved)",
            result["approvedScope"],
            court.authority,
        )
    else:
        assert verdicts[used] == Rejected(result["reason"], court.authority)


courts = st.integers(1, 5).flatmap(
    lambda members: st.builds(
        tribunal,
        st.just(members),
        st.just(Unanimous())
        | st.just(Majority())
        | st.integers(0, members).map(lambda count: Threshold(count=count)),
    )
)
choices: st.SearchStrategy[VoteChoice] = st.sampled_from(["approve", "reject", "abstain"])


@st.composite
def sessions(draw: st.DrawFn) -> tuple[Tribunal, list[tuple[int, VoteChoice]]]:
    """A tribunal, and the votes of some of its members, once each."""
    court = draw(courts)
    voters = draw(st.lists(st.integers(0, len(court.members) - 1), unique=True))
    return court, [(number, draw(choices)) for number in voters]


@given(sessions(), st.randoms())
def test_the_order_of_the_votes_does_not_matter(
    session: tuple[Tribunal, list[tuple[int, VoteChoice]]], chance: Any
) -> None:
    court, votes = session
    shuffled = chance.sample(votes, len(votes))

    assert judged(court, votes) == judged(court, shuffled)


@given(sessions())
def test_nothing_is_both_approved_and_rejected(
    session: tuple[Tribunal, list[tuple[int, VoteChoice]]],
) -> None:
    court, votes = session
    kinds = [type(judged(court, votes[:number])) for number in range(len(votes) + 1)]
    decided = [kind for kind in kinds if kind is not Pending]

    assert len(set(decided)) <= 1
    assert kinds == [Pending] * (len(kinds) - len(decided)) + decided
    if len(votes) == len(court.members):
        assert decided


@given(sessions(), st.data())
def test_second_votes_and_strangers_count_for_nothing(
    session: tuple[Tribunal, list[tuple[int, VoteChoice]]], data: st.DataObject
) -> None:
    court, votes = session
    noise = [(number, data.draw(choices)) for number, _ in votes] + [(99, data.draw(choices))]

    assert judged(court, [*votes, *noise]) == judged(court, votes)


def test_it_waits_for_those_who_have_not_voted() -> None:
    court = tribunal(3, Majority(), timeout_ms=50)

    verdict = judged(court, [(1, "approve")])

    assert verdict == Pending((parse_actor(member(0)), parse_actor(member(2))), T0 + 50)


def test_only_members_vote_once_each_in_time() -> None:
    court = tribunal(2, Majority(), timeout_ms=50)
    one = parse_actor(member(1))

    assert court.may_vote(asked(), one) is None
    assert court.may_vote(asked(vote(one, "abstain")), one) is not None
    assert court.may_vote(asked(), parse_actor("human:eve")) is not None
    assert court.may_vote(asked(now=T0 + 50), one) == "the time to vote is over"
    unanimous = tribunal(2, Unanimous())
    assert unanimous.may_vote(asked(vote(member(0), "reject")), one) == "it is decided"


@pytest.mark.parametrize(("outcome", "kind"), [("approve", Approved), ("reject", Rejected)])
def test_a_tribunal_that_does_not_decide_in_time_has_an_outcome(outcome: Any, kind: type) -> None:
    court = tribunal(3, Unanimous(), timeout_ms=50, on_timeout=outcome)
    cast = [vote(member(0), "approve")]

    assert isinstance(court.judge(asked(*cast, now=T0 + 49)), Pending)
    verdict = court.judge(asked(*cast, now=T0 + 50))
    assert isinstance(verdict, kind)
    assert verdict.timed_out  # type: ignore[union-attr]


def test_an_approval_is_for_the_scope_that_was_asked_for() -> None:
    scope = IntentScope(allowed_paths=("orders.*",))
    about = proposal(scope_proposal=scope)

    verdict = tribunal(1, Unanimous()).judge(asked(vote(member(0), "approve"), about=about))

    assert isinstance(verdict, Approved)
    assert verdict.scope == scope


@pytest.mark.parametrize(
    ("members", "quorum"),
    [
        ([], Majority()),
        (["human:a", "human:a"], Majority()),
        (["human:a", "human:b"], Threshold(count=3)),
    ],
)
def test_a_tribunal_that_could_not_decide_is_refused(members: list[str], quorum: Quorum) -> None:
    with pytest.raises(InvalidWorld):
        Tribunal(members, quorum)


@pytest.mark.parametrize(
    "wrong",
    [None, {}, {"kind": "half"}, {"kind": "threshold"}, {"kind": "threshold", "count": -1}],
)
def test_what_is_no_quorum_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidWorld):
        quorum_from_wire(wrong)
