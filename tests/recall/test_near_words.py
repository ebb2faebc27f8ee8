"""Words that may stand for a word of a question."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memoranda.recall.near_words import (
    LEAST,
    NEAR_WEIGHT,
    NEAREST,
    TYPED_WEIGHT,
    StandIn,
    Vocabulary,
    edits,
)
from memoranda.recall.question import asked


class Angles:
    """Words in a plane: how near two are is the cosine of the angle between them."""

    def __init__(self, **degrees: float) -> None:
        self._degrees = degrees

    def of_tokens(self, tokens: Sequence[str]) -> NDArray[Any]:
        angles = np.radians([self._degrees.get(token, 0) for token in tokens])
        known = np.array([token in self._degrees for token in tokens], float)
        return np.stack([np.cos(angles) * known, np.sin(angles) * known], axis=1)


def vocabulary(*tokens: str) -> Vocabulary:
    found = Vocabulary()
    found.add(tokens)
    return found


def test_near_words_of_the_vocabulary_stand_for_a_word() -> None:
    model = Angles(doctor=0, physician=20, nurs=60, weather=90)

    found = vocabulary("physician", "nurs", "weather").stand_ins(asked("her doctor?"), model)

    assert [stand_in[0] for stand_in in found["doctor"]] == ["physician", "nurs"]
    assert found["doctor"][0].weight == pytest.approx(
        NEAR_WEIGHT * np.cos(np.radians(20)), abs=1e-3
    )
    assert all(stand_in.is_near for stand_in in found["doctor"])


def test_what_comes_later_is_found_as_if_it_had_always_been_there() -> None:
    model = Angles(doctor=0, physician=20, surgeon=10)
    question = asked("doctor")
    growing = vocabulary("physician")
    before = growing.stand_ins(question, model)
    growing.add(["surgeon", "physician"])

    at_once = vocabulary("surgeon", "physician").stand_ins(question, model)

    assert [one[0] for one in before["doctor"]] == ["physician"]
    assert growing.stand_ins(question, model) == at_once
    assert [one[0] for one in at_once["doctor"]] == ["surgeon", "physician"]


def test_a_word_does_not_stand_for_itself() -> None:
    assert vocabulary("doctor").stand_ins(asked("doctor"), Angles(doctor=0)) == {}


def test_no_more_than_the_nearest_stand_for_a_word() -> None:
    words = {f"w{'abcdefghijklmnopqrst'[n]}": n for n in range(20)}

    found = vocabulary(*words).stand_ins(asked("wanted"), Angles(want=0, **words))["want"]

    assert len(found) == NEAREST
    assert found[0][0] == "wa"
    assert all(stand_in.weight >= NEAR_WEIGHT * LEAST for stand_in in found)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("docter", "doctor"), ("dotcor", "doctor"), ("docto", "doctor"), ("alergicc", "allergic")],
)
def test_a_word_that_the_scope_has_not_may_be_misspelt(typed: str, meant: str) -> None:
    found = vocabulary("doctor", "allergic", "weather").stand_ins(asked(typed), None)

    assert found == {typed: (StandIn(meant, TYPED_WEIGHT, is_near=False),)}


@pytest.mark.parametrize("word", ["doctor", "dog", "dokteur", "1979", "고객"])
def test_what_is_known_short_far_or_no_plain_word_is_not_corrected(word: str) -> None:
    assert vocabulary("doctor", "dot", "1978", "고객").stand_ins(asked(word), None) == {}


letters = st.text(st.sampled_from("abc"), max_size=6)


@given(letters, letters)
def test_the_number_of_edits_is_a_distance(word: str, other: str) -> None:
    found = edits(word, other, 9)

    assert found == edits(other, word, 9)
    assert (found == 0) == (word == other)
    assert abs(len(word) - len(other)) <= found <= max(len(word), len(other))
    assert edits(word, other, 1) == min(found, 2)
