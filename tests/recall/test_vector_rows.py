"""Vectors are looked for in two looks; what the second finds is exact."""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from memoranda.recall.columns import Columns
from memoranda.recall.scores import deviations
from memoranda.recall.vector_rows import ALL, STEPS, VectorRows, quantized
from memoranda.stores.scope_vectors import ScopeVectors

WANTED: Final = 40
DIMENSIONS: Final = 256


def drawn(number: int, seed: int = 7) -> NDArray[Any]:
    """Vectors of length one that differ in some directions more than in others, as of texts."""
    numbers = np.random.default_rng(seed)
    found = numbers.standard_normal((number, DIMENSIONS)) / np.arange(1, DIMENSIONS + 1) ** 0.5
    lengths = np.sqrt(np.square(found).sum(axis=1, keepdims=True))
    return np.asarray(found / lengths, np.float32)


def test_two_looks_find_what_one_look_at_all_finds() -> None:
    vectors = quantized(drawn(2 * ALL))
    rows = VectorRows(DIMENSIONS)
    for some in np.split(vectors, 4):
        rows.add(some)
    shares = []
    for question in quantized(drawn(20, seed=8)):
        every = rows.products(question, np.arange(len(rows)))
        nearest = np.argsort(-every, kind="stable")[:WANTED]
        candidates = rows.near(question, WANTED)

        assert len(candidates) < len(rows) / 8
        assert (rows.products(question, candidates) == every[candidates]).all()
        shares.append(np.isin(nearest, candidates).mean())
    assert np.mean(shares) >= 0.99


def test_what_is_added_after_the_first_look_is_found() -> None:
    rows = VectorRows(DIMENSIONS)
    rows.add(quantized(drawn(ALL + 1)))
    question = quantized(drawn(1, seed=9))[0]
    rows.near(question)
    rows.add(question[np.newaxis])

    assert ALL + 1 in rows.near(question)


def test_products_are_exact() -> None:
    vectors = quantized(drawn(50))
    rows = VectorRows(DIMENSIONS)
    rows.add(vectors)

    exact = vectors.astype(np.int64) @ vectors[0].astype(np.int64)

    assert (rows.products(vectors[0], np.arange(50)) * STEPS * STEPS == exact).all()


def test_of_many_the_nearest_are_exact_and_their_mean_is_of_a_sample() -> None:
    number = 2 * ALL
    vectors, zeros, entries = drawn(number), np.zeros(number, np.int64), np.arange(number)
    columns, names = Columns(), ([""], zeros)
    columns.add_all(entries, entries, names, names, zeros.astype(np.uint8), zeros != 0)
    in_order, turned = ScopeVectors(DIMENSIONS), ScopeVectors(DIMENSIONS)
    stored = [(seq, vector.tobytes()) for seq, vector in enumerate(vectors.astype("<f4"))]
    in_order.add(stored)
    turned.add(stored[::-1])
    question = drawn(1, seed=10)[0].astype("<f4")

    found = in_order.alike(question.tobytes(), columns)
    nearest = found.nearest(WANTED)

    exact = deviations((quantized(vectors) @ quantized(question)).astype(float) / STEPS**2)
    best = np.lexsort((-entries, -exact))[:WANTED]
    assert np.isin(best, nearest).mean() >= 0.95
    assert np.abs(found.of(nearest) - exact[nearest]).max() < 0.3
    again = turned.alike(question.tobytes(), columns)
    assert (again.of(best) == found.of(best)).all()
