"""Every question is asked in every way, and what is found is counted, on both databases alike."""

from typing import Any

import numpy as np
import pytest

from bench.evaluate.finders import Bm25, Fts5, Vectors
from bench.evaluate.fit import candidates, fit, graded
from bench.evaluate.measure import ALL, DEFAULT, FULL_TEXT, KEPT, WORDS, measure, unshared
from bench.evaluate.questions import (
    Collection,
    Question,
    Questions,
    Text,
    is_kept,
    read_facts,
    read_locomo,
)
from memoranda.identity import canonical_bytes
from memoranda.recall.figures import figures
from memoranda.recall.scores import NOTHING_IN_THREADS, in_threads
from tests.evaluate.conversations import CONVERSATION
from tests.journeys.embeddings.toy import ToyEmbedder

QUESTIONS = read_locomo(canonical_bytes([CONVERSATION]))
TALK = QUESTIONS.collections[0]


async def test_a_made_up_conversation_is_measured_in_every_way() -> None:
    found = await measure(QUESTIONS, embedder=ToyEmbedder())

    ways = found.parts[ALL]
    assert set(ways) == {Bm25.name, Fts5.name, Vectors.name, FULL_TEXT, WORDS, DEFAULT}
    assert ways[DEFAULT].recall[-1] == ways[WORDS].recall[-1] == 1.0
    assert ways[DEFAULT].questions == len(TALK.questions)
    assert found.parts[KEPT][DEFAULT].questions == sum(map(is_kept, TALK.questions))
    assert found.texts == 5


async def test_without_a_model_what_needs_one_is_not_measured() -> None:
    found = await measure(QUESTIONS)

    assert set(found.parts[ALL]) == {Bm25.name, Fts5.name, FULL_TEXT, WORDS}


async def test_questions_about_nothing_are_no_error() -> None:
    found = await measure(Questions([], ("easy",)))

    assert (found.texts, found.unshared, found.parts[ALL]) == (0, 0.0, {})


@pytest.mark.parametrize("kind", [Bm25, Fts5])
async def test_others_find_by_words(kind: Any) -> None:
    found = await kind(TALK).find(TALK.questions[0], 3)

    assert "D1:1" in found.ids
    assert (await kind(TALK).find(Question("?", "", frozenset()), 3)).ids == []


def test_what_shares_no_word_is_counted() -> None:
    texts = [Text("a", "Anna's physician is Okafor"), Text("b", "the invoice is late")]
    asked = [
        Question("Who is the doctor?", "", frozenset("a")),
        Question("Which invoice?", "", frozenset("b")),
        Question("Nobody knows?", "", frozenset()),
    ]

    assert unshared(Questions([Collection("c", texts, asked)], ("",))) == 0.5


def test_the_short_facts_are_as_they_are_described() -> None:
    [facts] = read_facts().collections
    answerable = [question for question in facts.questions if question.evidence]

    assert len(facts.texts) >= 300
    assert len(answerable) >= 150
    assert len(answerable) < len(facts.questions)
    assert unshared(read_facts()) >= 0.6
    assert 0.25 < np.mean(list(map(is_kept, facts.questions))) < 0.42
    assert len({question.text for question in facts.questions}) == len(facts.questions)


def test_a_fit_finds_the_weights_that_questions_were_made_with() -> None:
    chance = np.random.default_rng(7)
    wanted = np.array([2.0, -1.0, 0.5])

    def question() -> tuple[Any, Any]:
        found = chance.normal(size=(30, 3))
        shares = np.exp(found @ wanted)
        right = np.zeros(30)
        right[chance.choice(30, p=shares / shares.sum())] = 1
        return found, right

    weights = fit([question() for _ in range(800)])

    assert weights == pytest.approx(wanted, abs=0.2)


async def test_what_is_fitted_is_what_recall_adds_up() -> None:
    several = await candidates(TALK, ToyEmbedder())

    found = figures(graded(several, in_threads, NOTHING_IN_THREADS))

    assert found.recall[-1] == 1.0
