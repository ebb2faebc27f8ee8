"""The figures of docs/evaluation.md, at least; some data are not shipped."""

from pathlib import Path

import pytest

from bench.evaluate.measure import ALL, DEFAULT, FULL_TEXT, WORDS, measure
from bench.evaluate.questions import read_facts, read_locomo, read_pages, read_pairs, thinned
from memoranda.outside.sentence_model import SentenceModel, has_sentence_model

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data"
CONVERSATIONS = DATA / "locomo" / "locomo-dev.json"
PAIRS = DATA / "korean" / "chatbot-dev.csv"


@pytest.mark.skipif(not CONVERSATIONS.exists(), reason="the conversations are not at hand")
async def test_the_evidence_in_conversations_is_found() -> None:
    found = await measure(thinned(read_locomo(CONVERSATIONS.read_bytes()), 4))

    assert found.parts[ALL][FULL_TEXT].recall[2] >= 0.6
    assert found.parts[ALL][WORDS].recall[2] >= 0.76
    assert found.parts[ALL][WORDS].off_first <= 0.15


@pytest.mark.skipif(not PAIRS.exists(), reason="the pairs are not at hand")
async def test_korean_answers_are_found_by_their_questions() -> None:
    found = await measure(thinned(read_pairs(PAIRS.read_bytes()), 24))

    assert found.parts[ALL][WORDS].recall[2] >= 0.1


@pytest.mark.skipif(not has_sentence_model(), reason="the extra meaning is not installed")
async def test_short_facts_are_found_by_what_is_meant() -> None:
    found = await measure(read_facts(), embedder=SentenceModel())

    english = found.parts["English"]
    assert english[WORDS].recall[0] <= 0.25
    assert english[DEFAULT].recall[0] >= 0.75
    assert english[DEFAULT].recall[2] >= 0.85
    assert found.parts["Korean"][DEFAULT].recall[0] >= 0.55


async def test_plain_texts_are_found_as_well_as_by_full_text() -> None:
    found = await measure(thinned(read_pages(ROOT / "docs"), 2))

    ways = found.parts[ALL]
    assert ways[WORDS].recall[2] >= ways[FULL_TEXT].recall[2] - 0.01
    assert ways[WORDS].first >= ways[FULL_TEXT].first - 0.01
