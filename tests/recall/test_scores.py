"""Scores that are added up, and the probability that follows from them."""

import numpy as np
import pytest

from memoranda.recall.scores import (
    HIGHEST,
    IN_THREADS,
    MOST_ALIKE,
    Evidence,
    alone,
    confidences,
    deviations,
    in_threads,
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
    covered, near = alone(evidence(own=[0.6, 0.0], alike=[0.0, MOST_ALIKE]))
    little, nearer = alone(evidence(own=[0.1, 0.05], alike=[0.0, 4.0]))

    assert covered > near
    assert nearer > little


def test_deviations_are_the_same_for_a_model_whose_texts_are_all_near_each_other() -> None:
    far = np.array([0.1, 0.2, 0.6, 0.1])

    assert deviations(far).tolist() == pytest.approx(deviations(0.7 + far / 4).tolist(), abs=2e-3)
    assert deviations(np.zeros(3)).tolist() == [0, 0, 0]
    assert deviations(np.zeros(0)).tolist() == []


def test_a_confidence_is_a_share() -> None:
    found = confidences(np.array([6.0, 4.0, 4.0]))

    assert found[0] > found[1] == found[2]
    assert 0.5 < found.sum() < 1
    assert confidences(np.array([40.0])).tolist() == [HIGHEST]
    assert confidences(np.zeros(0)).tolist() == []


def test_in_a_store_of_two_records_a_weak_match_stays_weak() -> None:
    nothing, all_words = alone(evidence(own=[0.03, 0.55]))

    assert sureness(float(confidences(np.array([nothing]))[0])) == "weak"
    assert sureness(float(confidences(np.array([all_words, nothing]))[0])) == "likely"


def test_who_is_unheard_of_makes_it_weak() -> None:
    scores = alone(evidence(own=[0.4, 0.1]))

    assert sureness(float(confidences(scores, is_unheard=True)[0])) == "weak"


def test_weights_have_a_name_each() -> None:
    assert len(IN_THREADS) == len(Evidence._fields)
