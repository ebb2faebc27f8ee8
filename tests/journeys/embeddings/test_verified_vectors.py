"""`verify` looks at vectors as far as it can without their model; erasures count them."""

import struct
from typing import Any

import apsw
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda import Memory
from memoranda.app.databases import file_of
from memoranda.ledger.damage import Damage
from memoranda.recall.embedder import broken_vector, packed, stored_as
from memoranda.recall.vectors import without_vector
from tests.handles import inside
from tests.journeys.embeddings.conftest import embed_all
from tests.journeys.embeddings.toy import ToyEmbedder

EMBEDDER = ToyEmbedder()
MODEL = stored_as(EMBEDDER)


def run(url: str, statement: str, *values: Any) -> None:
    """Run a statement on the vectors, past all that keeps them in order."""
    path = file_of(url)
    if path is not None:
        connection = apsw.Connection(path)
        connection.execute(statement.format("vectors"), values)
        connection.close()
        return
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(statement.format("memoranda.vectors").replace("?", "%s").encode(), values)


async def found(memory: Memory[Any]) -> list[Damage]:
    """What a verification finds."""
    return (await memory.verify()).report.damages.found


@pytest.fixture
async def ids(memory: Memory[Any]) -> list[str]:
    """Four things with vectors, of two models."""
    receipts = await memory.remember_many(["an apple", "a pear", "a plum", "a fig"])
    await embed_all(memory, EMBEDDER)
    await embed_all(memory, ToyEmbedder("other/2", 8))
    return [one.id for one in receipts]


async def test_nothing_is_found_in_vectors_that_are_right(
    memory: Memory[Any], ids: list[str]
) -> None:
    await memory.update(ids[0], "two apples")
    await memory.forget(ids[1], reason="old")
    await memory.erase(ids[2], reason="asked for")
    await embed_all(memory, EMBEDDER)

    assert await found(memory) == []


async def test_vectors_that_outlive_what_they_are_of_are_named(
    memory: Memory[Any], ids: list[str], url: str
) -> None:
    """Put aside, and put back when what they are of has changed: as if they had never gone."""
    other = "putting/64"
    for id in ids:
        columns = "journal, seq, id, vector, model"
        copying = (
            f"INSERT INTO {{0}} ({columns}) SELECT journal, -1 - seq, id, vector, ? FROM {{0}}"  # noqa: S608
        )
        run(url, f"{copying} WHERE id = ? AND model = ?", other, id, MODEL)
    await memory.update(ids[0], "two apples")
    await memory.forget(ids[1], reason="old")
    await memory.erase(ids[2], reason="asked for")
    for id in ids:
        run(url, "UPDATE {0} SET seq = -1 - seq WHERE id = ? AND model = ?", id, other)

    damages = await found(memory)

    assert [one.check for one in damages] == ["vector"] * 3
    named = {id for id in ids for one in damages if repr(id) in one.why}
    assert named == set(ids[:3])


async def test_a_vector_of_no_version_is_named(
    memory: Memory[Any], ids: list[str], url: str
) -> None:
    run(url, "UPDATE {0} SET seq = seq + 1000 WHERE id = ? AND model = ?", ids[3], MODEL)
    run(url, "UPDATE {0} SET id = ? WHERE id = ? AND model = ?", "nobody", ids[2], MODEL)

    damages = await found(memory)

    assert [one.check for one in damages] == ["vector"] * 2
    assert any("'nobody'" in one.why for one in damages)


@pytest.mark.parametrize(
    "vector",
    [
        b"",
        struct.pack("<63f", 1.0, *[0.0] * 62),
        struct.pack("<65f", 1.0, *[0.0] * 64),
        struct.pack("<64f", float("nan"), *[0.0] * 63),
        struct.pack("<64f", 0.5, *[0.0] * 63),
        struct.pack("<64f", *[0.0] * 64),
        struct.pack("<64f", 1.0, 2.0**-21, *[0.0] * 62),
    ],
    ids=["empty", "shorter", "longer", "no number", "half as long", "none", "too fine"],
)
async def test_a_vector_that_can_be_none_of_its_model_is_named(
    memory: Memory[Any], ids: list[str], url: str, vector: bytes
) -> None:
    run(url, "UPDATE {0} SET vector = ? WHERE id = ? AND model = ?", vector, ids[1], MODEL)

    (damage,) = await found(memory)

    assert damage.check == "vector"
    assert repr(ids[1]) in damage.why
    assert repr(MODEL) in damage.why


COMPONENTS = st.floats(-1e30, 1e30, allow_nan=False, allow_subnormal=False)


@given(st.lists(COMPONENTS, min_size=1, max_size=40).filter(any))
def test_whatever_is_kept_can_be_a_vector(components: list[float]) -> None:
    embedder = ToyEmbedder(dimensions=len(components))

    assert broken_vector(stored_as(embedder), packed(components, embedder)) is None


@pytest.mark.parametrize("model", ["toy", "toy/", "toy/x", "toy/\u0663", "toy/-1"])
def test_a_model_without_dimensions_has_no_vectors(model: str) -> None:
    assert broken_vector(model, b"") is not None


# --------------------------------------------------------------------------- erasures


@pytest.mark.rule("GOV-FORGET")
async def test_vectors_that_go_with_an_erasure_are_counted(
    memory: Memory[Any], ids: list[str]
) -> None:
    dry = await memory.erase(ids[0], reason="asked for", dry_run=True)
    one = await memory.erase(ids[0], reason="asked for")
    await memory.forget(ids[1], reason="old")
    rest = await memory.erase(whole_scope=True, reason="asked for")

    assert one.counts == dry.counts
    assert (one.counts.vectors, rest.counts.vectors) == (2, 4)
    assert one.to_wire()["counts"]["vectors"] == 2


async def test_only_what_is_not_indexed_has_an_empty_vector(
    memory: Memory[Any], ids: list[str], url: str
) -> None:
    """Who empties one would hide what it is of from whoever asks for its meaning."""
    hidden = await memory.remember("a quince", indexed=False)
    blob = await memory.remember(b"ab", media_type="image/png")
    index, whole = inside(memory).ledger.vectors, packed([1.0] * EMBEDDER.dimensions, EMBEDDER)
    await index.put(MODEL, without_vector(await index.missing(MODEL, 10)))
    assert await index.count_missing(MODEL) == 0
    assert await found(memory) == []

    run(url, "UPDATE {0} SET vector = ? WHERE id = ? AND model = ?", b"", ids[0], MODEL)
    run(url, "UPDATE {0} SET vector = ? WHERE id = ? AND model = ?", whole, hidden.id, MODEL)
    run(url, "UPDATE {0} SET vector = ? WHERE id = ? AND model = ?", whole, blob.id, MODEL)

    damages = await found(memory)
    assert [one.check for one in damages] == ["vector"] * 3
    assert {id for id in (ids[0], hidden.id, blob.id) if any(id in one.why for one in damages)} == {
        ids[0], hidden.id, blob.id
    }  # fmt: skip
