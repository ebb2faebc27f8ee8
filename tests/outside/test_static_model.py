"""The vectors of words that a package brings along."""

from pathlib import Path

import numpy as np
import pytest

from memoranda.kernel.errors import DependencyMissing
from memoranda.outside import static_model
from memoranda.outside.korean_model import has_korean_model
from memoranda.outside.static_model import StaticModel, has_static_model

needs_weights = pytest.mark.skipif(not has_static_model(), reason="wordllama is not installed")


@pytest.fixture(scope="module")
def model() -> StaticModel:
    return StaticModel()


def near(model: StaticModel, question: str, *others: str) -> list[float]:
    vectors = [model.of_text(text) for text in (question, *others)]
    own, *rest = [vector / np.sqrt(vector @ vector) for vector in vectors]
    return [float(own @ other) for other in rest]


@needs_weights
def test_texts_that_mean_the_same_are_nearer_than_others(model: StaticModel) -> None:
    doctor, weather = near(
        model, "Who is her doctor?", "Anna's physician is Mr. Okafor", "It rains in the north"
    )

    assert doctor > weather + 0.1


@needs_weights
def test_words_of_grammar_and_capitals_change_nothing(model: StaticModel) -> None:
    (same,) = near(model, "What did the Doctor do?", "doctor")

    assert same == pytest.approx(1)


@needs_weights
def test_the_vector_of_a_stem_is_that_of_its_words(model: StaticModel) -> None:
    happi, doctor, physician, unknown = model.of_tokens(["happi", "doctor", "physician", "qqxz"])

    assert happi @ model.of_word("happy") > 0.8
    assert doctor @ physician > 0.5
    assert unknown @ unknown == pytest.approx(1)
    assert model.of_tokens([]).shape == (0, 256)


@needs_weights
def test_its_identity_names_its_weights(model: StaticModel) -> None:
    assert model.identity.startswith("wordllama-256@")
    assert model.identity == StaticModel().identity


@needs_weights
def test_other_weights_are_another_model(
    model: StaticModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, copy = static_model._place(), tmp_path
    assert place is not None
    for name in (static_model.WEIGHTS, static_model.TOKENIZER):
        (copy / name).parent.mkdir(exist_ok=True)
        (copy / name).write_bytes((place / name).read_bytes())
    with (copy / static_model.WEIGHTS).open("r+b") as file:
        file.seek(-1, 2)
        file.write(b"\x01")
    monkeypatch.setattr(static_model, "_place", lambda: copy)

    assert StaticModel().identity != model.identity


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static_model, "_place", lambda: None)

    with pytest.raises(DependencyMissing) as caught:
        StaticModel()

    assert caught.value.code == "store.dependency_missing"
    assert not static_model.has_static_model()


@needs_weights
@pytest.mark.skipif(not has_korean_model(), reason="kiwipiepy is not installed")
def test_korean_texts_that_mean_the_same_are_nearer_than_others(model: StaticModel) -> None:
    chord, holiday = near(model, "악기", "화음", "휴가")

    assert chord > holiday + 0.1
