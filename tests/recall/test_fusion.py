"""What a fusion of lists promises."""

from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.hybrid import MAIN, OTHER, Ranking, fused

scores = st.dictionaries(
    st.sampled_from("abcdefgh"), st.integers(1, 1000).map(float), max_size=8
).map(lambda found: sorted(found.items(), key=lambda one: (-one[1], one[0])))


def shares(ranking: Ranking) -> dict[str, float]:
    best = max((score for _, score in ranking), default=1.0)
    return {id: score / best for id, score in ranking}


@given(scores, scores)
def test_what_both_lists_hold_higher_stands_higher(one: Ranking, other: Ranking) -> None:
    found = [id for id, _ in fused([one, other])]
    first, second = shares(one), shares(other)

    assert set(found) == set(first) | set(second)
    for upper in found:
        for lower in found:
            ahead = (
                first.get(upper, 0) - first.get(lower, 0),
                second.get(upper, 0) - second.get(lower, 0),
            )
            if min(ahead) > 0:
                assert found.index(upper) < found.index(lower)


@given(scores)
def test_a_list_without_results_changes_no_order(one: Ranking) -> None:
    ids = [id for id, _ in one]

    assert [id for id, _ in fused([one, []])] == ids
    assert [id for id, _ in fused([[], one])] == ids


@given(scores, scores)
def test_a_clear_lead_in_the_main_list_is_never_overturned(one: Ranking, other: Ranking) -> None:
    found = [id for id, _ in fused([one, other])]
    first = shares(one)

    for upper, share in first.items():
        for lower in found:
            if share - first.get(lower, 0) > OTHER / MAIN + 1e-9:
                assert found.index(upper) < found.index(lower)


def test_lists_that_agree_are_fused_to_themselves() -> None:
    agreed = [("a", 9.0), ("b", 4.0), ("c", 1.0)]

    assert [id for id, _ in fused([agreed, agreed])] == ["a", "b", "c"]


def test_a_bad_list_does_not_drag_a_good_one_down() -> None:
    good = [("right", 10.0), ("second", 1.0), ("third", 0.9)]
    bad = [("third", 0.51), ("second", 0.5), ("noise", 0.49)]

    assert fused([good, bad])[0][0] == "right"
