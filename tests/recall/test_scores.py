"""Scores that are added up, and the probability that follows from them."""

import numpy as np
import pytest

from memoranda.recall.scores import (
    HIGHEST,
    IN_THREADS,
    NOTHING,
    NOTHING_BY_WORDS,
    TYPICAL,
    Evidence,
    Unrelated,
    alone,
    confidences,
    deviations,
    in_threads,
    nothing_among,
)
from memoranda.recall.sureness import sureness


def evidence(**columns: list[float]) -> Evidence:
    number = len(next(iter(columns.values())))
    empty = {name: np.zeros(number) for name in Evidence._fields}
    return Evidence(**{**empty, **{name: np.array(found) for name, found in columns.items()}})


@pytest.mark.parametrize(
    ("column", "is_better"),
    [
        ("around", True),
        ("said_by", True),
        ("in_time", True),
        ("length", True),
        ("is_question", False),
        ("answers", True),
        ("alike", True),
    ],
)
def test_each_number_counts_in_a_thread(column: str, is_better: bool) -> None:
    with_it, without = in_threads(evidence(**{column: [1.0, 0.0]}))

    assert (with_it > without) == is_better


def test_alone_and_without_a_model_words_decide() -> None:
    own = [0.1, 0.5, 0.3]

    assert np.argsort(-alone(evidence(own=own))).tolist() == [1, 2, 0]


def test_meaning_fills_what_words_leave() -> None:
    covered, near = alone(evidence(own=[0.6, 0.0], alike=[0.0, 4.0], length=[9, 9]))
    little, nearer = alone(evidence(own=[0.1, 0.05], alike=[0.0, 4.0], length=[9, 9]))

    assert covered > near
    assert nearer > little


def test_meaning_counts_more_where_no_record_has_more_than_a_word_by_chance() -> None:
    alike, length = [0.0, 0.0, 3.0], [9.0, 9.0, 9.0]
    few, some = (
        alone(evidence(own=[most, 0.0, 0.0], alike=alike, length=length)) for most in (0.1, 1)
    )

    assert few[2] - few[1] > some[2] - some[1]


@pytest.mark.parametrize("column", ["is_question", "length"])
def test_what_is_near_by_its_form_alone_is_not_as_near(column: str) -> None:
    columns = {"alike": [3.0, 3.0], "length": [9.0, 9.0], column: [1.0, 0.0]}
    formal, other = alone(evidence(**columns))

    assert (formal < other) == (column == "is_question")


def test_deviations_are_the_same_for_a_model_whose_texts_are_all_near_each_other() -> None:
    far = np.array([0.1, 0.2, 0.6, 0.1])

    assert deviations(far).tolist() == pytest.approx(deviations(0.7 + far / 4).tolist(), abs=2e-3)
    assert deviations(np.zeros(3)).tolist() == [0, 0, 0]
    assert deviations(np.zeros(0)).tolist() == []


def test_of_two_texts_the_nearer_one_is_near_only_if_the_model_says_so() -> None:
    unrelated = Unrelated(mean=0.1, spread=0.05)

    assert deviations(np.array([0.12, 0.08]))[0] == 1
    assert deviations(np.array([0.12, 0.08]), unrelated)[0] < 0.5
    assert deviations(np.array([0.5, 0.08]), unrelated)[0] > 2


def test_a_confidence_is_a_share() -> None:
    found = confidences(np.array([6.0, 4.0, 4.0]), 2.5)

    assert found[0] > found[1] == found[2]
    assert 0.5 < found.sum() < 1
    assert confidences(np.array([40.0]), 2.5).tolist() == [HIGHEST]
    assert confidences(np.zeros(0), 2.5).tolist() == []


def test_to_tell_one_of_many_takes_more() -> None:
    two, typical, many = (nothing_among(number, 5.0) for number in (2, TYPICAL, 100_000))

    assert two < typical == 5.0 < many


@pytest.mark.parametrize(
    ("alike", "nothing"), [([0.0, 0.0], NOTHING_BY_WORDS), ([0.0, 1.0], NOTHING)]
)
def test_in_a_store_of_two_records_a_weak_match_stays_weak(
    alike: list[float], nothing: float
) -> None:
    """A model finds one of two nearer than the other, whatever they are."""
    both = alone(evidence(own=[0.55, 0.03], alike=alike, length=[6, 6]))
    weak = alone(evidence(own=[0.0, 0.03], alike=alike, length=[6, 6]))
    among = nothing_among(2, nothing)

    assert sureness(float(confidences(both, among)[0])) == "likely"
    assert sureness(float(confidences(weak, among)[1])) == "weak"


def test_who_is_unheard_of_makes_it_weak() -> None:
    scores = alone(evidence(own=[0.4, 0.1]))

    assert sureness(float(confidences(scores, 2.5, is_unheard=True)[0])) == "weak"


def test_weights_have_a_name_each() -> None:
    assert len(IN_THREADS) == len(Evidence._fields)
