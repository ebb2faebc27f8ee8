"""Words that may stand for a word of a question."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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

    def of_token(self, token: str) -> np.ndarray:
        if token not in self._degrees:
            return np.zeros(2)
        angle = np.radians(self._degrees[token])
        return np.array([np.cos(angle), np.sin(angle)])


def test_near_words_of_the_vocabulary_stand_for_a_word() -> None:
    model = Angles(doctor=0, physician=20, nurs=60, weather=90)
    vocabulary = Vocabulary({"physician": 1, "nurs": 4, "weather": 9}, model)

    found = vocabulary.stand_ins(asked("Who is her doctor?"))

    assert [stand_in.token for stand_in in found["doctor"]] == ["physician", "nurs"]
    assert found["doctor"][0].weight == pytest.approx(
        NEAR_WEIGHT * np.cos(np.radians(20)), abs=1e-3
    )
    assert all(stand_in.is_near for stand_in in found["doctor"])


def test_a_word_does_not_stand_for_itself() -> None:
    assert Vocabulary({"doctor": 1}, Angles(doctor=0)).of("doctor") == ()


def test_no_more_than_the_nearest_stand_for_a_word() -> None:
    words = {f"w{'abcdefghijklmnopqrst'[n]}": n for n in range(20)}
    model = Angles(asked=0, **words)

    found = Vocabulary(dict.fromkeys(words, 1), model).of("asked")

    assert len(found) == NEAREST
    assert found[0][0] == "wa"
    assert all(stand_in.weight >= NEAR_WEIGHT * LEAST for stand_in in found)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("docter", "doctor"), ("dotcor", "doctor"), ("docto", "doctor"), ("alergicc", "allergic")],
)
def test_a_word_that_the_scope_has_not_may_be_misspelt(typed: str, meant: str) -> None:
    vocabulary = Vocabulary({"doctor": 3, "allergic": 1, "weather": 1})

    assert vocabulary.of(typed) == (StandIn(meant, TYPED_WEIGHT, is_near=False),)


@pytest.mark.parametrize("word", ["doctor", "dog", "dokteur", "1979", "고객"])
def test_what_is_known_short_far_or_no_plain_word_is_not_corrected(word: str) -> None:
    vocabulary = Vocabulary({"doctor": 3, "dot": 1, "1978": 1, "고객": 1})

    assert vocabulary.stand_ins(asked(word)) == {}


letters = st.text(st.sampled_from("abc"), max_size=6)


@given(letters, letters)
def test_the_number_of_edits_is_a_distance(word: str, other: str) -> None:
    found = edits(word, other, 9)

    assert found == edits(other, word, 9)
    assert (found == 0) == (word == other)
    assert abs(len(word) - len(other)) <= found <= max(len(word), len(other))
    assert edits(word, other, 1) == min(found, 2)
