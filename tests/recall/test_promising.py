"""What is left unread can't have come first."""

from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.recall.bm25 import Candidate, Weights
from memoranda.recall.neighbours import Emphasis, Promising
from memoranda.recall.question import asked
from memoranda.recall.ranking import RankingMode, ranked, seeds
from tests.recall.texts import candidate, questions, records, statistics

NOW = 1_700_000_000_000


@settings(max_examples=400)
@given(questions, records(), st.integers(1, 8))
def test_what_reaches_the_line_is_found_in_promising_threads_alone(
    question: str, found: list[Candidate], wanted: int
) -> None:
    question_asked, scope = asked(question, at=NOW), statistics(found)
    weights = Weights(question_asked.tokens, scope)
    best = seeds(question_asked, found, scope)
    own = [(one, weights.of(one.counts, one.length)) for one in best]
    emphasis = Emphasis(question_asked, weights.tokens)
    promising = Promising(own, weights.tokens, wanted, emphasis)
    named = {one.thread for one in found if emphasis.names(one.speaker)}
    read = {
        thread
        for thread in {one.thread for one in best if one.thread is not None}
        if promising.may(thread, is_named=thread in named)
    }

    alone = {one.id: one._replace(thread=None, place=0) for one in best}
    around = {one.id: one for one in found if one.thread in read}
    few = ranked(RankingMode.CONTEXT, question_asked, {**alone, **around}.values(), scope)
    first = [one._replace(reason=None) for one in few if one.score >= promising.line]  # type: ignore[arg-type]

    every = ranked(RankingMode.CONTEXT, question_asked, found, scope)
    assert first == [one._replace(reason=None) for one in every[: len(first)]]  # type: ignore[arg-type]
    assert len(first) >= min(wanted, len(every))


def test_a_thread_is_left_unread_only_if_its_best_neighbour_stays_below_the_line() -> None:
    strong = [candidate(f"s{n}", "refund refund train", seq=n) for n in range(3)]
    weak = candidate("w", "train and many other words of no use", seq=9, thread="t")
    found = [*strong, weak]
    question, scope = asked("refund train"), statistics(found)
    weights = Weights(question.tokens, scope)
    own = [(one, weights.of(one.counts, one.length)) for one in found]
    emphasis = Emphasis(question, weights.tokens)

    assert not Promising(own, weights.tokens, 3, emphasis).may("t")
    assert Promising(own, weights.tokens, 4, emphasis).may("t")
    assert not Promising(own, weights.tokens, 4, emphasis).may("t", is_named=False)
    assert Promising(own, weights.tokens, 5, emphasis).may("t", is_named=False)
