"""The model that recall asks without being told."""

import asyncio

import numpy as np
import pytest

from memoranda.kernel.errors import DependencyMissing
from memoranda.models import embedded, similarities
from memoranda.outside import sentence_model
from memoranda.outside.sentence_model import SentenceModel, has_sentence_model
from memoranda.recall.near_words import WordVectors

pytestmark = pytest.mark.skipif(
    not has_sentence_model(), reason="the extra meaning is not installed"
)


@pytest.fixture(scope="module")
def model() -> SentenceModel:
    return SentenceModel()


def near(model: SentenceModel, question: str, *others: str) -> list[float]:
    vector, *vectors = asyncio.run(embedded(model, [question, *others]))
    return similarities(vector, vectors)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Who looks after her teeth?", "Anna's dentist is Dr. Okafor.", "It rains in the north."),
        ("어떤 악기를 다루나요?", "그는 피아노를 친다.", "내일은 비가 온다."),
        ("그는 어디에서 일하나요?", "He works at a bank.", "It rains in the north."),
    ],
)
def test_an_answer_without_a_word_of_the_question_is_near(
    model: SentenceModel, question: str, answer: str, other: str
) -> None:
    said, unsaid = near(model, question, answer, other)

    assert said > unsaid + 0.05


@pytest.mark.parametrize("text", ["", " ", "the", "?!", "\u0e01", "\U0001f600", "a" * 10_000])
def test_every_text_has_a_vector(model: SentenceModel, text: str) -> None:
    (vector,) = asyncio.run(model.embed([text]))

    assert len(vector) == model.dimensions
    assert np.isfinite(vector).all()
    assert any(vector)


def test_it_has_vectors_of_words_too(model: SentenceModel) -> None:
    assert isinstance(model, WordVectors)
    assert model.of_tokens(["doctor"]).shape == (1, 256)


def test_a_question_that_is_asked_again_is_not_computed_again(
    model: SentenceModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    (first,) = asyncio.run(model.embed(["Who is asked twice?"]))
    monkeypatch.setattr(model, "_of_texts", None)

    assert asyncio.run(model.embed(["Who is asked twice?"])) == [first]


def test_its_identity_names_both_weights(model: SentenceModel) -> None:
    assert model.identity.startswith("use-multilingual-3@")
    assert "+wordllama-256@" in model.identity
    assert model.identity == SentenceModel().identity


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_model, "_place", lambda: None)

    with pytest.raises(DependencyMissing) as caught:
        SentenceModel()

    assert caught.value.code == "store.dependency_missing"
    assert not has_sentence_model()
