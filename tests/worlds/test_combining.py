"""Policies combine: all, any, one for each actor, and somebody else than the proposer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.actors import parse_actor
from memoranda.kernel.errors import InvalidActor, InvalidWorld
from memoranda.worlds.authority import Approved, AuthorityPolicy, Pending, Rejected
from memoranda.worlds.composites import AllOf, AnyOf, ForActor, SeparateApprover
from memoranda.worlds.policies import AutoApprove, HumanInTheLoop, Majority, PolicyRules, Tribunal
from tests.worlds.making import T0, asked, proposal, vote

ANN, BOB = parse_actor("human:ann"), parse_actor("human:bob")
YES, NO = AutoApprove("yes"), PolicyRules()
ASK_ANN = HumanInTheLoop("human:ann", timeout_ms=50, authority_id="ann")
ASK_BOB = HumanInTheLoop("human:bob", timeout_ms=20, on_timeout="approve", authority_id="bob")


# -------------------------------------------------------------------- all of, any of


def test_all_of_approves_when_each_does() -> None:
    both = AllOf([YES, ASK_ANN, ASK_BOB])

    assert both.judge(asked()) == Pending((ANN, BOB), T0 + 20)
    assert both.judge(asked(vote(BOB, "approve"))) == Pending((ANN,), T0 + 50)
    verdict = both.judge(asked(vote(BOB, "approve"), vote(ANN, "approve", why="fine")))
    assert verdict == Approved("yes; fine; human:bob says approve", None, both.authority)


def test_one_who_rejects_decides_for_all() -> None:
    verdict = AllOf([YES, ASK_ANN, ASK_BOB]).judge(asked(vote(BOB, "reject", why="no")))

    assert verdict == Rejected("no", ASK_BOB.authority)


def test_a_time_out_within_all_of_stays_one() -> None:
    late = asked(vote(ANN, "approve"), now=T0 + 30)

    verdict = AllOf([ASK_ANN, ASK_BOB]).judge(late)

    assert isinstance(verdict, Approved)
    assert verdict.timed_out


def test_any_of_approves_when_one_does() -> None:
    either = AnyOf([NO, ASK_ANN, ASK_BOB])

    assert either.judge(asked()) == Pending((ANN, BOB), T0 + 20)
    verdict = either.judge(asked(vote(BOB, "approve")))
    assert verdict == Approved("human:bob says approve", None, ASK_BOB.authority)


def test_any_of_rejects_when_all_do() -> None:
    either = AnyOf([NO, ASK_ANN])

    verdict = either.judge(asked(vote(ANN, "reject", why="no")))

    assert verdict == Rejected("Default policy decision; no", either.authority)


@pytest.mark.parametrize("kind", [AllOf, AnyOf])
def test_whoever_is_still_waited_for_may_vote(kind: type[AllOf] | type[AnyOf]) -> None:
    policy = kind([ASK_ANN, ASK_BOB])

    assert policy.may_vote(asked(), BOB) is None
    assert policy.may_vote(asked(vote(BOB, "abstain")), BOB) is not None
    assert policy.may_vote(asked(), parse_actor("human:eve")) is not None
    assert kind([YES]).may_vote(asked(), ANN) == "it is decided"
    with pytest.raises(InvalidWorld):
        kind([])


# ------------------------------------------------------------------------- for actor


def test_who_proposes_decides_which_policy_holds() -> None:
    policy = ForActor({"human": YES, "agent": ASK_ANN, "agent:trusted": AutoApprove("known")}, NO)

    def judged(actor: str) -> object:
        return policy.judge(asked(about=proposal(actor)))

    assert judged("human:carl") == Approved("yes", None, YES.authority)
    assert judged("agent:helper") == Pending((ANN,), T0 + 50)
    assert judged("agent:trusted") == Approved("known", None, YES.authority)
    assert isinstance(judged("system:cron"), Rejected)
    assert policy.may_vote(asked(about=proposal("agent:helper")), ANN) is None
    assert policy.may_vote(asked(about=proposal("human:carl")), ANN) is not None


def test_a_policy_that_is_named_later_does_not_hold_for_those_before() -> None:
    named: dict[str, AuthorityPolicy] = {"agent": ASK_ANN}
    policy = ForActor(named, NO)

    named["agent"] = YES

    assert isinstance(policy.judge(asked()), Pending)


@pytest.mark.parametrize("name", ["agents", "robot:r", "agent:", ""])
def test_a_name_that_nobody_has_is_refused(name: str) -> None:
    with pytest.raises(InvalidActor):
        ForActor({name: YES}, NO)


# ----------------------------------------------------------------- separate approver


def test_whoever_proposed_it_can_not_approve_it() -> None:
    policy = SeparateApprover(HumanInTheLoop(["human:ann", "human:bob"]))
    own = proposal("human:ann")

    assert policy.may_vote(asked(about=own), ANN) == (
        "human:ann proposed it: somebody else has to decide it"
    )
    assert policy.may_vote(asked(about=own), BOB) is None
    assert policy.judge(asked(vote(ANN, "approve"), about=own)) == Pending((BOB,), None)
    both = asked(vote(ANN, "approve"), vote(BOB, "reject", why="no"), about=own)
    assert policy.judge(both) == Rejected("no", policy.authority)


def test_another_name_makes_nobody_else_of_the_proposer() -> None:
    policy = SeparateApprover(HumanInTheLoop(["human:ann", "human:bob"]))
    renamed = ANN.model_copy(update={"name": "Somebody else"})
    own = proposal("human:ann")

    assert policy.may_vote(asked(about=own), renamed) is not None
    assert isinstance(policy.judge(asked(vote(renamed, "approve"), about=own)), Pending)


def test_where_only_the_proposer_could_decide_it_is_rejected() -> None:
    own = proposal("human:ann")

    alone = SeparateApprover(HumanInTheLoop("human:ann"))
    assert isinstance(alone.judge(asked(about=own)), Rejected)
    court = SeparateApprover(Tribunal(["human:ann", "human:bob"], Majority()))
    assert isinstance(court.judge(asked(about=own)), Pending)
    assert isinstance(court.judge(asked(vote(BOB, "approve"), about=own)), Rejected)


def test_where_the_time_decides_it_waits_for_the_time() -> None:
    policy = SeparateApprover(HumanInTheLoop("human:ann", timeout_ms=20))
    own = proposal("human:ann")

    assert policy.judge(asked(about=own)) == Pending((), T0 + 20)
    late = policy.judge(asked(about=own, now=T0 + 20))
    assert isinstance(late, Rejected)
    assert late.timed_out


def test_others_proposals_are_judged_as_if_it_were_not_there() -> None:
    policy = SeparateApprover(ASK_ANN)

    assert policy.judge(asked(vote(ANN, "approve"))) == ASK_ANN.judge(asked(vote(ANN, "approve")))
    assert policy.authority == ASK_ANN.authority


# -------------------------------------------------------------------------- together

leaves = st.sampled_from([YES, NO, ASK_ANN, ASK_BOB, Tribunal([ANN, BOB], Majority())])
policies = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(AllOf)
        | st.lists(inner, min_size=1, max_size=3).map(AnyOf)
        | inner.map(SeparateApprover)
        | st.tuples(inner, inner).map(lambda two: ForActor({"human": two[0]}, two[1]))
    ),
    max_leaves=6,
)
votes = st.lists(
    st.builds(
        vote,
        st.sampled_from([ANN, BOB, parse_actor("human:eve")]),
        st.sampled_from(["approve", "reject", "abstain"]),
        at=st.just(T0 + 1),
    ),
    max_size=5,
)


@given(policies, votes, st.sampled_from(["human:ann", "agent:helper"]))
def test_what_is_decided_stays_decided(policy: AuthorityPolicy, cast: list, who: str) -> None:  # type: ignore[type-arg]
    about = proposal(who)
    decided: set[type] = set()
    for number in range(len(cast) + 1):
        for now in (T0 + 10, T0 + 30, T0 + 60) if number == len(cast) else (T0 + 10,):
            verdict = policy.judge(asked(*cast[:number], about=about, now=now))
            assert verdict == policy.judge(asked(*cast[:number], about=about, now=now))
            assert not decided or not isinstance(verdict, Pending)
            decided |= set() if isinstance(verdict, Pending) else {type(verdict)}

    assert len(decided) <= 1


@given(policies, votes)
def test_whoever_may_vote_is_waited_for(policy: AuthorityPolicy, cast: list) -> None:  # type: ignore[type-arg]
    question = asked(*cast)
    verdict = policy.judge(question)

    for actor in (ANN, BOB, parse_actor("human:eve")):
        if isinstance(verdict, Pending) and policy.may_vote(question, actor) is None:
            assert actor in verdict.waiting_for
