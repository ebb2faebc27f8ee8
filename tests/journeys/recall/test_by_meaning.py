"""Words and meaning together, where there is a model; by words, and saying so, where it is not."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memoranda import Memory
from memoranda.kernel.errors import CapabilityMissing, ModelFailed
from memoranda.recall.embedder import stored_as
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.embeddings.toy import ToyEmbedder

pytestmark = pytest.mark.anyio

AXES = {"doctor": 0, "physician": 0, "weather": 1, "rain": 1, "invoice": 2}


class Synonyms:
    """A model of a few words: each is one of three things, and a text is the sum of its words."""

    identity = "synonyms/1"
    dimensions = 4

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked += texts
        words = [[word.strip("?.").lower() for word in text.split()] for text in texts]
        rest = np.array([0, 0, 0, 0.1])
        return [(rest + self.of_tokens(found).sum(axis=0)).tolist() for found in words]

    def of_tokens(self, tokens: Sequence[str]) -> NDArray[Any]:
        found = np.zeros((len(tokens), 4))
        for number, token in enumerate(tokens):
            if token in AXES:
                found[number, AXES[token]] = 1
        return found


class DownEmbedder(ToyEmbedder):
    """An embedder whose server is down."""

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        raise ModelFailed(self.identity, f"no answer for {len(texts)} texts")


async def remember_some(memory: Memory[Any]) -> None:
    for text in ("Her physician is Okafor.", "Much rain in the north.", "The invoice is paid."):
        await memory.remember(text)


async def test_without_a_model_there_is_no_selector_for_it(memory: Memory[Any]) -> None:
    size = (await inside(memory).ledger.head()).size
    with pytest.raises(CapabilityMissing):
        await memory.recall("refund", top_k=1, selector="meaning")
    with pytest.raises(CapabilityMissing):
        await memory.maintain.embed()
    assert (await inside(memory).ledger.head()).size == size


async def test_a_near_word_finds_and_the_reason_names_it(opens: Opens) -> None:
    async with opens(embedder=Synonyms()) as memory:
        await remember_some(memory)
        await memory.maintain.embed()

        found = await memory.recall("Which doctor?", top_k=1)

    assert found.outcome == "found"
    assert found.items[0].data == "Her physician is Okafor."
    assert 'near "physician ~ doctor"' in found.items[0].reason
    assert found.details["model"] == {"identity": "synonyms/1/4", "without": 0}


async def test_what_has_no_vector_yet_is_found_by_words_and_counted(opens: Opens) -> None:
    async with opens(embedder=Synonyms()) as memory:
        await remember_some(memory)

        found = await memory.recall("invoice", top_k=3)

    assert found.outcome == "found"
    assert [item.data for item in found] == ["The invoice is paid."]
    assert found.details["model"] == {"identity": "synonyms/1/4", "without": 3}


async def test_no_word_in_common_is_needed_where_there_are_vectors(opens: Opens) -> None:
    async with opens(embedder=ToyEmbedder()) as memory:
        await memory.remember("refunding shoes")
        await memory.remember("weather in Seoul")
        await memory.maintain.embed()

        found = await memory.recall("horseshoes", top_k=1)
        by_words = await memory.recall("horseshoes", top_k=1, selector="words")

    assert found.items[0].data == "refunding shoes"
    assert "near in meaning" in found.items[0].reason
    assert by_words.outcome == "empty"
    assert "model" not in by_words.details


async def test_whoever_asks_for_it_gets_the_similarity_as_score(opens: Opens) -> None:
    async with opens(embedder=Synonyms()) as memory:
        await remember_some(memory)

        found = await memory.recall("doctor", top_k=3, selector="meaning")

    scores = [item.score or 0.0 for item in found]
    assert found.items[0].data == "Her physician is Okafor."
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(1, abs=0.02)


async def test_an_embedder_that_is_down_leaves_the_words_and_says_so(opens: Opens) -> None:
    async with opens(embedder=DownEmbedder()) as memory:
        await memory.remember("refund the shoes")

        found = await memory.recall("refund", top_k=1)

        assert found.outcome == "degraded"
        assert [item.data for item in found] == ["refund the shoes"]


@pytest.mark.rule("GOV-BREAK")
async def test_another_embedder_is_a_break_until_it_is_audited(opens: Opens) -> None:
    async with opens(embedder=ToyEmbedder()) as memory:
        await memory.remember("refund the shoes")
        assert not (await memory.govern.status()).breaks
    async with opens(embedder=ToyEmbedder(identity="another@2")) as memory:
        assert (await memory.govern.status()).breaks
        found = await memory.recall("refund", top_k=1)
        assert (found.outcome, found.items[0].verified) == ("degraded", False)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Synonyms:
    """A model that is there without anybody having named it."""
    model = Synonyms()
    monkeypatch.setattr("memoranda.outside.embedders.default_embedder", lambda: model)
    return model


async def test_what_is_installed_is_used_and_declared_by_its_first_use(
    opens: Opens, installed: Synonyms
) -> None:
    async with opens() as memory:
        await remember_some(memory)
        before = (await memory.govern.status()).policies["models"].rules["roles"]
        await memory.maintain.embed()

        found = await memory.recall("doctor", top_k=1)

        after = (await memory.govern.status()).policies["models"].rules["roles"]
        assert (await memory.verify()).is_sound
    assert found.items[0].data == "Her physician is Okafor."
    assert "embedder" not in before
    assert after["embedder"] == [stored_as(installed)]


async def test_another_one_that_is_installed_later_changes_no_answer_unnoticed(
    opens: Opens, installed: Synonyms
) -> None:
    async with opens() as memory:
        await remember_some(memory)
        await memory.recall("invoice", top_k=1)
    installed.identity = "synonyms/2"
    async with opens() as memory:
        found = await memory.recall("doctor or invoice", top_k=1)

        assert not (await memory.govern.status()).breaks
    assert found.outcome == "degraded"
    assert "synonyms/1/4" in found.notes[0]
    assert [item.data for item in found] == ["The invoice is paid."]


async def test_a_process_without_the_model_finds_by_words_and_says_so(
    opens: Opens, installed: Synonyms
) -> None:
    async with opens() as memory:
        await remember_some(memory)
        await memory.recall("invoice", top_k=1)
    async with opens(embedder=None) as memory:
        found = await memory.recall("invoice", top_k=1)

    assert found.outcome == "degraded"
    assert stored_as(installed) in found.notes[0]
    assert [item.data for item in found] == ["The invoice is paid."]


async def test_equal_texts_do_not_fill_the_top(memory: Memory[Any]) -> None:
    for _ in range(3):
        await memory.remember("The invoice is paid")
    await memory.remember("another invoice came")

    found = await memory.recall("invoice", top_k=3)

    assert sorted(item.data for item in found) == ["The invoice is paid", "another invoice came"]
