"""What an embedder answers is looked at before it is kept, and kept so that sums are exact."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import DependencyMissing, ModelFailed
from memoranda.recall.embedder import embedded, packed, stored_as, unpacked
from memoranda.recall.vectors import similarities
from tests.journeys.embeddings.listing import by_definition
from tests.journeys.embeddings.toy import FailingEmbedder, LyingEmbedder, ToyEmbedder

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).filter(lambda x: x == 0 or abs(x) > 1e-6)
VECTORS = st.lists(NUMBERS, min_size=8, max_size=8).filter(any)
EIGHT = ToyEmbedder(dimensions=8)


@given(VECTORS)
def test_a_vector_is_kept_with_length_one(vector: list[float]) -> None:
    kept = unpacked(packed(vector, EIGHT))

    assert len(packed(vector, EIGHT)) == 8 * 4
    assert math.hypot(*kept) == pytest.approx(1, abs=1e-5)
    length = math.hypot(*vector)
    assert list(kept) == pytest.approx([x / length for x in vector], abs=1e-6)


@given(VECTORS, st.sampled_from([2.0, 0.25, 1024.0]))
def test_its_length_makes_no_difference(vector: list[float], factor: float) -> None:
    assert packed([x * factor for x in vector], EIGHT) == packed(vector, EIGHT)


@pytest.mark.parametrize("vector", [[1e308] * 8, [1e-308] * 8, [5e-324] * 8])
def test_neither_large_nor_small_numbers_are_too_much(vector: list[float]) -> None:
    assert list(unpacked(packed(vector, EIGHT))) == pytest.approx([8**-0.5] * 8, abs=1e-6)


@given(VECTORS, VECTORS, st.randoms(use_true_random=False))
def test_a_similarity_is_exact_in_whatever_order_it_is_added_up(
    one: list[float], other: list[float], chance: object
) -> None:
    kept, other_kept = unpacked(packed(one, EIGHT)), unpacked(packed(other, EIGHT))
    products = [x * y for x, y in zip(kept, other_kept, strict=True)]
    exact = sum(Fraction(x) * Fraction(y) for x, y in zip(kept, other_kept, strict=True))
    chance.shuffle(products)  # type: ignore[attr-defined]  # hypothesis says what it is

    assert sum(products) == exact == math.fsum(products)


@given(VECTORS, st.lists(VECTORS, min_size=1, max_size=5))
def test_similarities_are_symmetric_and_one_for_itself(
    vector: list[float], others: list[list[float]]
) -> None:
    own, all_others = packed(vector, EIGHT), [packed(other, EIGHT) for other in others]

    found = similarities(own, all_others)

    assert found == [similarities(other, [own])[0] for other in all_others]
    assert similarities(own, [own]) == [pytest.approx(1, abs=1e-5)]
    assert found == by_definition(own, all_others)
    assert all(round(one, 6) == one for one in found)


@pytest.mark.parametrize(
    "answer",
    [
        lambda right: right[:-1],
        lambda right: [*right, right[0]],
        lambda right: [right[0][:-1], right[1]],
        lambda right: [[*right[0], 0.0], right[1]],
        lambda right: [[math.nan, *right[0][1:]], right[1]],
        lambda right: [[math.inf, *right[0][1:]], right[1]],
        lambda right: [["1", *right[0][1:]], right[1]],
        lambda right: [[0.0] * len(right[0]), right[1]],
        lambda right: [None, right[1]],
        lambda _: None,
        lambda _: 7,
    ],
)
async def test_anything_but_a_vector_for_each_text_is_a_failure(answer: object) -> None:
    with pytest.raises(ModelFailed) as caught:
        await embedded(LyingEmbedder(answer), ["one", "two"])  # type: ignore[arg-type]

    assert caught.value.code == "plan.model_failed"


async def test_whatever_an_embedder_raises_is_its_failure_and_shows_nothing_of_it() -> None:
    with pytest.raises(ModelFailed) as caught:
        await embedded(FailingEmbedder(RuntimeError("Bearer sk-secret")), ["one"])

    assert "sk-secret" not in str(caught.value)


async def test_an_error_of_ours_stays_what_it_is() -> None:
    with pytest.raises(DependencyMissing):
        await embedded(FailingEmbedder(DependencyMissing("a", "b")), ["one"])


async def test_no_texts_are_no_question() -> None:
    embedder = ToyEmbedder()

    assert await embedded(embedder, []) == []
    assert embedder.asked == []


@pytest.mark.parametrize("identity", ["", "  ", "x" * 201])
def test_an_identity_is_a_name(identity: str) -> None:
    with pytest.raises(ModelFailed):
        stored_as(ToyEmbedder(identity))


def test_vectors_of_two_sizes_are_kept_under_two_names() -> None:
    names = {stored_as(ToyEmbedder("toy/1", size)) for size in (8, 16)}

    assert names == {"toy/1/8", "toy/1/16"}
    with pytest.raises(ModelFailed):
        stored_as(ToyEmbedder("toy/1", 0))


async def test_the_texts_are_asked_for_in_their_order() -> None:
    embedder = ToyEmbedder()
    texts = ["b", "a"]

    found = await embedded(embedder, texts)

    assert found == [packed(embedder.vector(text), embedder) for text in texts]
