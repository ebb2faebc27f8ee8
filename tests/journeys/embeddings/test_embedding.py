"""Bringing the embeddings forward: with progress, logged, and no text in the way of the others."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import decode
from memoranda.journeys.audit.verify import nobody
from memoranda.journeys.maintain.upkeep import BATCH, Brought, embed_missing
from memoranda.kernel.errors import ModelFailed
from memoranda.recall.embedder import Embedder, stored_as
from tests.handles import inside
from tests.journeys.embeddings.conftest import Opens, index_of, nearest
from tests.journeys.embeddings.toy import ChoosyEmbedder, FailingEmbedder, ToyEmbedder


async def bring(memory: Memory[Any], embedder: Embedder, **options: Any) -> Brought:
    """As a handle does it."""
    options.setdefault("progress", nobody)
    return await embed_missing(
        inside(memory).table,
        inside(memory).scoped.drafts,
        inside(memory).clock,
        index_of(memory),
        embedder,
        actor=str(memory.actor),
        **options,
    )


async def logged(memory: Memory[Any]) -> list[dict[str, Any]]:
    """What the journal says of embeddings."""
    said = [
        decode(one.body) for one in await inside(memory).ledger.notices() if one.body is not None
    ]
    return [one for one in said if one.get("what") == "embed"]


@pytest.mark.rule("GOV-BREAK")
async def test_everything_gets_a_vector_and_the_journal_says_so(memory: Memory[Any]) -> None:
    count = BATCH + 6
    await memory.remember_many([f"note {n}" for n in range(count)])
    told: list[tuple[str, int, int]] = []
    embedder = ToyEmbedder()

    brought = await bring(memory, embedder, progress=lambda *one: told.append(one))

    contents = await index_of(memory).contents(stored_as(embedder))
    assert (brought.embedded, brought.vectors, brought.refused) == (count, count, ())
    assert (brought.vectors, brought.digest) == contents
    assert told == [("embeddings", done, count) for done in (0, BATCH, count)]
    assert [len(texts) for texts in embedder.asked] == [BATCH, 6]
    assert await logged(memory) == [brought.document]
    assert brought.document["model"] == "toy/1/64"
    assert (await memory.verify()).report.damages.found == []


async def test_where_nothing_is_missing_nothing_is_logged(memory: Memory[Any]) -> None:
    await memory.remember("note")
    first = await bring(memory, ToyEmbedder())

    again = await bring(memory, ToyEmbedder())

    assert (again.embedded, again.vectors, again.digest) == (0, 1, first.digest)
    assert len(await logged(memory)) == 1


async def test_a_text_that_the_embedder_refuses_stands_in_nobody_s_way(
    memory: Memory[Any],
) -> None:
    await memory.remember("note one")
    bad = await memory.remember("a bad text")
    await memory.remember_many([f"note {n}" for n in range(BATCH)])

    brought = await bring(memory, ChoosyEmbedder("bad"))

    assert (brought.embedded, list(brought.refused)) == (BATCH + 1, [bad.id])
    assert await index_of(memory).count_missing("toy/1/64") == 1
    again = await bring(memory, ToyEmbedder())
    assert (again.embedded, list(again.refused)) == (1, [])


async def test_an_embedder_that_fails_fails_the_call_and_what_was_made_stays(
    memory: Memory[Any],
) -> None:
    await memory.remember_many([f"note {n}" for n in range(BATCH + 1)])

    with pytest.raises(ModelFailed):
        await bring(memory, FailingEmbedder(OSError(), after=1))

    assert await index_of(memory).count_missing("toy/1/64") == 1
    assert await logged(memory) == []
    assert (await bring(memory, ToyEmbedder())).vectors == BATCH + 1


async def test_the_vectors_of_other_models_go_when_they_are_told_to(memory: Memory[Any]) -> None:
    await memory.remember_many(["one", "two"])
    first, second = ToyEmbedder("toy/1"), ToyEmbedder("toy/2")
    await bring(memory, first)

    both = await bring(memory, second)
    assert len(await nearest(memory, first, "one")) == 2
    alone = await bring(memory, second, alone=True)

    assert (both.dropped, alone.dropped, alone.embedded) == (0, 2, 0)
    assert await nearest(memory, first, "one") == []
    assert len(await nearest(memory, second, "one")) == 2
    assert [one["dropped"] for one in await logged(memory)] == [0, 0, 2]


@pytest.mark.rule("GOV-BREAK")
async def test_another_embedder_is_a_conformance_break(opens: Opens) -> None:
    async def breaks(embedder: ToyEmbedder) -> int:
        async with opens(models={"embedder": stored_as(embedder)}) as memory:
            await memory.remember("something")
            return len((await memory.govern.status()).breaks)

    assert await breaks(ToyEmbedder("toy/1")) == 0
    assert await breaks(ToyEmbedder("toy/1")) == 0
    assert await breaks(ToyEmbedder("toy/2")) == 1
    async with opens() as memory:
        assert len((await memory.govern.status()).breaks) == 1, "without one it still stands"
