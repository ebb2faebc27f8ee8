"""A store that adds up postings gets the scores and the order of the ranking, to the last bit."""

from array import array

from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.bm25 import Candidate, Weights
from memoranda.recall.postings import BLOCK, Located, PostingRun, counted, matching, weighed
from memoranda.recall.question import asked
from memoranda.recall.ranking import RankingMode, ranked, seeds
from memoranda.text import matches, query
from memoranda.text.tokens import CLASSES, EXACT, LENGTHS, class_of, kind_of
from tests.recall.texts import questions, records, statistics


def runs(found: list[Candidate], tokens: tuple[str, ...], size: int) -> dict[str, list[PostingRun]]:
    """The postings of some records: up to so many to a run, as a store may have them."""
    made: dict[str, list[PostingRun]] = {token: [] for token in tokens}
    for one in found:
        for token in tokens:
            if token in one.counts:
                own, block = made[token], one.seq // BLOCK
                if not own or own[-1].block != block or len(own[-1].places) == size:
                    own.append(PostingRun(block, array("H"), array("H")))
                own[-1].places.append(one.seq % BLOCK)
                own[-1].kinds.append(kind_of(one.counts[token], one.length))
    return made


def spread(found: list[Candidate], gap: int) -> list[Candidate]:
    """The same records with other numbers: in one block, or in several."""
    return [
        Candidate(one.id, one.seq * gap, one.created_at, one.counts, one.length) for one in found
    ]


gaps = st.sampled_from([1, 7, BLOCK // 3, BLOCK, 3 * BLOCK + 5])


@given(questions, records(), gaps, st.integers(1, 3), st.integers(1, 6))
def test_the_best_of_the_postings_are_those_of_the_ranking(
    question: str, drawn: list[Candidate], gap: int, size: int, limit: int
) -> None:
    wanted, scope, found = asked(question), statistics(drawn), spread(drawn, gap)
    postings = runs(found, wanted.tokens, size)

    hits = weighed(Weights(wanted.tokens, scope), postings)

    expected = ranked(RankingMode.FULL_TEXT, wanted, found, scope)
    assert len(hits) == len(expected)
    assert hits.best(limit) == [(one.seq, one.score) for one in expected[:limit]]
    assert list(hits.in_order(limit)) == [(one.seq, one.score) for one in expected]
    assert [seq for seq, _ in hits.best(limit)] == [
        one.seq for one in seeds(wanted, found, scope, limit)
    ]


@given(questions, records(), gaps, st.integers(1, 3), st.integers(1, 6))
def test_words_counted_from_postings_are_those_of_the_ranking(
    question: str, drawn: list[Candidate], gap: int, size: int, limit: int
) -> None:
    wanted, scope, found = asked(question), statistics(drawn), spread(drawn, gap)

    hits = counted(wanted.words, runs(found, wanted.tokens, size))

    expected = ranked(RankingMode.KEYWORD, wanted, found, scope)
    assert hits.best(limit) == [(one.seq, one.score) for one in expected[:limit]]
    assert list(hits.in_order(limit)) == [(one.seq, one.score) for one in expected]


@given(questions, records(), gaps, st.integers(1, 3), st.data())
def test_what_is_left_out_of_the_hits_is_all_that_changes(
    question: str, drawn: list[Candidate], gap: int, size: int, data: st.DataObject
) -> None:
    wanted, scope, found = asked(question), statistics(drawn), spread(drawn, gap)
    some = data.draw(st.sets(st.sampled_from([one.seq for one in found] or [0])))
    postings = runs(found, wanted.tokens, size)
    weights = Weights(wanted.tokens, scope)
    everything = list(weighed(weights, postings).in_order(9))

    dropped, kept = weighed(weights, postings), weighed(weights, postings)
    dropped.drop(some)
    kept.keep(some)

    assert list(dropped.in_order(1)) == [hit for hit in everything if hit[0] not in some]
    assert list(kept.in_order(1)) == [hit for hit in everything if hit[0] in some]


@given(questions, records(), gaps, st.integers(1, 3), st.booleans())
def test_a_query_is_matched_from_postings_as_from_tokens(
    question: str, drawn: list[Candidate], gap: int, size: int, every: bool
) -> None:
    wanted, found = query(question), spread(drawn, gap)

    seqs = matching(wanted, runs(found, wanted.tokens, size), every=every)

    assert seqs == {one.seq for one in found if matches(wanted, one.counts, every=every)}


@given(questions, records(), gaps, st.integers(1, 3))
def test_postings_say_what_an_entry_has(
    question: str, drawn: list[Candidate], gap: int, size: int
) -> None:
    wanted, found = asked(question), spread(drawn, gap)
    postings = runs(found, wanted.tokens, size)

    for one in found:
        assert Located(postings).kinds_at(one.seq) == {
            token: kind_of(one.counts[token], one.length)
            for token in wanted.tokens
            if token in one.counts
        }


def test_a_question_without_words_has_no_hits() -> None:
    hits = weighed(Weights((), statistics([])), {})

    assert len(hits) == 0
    assert hits.best(10) == []
    assert list(hits.in_order(0)) == []


@given(st.integers(0, 10**7), st.integers(0, 10**7))
def test_a_longer_document_is_of_no_lower_class(one: int, other: int) -> None:
    shorter, longer = sorted((one, other))

    assert class_of(shorter) <= class_of(longer)


@given(st.integers(0, 2**18 - 1))
def test_a_length_counts_as_at_most_a_sixteenth_less(length: int) -> None:
    counts_as = LENGTHS[class_of(length)]

    assert counts_as <= length
    assert counts_as == length if length < EXACT else length - counts_as < length / 16


def test_every_class_is_that_of_its_own_length() -> None:
    assert [class_of(length) for length in LENGTHS] == list(range(CLASSES))
    assert class_of(10**9) == CLASSES - 1
    assert kind_of(1_000, 3) == 255 << 8 | 3
