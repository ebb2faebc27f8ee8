"""Both databases find the same with the model, in the same order, and are as sure of it."""

import dataclasses
from pathlib import Path
from typing import Final

import pytest

from bench.evaluate.finders import Answer, Ours, remembered
from bench.evaluate.questions import read_facts, thinned
from memoranda.outside.sentence_model import SentenceModel, has_sentence_model

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(not has_sentence_model(), reason="the extra meaning is not installed"),
]

FACTS: Final = 8
QUESTIONS: Final = 16
"""One in so many."""
WANTED: Final = 10


async def test_databases_agree_on_facts_in_two_languages(server_url: str, tmp_path: Path) -> None:
    (facts,) = thinned(read_facts(), QUESTIONS).collections
    some = dataclasses.replace(facts, name=tmp_path.name, texts=facts.texts[::FACTS])
    model = SentenceModel()
    found: list[list[Answer]] = []
    for url in (f"sqlite:///{tmp_path}/facts.db", server_url):
        async with remembered(url, some, embedder=model) as (memory, clock):
            await memory.maintain.embed()
            asked = Ours("both", memory, clock)
            found.append([await asked.find(question, WANTED) for question in some.questions])

    assert all(answer.ids for answer in found[0])
    assert found[0] == found[1]
