"""Figures of what was found."""

import pytest

from memoranda.recall.figures import Graded, figures


def test_recall_counts_what_is_among_the_first() -> None:
    found = figures(
        [
            Graded(frozenset("a"), list("abc")),
            Graded(frozenset("xy"), list("0123x")),
            Graded(frozenset("z"), []),
        ]
    )

    assert found.recall == pytest.approx((1 / 3, 0.5, 0.5, 0.5))
    assert found.first == pytest.approx(1 / 3)
    assert found.reciprocal == pytest.approx((1 + 1 / 5) / 3)
    assert (found.questions, found.unanswerable, found.empty) == (3, 0, 1)


def test_what_has_no_answer_is_refused_by_nothing_or_by_doubt() -> None:
    found = figures(
        [
            Graded(frozenset(), []),
            Graded(frozenset(), ["a"], [0.1]),
            Graded(frozenset(), ["a"], [0.6]),
            Graded(frozenset("a"), ["a"], [0.6]),
        ]
    )

    assert found.refused == pytest.approx(2 / 3)
    assert found.recall == (1.0, 1.0, 1.0, 1.0)
    assert found.unanswerable == 3


def test_a_confidence_that_says_what_is_so_is_not_off() -> None:
    half = [Graded(frozenset("a"), ["a"], [0.5]), Graded(frozenset("a"), ["b"], [0.5])]
    sure = [Graded(frozenset("a"), ["b", "a"], [0.9, 0.0])]

    assert figures(half).off_first == 0
    assert figures(sure).off_first == pytest.approx(0.9)
    assert figures(sure).off_all == pytest.approx(0.95)
    assert figures(sure).said == pytest.approx(0.9)


def test_of_no_questions_there_are_no_figures() -> None:
    assert figures([]).document()["questions"] == 0
