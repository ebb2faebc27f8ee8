"""BM25 as the textbook has it, with floats that are the same everywhere."""

import math
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.bm25 import K1, B, Statistics, Weights, logarithm
from memoranda.text.tokens import LENGTHS, STEPS, class_of, kind_of


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_the_logarithm_is_the_natural_one(x: float) -> None:
    assert logarithm(x) == pytest.approx(math.log(x), rel=1e-14, abs=1e-15)


def test_the_logarithm_is_the_same_to_the_last_bit_wherever_it_is_computed() -> None:
    found = [logarithm(x).hex() for x in (1.0, 2.0, 10.0, 1 + 1e-9, 3.5e17)]

    assert found == [
        "0x0.0p+0",
        "0x1.62e42fefa39efp-1",
        "0x1.26bb1bbb55515p+1",
        "0x1.12e0bffdb1b44p-30",
        "0x1.432c760e65452p+5",
    ]


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_rarer_token_tells_more_and_none_tells_less_than_nothing(n: int, m: int) -> None:
    having, documents = sorted((n, m))
    rarer = Statistics(documents, documents, {"a": having})
    commoner = Statistics(documents, documents, {"a": min(having + 1, documents)})

    assert 0 < commoner.idf("a") <= rarer.idf("a") <= rarer.idf("nowhere")
    assert rarer.idf("a") == pytest.approx(
        math.log(1 + (documents - having + 0.5) / (having + 0.5)), rel=1e-12
    )


tokens = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)
counts = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 50), max_size=6)


def weight(weights: Weights, of: Mapping[str, int], length: int) -> float:
    """What all tokens of a document weigh together."""
    total = 0.0
    for token in weights.tokens:
        total += float(weights.of(token, np.array([kind_of(of.get(token, 0), length)]))[0])
    return total


def straightforward(wanted: list[str], of: Mapping[str, int], length: int, s: Statistics) -> float:
    """The formula, written down once more, for a length that fits into a byte."""
    total, length = 0.0, LENGTHS[class_of(length)]
    for token in wanted:
        n = s.frequencies.get(token, 0)
        idf = math.log(1 + (s.documents - n + 0.5) / (n + 0.5))
        count = of.get(token, 0)
        norm = K1 * (1 - B + B * length / (s.length / s.documents))
        total += idf * count * (K1 + 1) / (count + norm)
    return total


@given(tokens, counts, st.integers(1, 500), st.integers(50, 10_000))
def test_the_weight_of_a_document_is_that_of_the_formula(
    wanted: list[str], of: dict[str, int], length: int, documents: int
) -> None:
    scope = Statistics(documents, documents * 29, {"a": 1, "b": 3, "c": 20, "d": 45, "e": 50})
    weights = Weights(wanted, scope)

    found = weight(weights, of, length)

    assert found == pytest.approx(straightforward(wanted, of, length, scope), rel=1e-12)
    assert found < weights.bound or not wanted


@given(counts, st.integers(1, 100))
def test_more_of_a_token_weighs_more_and_a_longer_document_less(
    of: dict[str, int], length: int
) -> None:
    weights = Weights("abc", Statistics(99, 2_000, {"a": 1, "b": 3, "c": 20}))
    more = {**of, "a": of.get("a", 0) + 1}

    assert weight(weights, more, length) > weight(weights, of, length)
    longer = length + 1 + length // STEPS
    assert weight(weights, more, longer) < weight(weights, more, length)


def test_a_scope_without_documents_has_no_surprises() -> None:
    assert Statistics(0, 0, {}).average_length == 1.0
    assert Weights((), Statistics(0, 0, {})).bound == 0.0
    assert weight(Weights("a", Statistics(0, 0, {})), {"a": 1}, 1) > 0
