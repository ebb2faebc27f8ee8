"""The figures of docs/evaluation.md, at least, where the data are at hand: they are not shipped."""

from pathlib import Path

import pytest

from bench.evaluate.measure import OVERALL, InMemory, measure
from bench.evaluate.questions import Collection, Questions, read_locomo, read_pairs

DATA = Path(__file__).parents[3] / "shared" / "data"
CONVERSATIONS = DATA / "locomo" / "locomo-dev.json"
PAIRS = DATA / "korean" / "chatbot-dev.csv"
EVERY_NTH_QUESTION = 8


@pytest.mark.skipif(not CONVERSATIONS.exists(), reason="the conversations are not at hand")
async def test_the_evidence_in_conversations_is_found() -> None:
    found = await measure(read_locomo(CONVERSATIONS.read_bytes()))

    at_10 = {one.selector: one.recall[OVERALL][1] for one in found.measured}
    assert found.questions[OVERALL] == 760
    assert at_10["keyword"] >= 0.58
    assert at_10["full-text"] >= 0.63
    assert at_10["context"] >= 0.78


class FullText(InMemory):
    selectors = ("full-text",)


@pytest.mark.skipif(not PAIRS.exists(), reason="the pairs are not at hand")
async def test_korean_answers_are_found_by_their_questions() -> None:
    [every] = read_pairs(PAIRS.read_bytes()).collections
    some = Collection(every.name, every.texts, every.questions[::EVERY_NTH_QUESTION])

    found = await measure(Questions([some], ("pairs",)), FullText)

    assert found.measured[0].recall[OVERALL][1] >= 0.12
