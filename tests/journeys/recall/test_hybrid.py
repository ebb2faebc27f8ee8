"""Words and meaning together, where the handle has an embedder; off where it has none."""

from collections.abc import Sequence
from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import CapabilityMissing, ModelFailed
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.embeddings.toy import ToyEmbedder

pytestmark = pytest.mark.anyio


class DownEmbedder(ToyEmbedder):
    """An embedder whose server is down."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise ModelFailed(self.identity, f"no answer for {len(texts)} texts")


async def test_without_an_embedder_there_is_no_hybrid(memory: Memory[Any]) -> None:
    size = (await inside(memory).ledger.head()).size
    with pytest.raises(CapabilityMissing):
        await memory.recall("refund", top_k=1, selector="hybrid")
    with pytest.raises(CapabilityMissing):
        await memory.maintain.embed()
    assert (await inside(memory).ledger.head()).size == size


async def test_what_is_near_in_meaning_is_found_and_the_reason_says_so(opens: Opens) -> None:
    async with opens(embedder=ToyEmbedder()) as memory:
        await memory.remember("refunding shoes")
        await memory.remember("weather in Seoul")
        brought = await memory.maintain.embed()

        found = await memory.recall("refund of a shoe", top_k=1, selector="hybrid")

    assert (brought.embedded, found.outcome) == (2, "found")
    assert found.items[0].data == "refunding shoes"
    assert "near in meaning" in found.items[0].reason
    assert found.items[0].verified


async def test_an_embedder_that_is_down_leaves_the_words_and_says_so(opens: Opens) -> None:
    async with opens(embedder=DownEmbedder()) as memory:
        await memory.remember("refund the shoes")

        found = await memory.recall("refund", top_k=1, selector="hybrid")

        assert found.outcome == "degraded"
        assert [item.data for item in found] == ["refund the shoes"]


async def test_another_embedder_is_a_break_until_it_is_audited(opens: Opens) -> None:
    async with opens(embedder=ToyEmbedder()) as memory:
        await memory.remember("refund the shoes")
        assert not (await memory.govern.status()).breaks
    async with opens(embedder=ToyEmbedder(identity="another@2")) as memory:
        assert (await memory.govern.status()).breaks
        found = await memory.recall("refund", top_k=1, selector="hybrid")
        assert (found.outcome, found.items[0].verified) == ("degraded", False)
