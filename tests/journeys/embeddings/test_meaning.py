"""Near in meaning, on both databases: a few are embedded on the way, more are counted."""

from dataclasses import replace
from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import ModelFailed
from memoranda.recall.meaning import AT_ONCE, Meaning, only_near
from memoranda.records.filter import MemoryFilter
from tests.journeys.embeddings.conftest import asking, embed_all, index_of
from tests.journeys.embeddings.toy import FailingEmbedder, LyingEmbedder, ToyEmbedder


async def test_what_has_no_vector_yet_gets_one_on_the_way(memory: Memory[Any]) -> None:
    refund = await memory.remember("the refund was paid in March")
    await memory.remember("a cat sat on the mat")
    embedder = ToyEmbedder()

    found = await Meaning(embedder, index_of(memory)).nearest(asking("refunds are paid"), 5)

    assert found.missing == 0
    first, second = found.chosen
    assert first.id == refund.id
    assert first.found is not None
    assert first.found.id == refund.id
    assert first.score is not None
    assert second.score is not None
    assert first.score > second.score
    assert first.reason.startswith(f"near in meaning ({first.score:.2f}); ")
    assert first.confidence == only_near(first.score)
    again = await Meaning(embedder, index_of(memory)).nearest(asking("refunds are paid"), 5)
    assert again == found
    assert [len(texts) for texts in embedder.asked] == [1, 2, 1]


async def test_many_are_counted_and_not_embedded_on_the_way(memory: Memory[Any]) -> None:
    await memory.remember_many([f"note {n}" for n in range(AT_ONCE + 1)])
    embedder = ToyEmbedder()

    found = await Meaning(embedder, index_of(memory)).nearest(asking("note"), 5)

    assert found == ([], AT_ONCE + 1)
    assert embedder.asked == [["note"]]
    await memory.forget((await memory.list(text="note"))[0].id, reason="a test")
    found = await Meaning(embedder, index_of(memory)).nearest(asking("note"), 5)
    assert (len(found.chosen), found.missing) == (5, 0)


async def test_an_embedder_without_an_answer_to_the_question_has_failed(
    memory: Memory[Any],
) -> None:
    await memory.remember("the refund was paid")

    with pytest.raises(ModelFailed):
        await Meaning(FailingEmbedder(OSError()), index_of(memory)).nearest(asking("refund"), 5)


async def test_one_that_fails_later_leaves_what_has_a_vector_and_counts_the_rest(
    memory: Memory[Any],
) -> None:
    first = await memory.remember("the refund was paid")
    await embed_all(memory, ToyEmbedder())
    await memory.remember("a second one")
    embedder = FailingEmbedder(OSError(), after=1)

    found = await Meaning(embedder, index_of(memory)).nearest(asking("refund"), 5)

    assert [one.id for one in found.chosen] == [first.id]
    assert found.missing == 1


async def test_a_lie_is_not_kept(memory: Memory[Any]) -> None:
    await memory.remember("the refund was paid")
    embedder = LyingEmbedder(lambda right: [one[:-1] for one in right])

    with pytest.raises(ModelFailed):
        await Meaning(embedder, index_of(memory)).nearest(asking("refund"), 5)

    assert await index_of(memory).count_missing("toy/1/64") == 1


async def test_only_what_may_be_found_is_found(memory: Memory[Any]) -> None:
    tagged = await memory.remember("refund one", tags=["a", "b"])
    await memory.remember("refund two", tags=["a"])
    await memory.remember("refund three")
    meaning = Meaning(ToyEmbedder(), index_of(memory))

    by_tags = await meaning.nearest(asking("refund", filter=MemoryFilter(tags=("a", "b"))), 5)
    since = MemoryFilter(created_after=1_900_000_000_000)
    until = MemoryFilter(created_before=1_900_000_000_000)
    later = await meaning.nearest(asking("refund", filter=since), 5)
    before = await meaning.nearest(asking("refund", filter=until), 5)
    refusing = replace(asking("refund"), accepts=lambda one: one.id != tagged.id)
    accepted = await meaning.nearest(refusing, 5)

    assert [one.id for one in by_tags.chosen] == [tagged.id]
    assert later.chosen == []
    assert len(before.chosen) == 3
    assert len(accepted.chosen) == 2
    assert len((await meaning.nearest(asking("refund"), 2)).chosen) == 2


@pytest.mark.parametrize(("similarity", "sure"), [(-0.5, 0), (0, 0), (0.6, 0.06), (1.000001, 0.1)])
def test_a_similarity_alone_makes_nobody_sure(similarity: float, sure: float) -> None:
    assert only_near(similarity) == sure
