"""A store that adds up postings gets the sums of the ranking, to the last bit."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from recollect.recall.asking import asked
from recollect.recall.bm25 import Weights
from recollect.recall.candidates import Candidate
from recollect.recall.postings import Posting, heaviest
from recollect.recall.ranking import Mode, ranked, seeds
from tests.recall.texts import questions, records, statistics


@given(questions, records(), st.integers(1, 6))
def test_the_best_of_the_postings_are_those_of_the_ranking(
    question: str, found: list[Candidate], limit: int
) -> None:
    wanted, scope = asked(question), statistics(found)

    def postings(token: str) -> Iterable[Posting]:
        for number, one in enumerate(found):
            if token in one.counts:
                yield number, one.counts[token], one.length

    best = heaviest(Weights(wanted.tokens, scope), postings, limit)
    few = [found[number] for number, _ in best]

    expected = ranked(Mode.FULL_TEXT, wanted, found, scope)
    lowest = expected[:limit][-1].score if expected else 0.0
    assert {found[number].id: weight for number, weight in best} == {
        one.id: one.score for one in expected if one.score >= lowest
    }
    assert ranked(Mode.FULL_TEXT, wanted, few, scope, limit=limit) == expected[:limit]
    assert seeds(wanted, few, scope)[:limit] == seeds(wanted, found, scope)[:limit]


def test_a_question_without_words_has_no_postings() -> None:
    assert heaviest(Weights((), statistics([])), lambda _: (), 10) == []
    assert heaviest(Weights(("a",), statistics([])), lambda _: [(1, 1, 1)], 0) == []
