"""What is measured: the part of the evidence among the first k."""

from collections.abc import Sequence

import pytest

from bench.evaluate.measure import AT, OVERALL, Evaluation, measure
from bench.evaluate.questions import Collection, Question, Questions, read_locomo
from memoranda.identity import canonical_bytes
from memoranda.recall.corpus import Corpus, of_text
from memoranda.recall.question import asked
from memoranda.recall.ranking import RankingMode
from tests.evaluate.conversations import CONVERSATION

QUESTIONS = read_locomo(canonical_bytes([CONVERSATION]))


class Fixed:
    """Finds always the same, and more than is asked for."""

    selectors = ("fixed",)

    def __init__(self, _: Collection) -> None:
        self.found = [f"t{n}" for n in range(30)]

    async def find(self, selector: str, question: Question, top_k: int) -> Sequence[str]:
        assert (selector, top_k, question.text) == ("fixed", 20, "?")
        return self.found[:top_k]


async def test_recall_is_the_mean_part_of_the_evidence_among_the_first_k() -> None:
    questions = [
        Question("?", "easy", frozenset({"t0"})),
        Question("?", "easy", frozenset({"t4", "t5"})),
        Question("?", "hard", frozenset({"t9", "t19", "t20", "gone"})),
    ]

    found = await measure(Questions([Collection("c", [], questions)], ("easy", "hard")), Fixed)

    [fixed] = found.measured
    assert AT == (5, 10, 20)
    assert fixed.recall["easy"] == (0.75, 1.0, 1.0)
    assert fixed.recall["hard"] == (0.0, 0.25, 0.5)
    assert fixed.recall[OVERALL] == pytest.approx((0.5, 0.75, 2.5 / 3))
    assert found.questions == {"easy": 2, "hard": 1, OVERALL: 3}


async def test_a_made_up_conversation_is_measured_the_same_each_time() -> None:
    told: list[tuple[str, int, int]] = []

    found = await measure(QUESTIONS, told=lambda *one: told.append(one))

    assert told == [("questions", 1, 3), ("questions", 2, 3), ("questions", 3, 3)]
    assert found == await measure(QUESTIONS)
    assert [one.selector for one in found.measured] == [mode.value for mode in RankingMode]
    assert found.document["selectors"]["hybrid"] == "not run"
    assert found.document["selectors"]["context"]["overall"] == {"@5": 1.0, "@10": 1.0, "@20": 1.0}


async def test_questions_about_nothing_are_no_error() -> None:
    found = await measure(Questions([], ("easy",)))

    assert found == Evaluation(0, 0, {"easy": 0, OVERALL: 0}, 0, [])


@pytest.mark.parametrize("mode", RankingMode)
def test_texts_of_another_scope_change_no_bit(mode: RankingMode) -> None:
    [ours] = QUESTIONS.collections
    texts = [
        of_text(one.id, number, one.text, one.created_at, one.thread)
        for number, one in enumerate(ours.texts)
    ]
    before = Corpus(texts)
    others = Corpus(of_text(f"o{n}", n, "Boris: cello cello instrument", n) for n in range(50))

    wanted = asked("Which instrument does Boris play?")
    found = before.find(mode, wanted, limit=5)

    assert others.find(mode, wanted, limit=5)
    assert Corpus(texts).find(mode, wanted, limit=5) == found
    assert before.find(mode, wanted, limit=5) == found
    assert len(before) == 5
