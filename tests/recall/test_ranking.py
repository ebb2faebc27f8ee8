"""What must hold of every ranking, and what each of them is for."""

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall.bm25 import Candidate, Statistics
from memoranda.recall.neighbours import GAP, REACH
from memoranda.recall.question import GRAMMAR, asked
from memoranda.recall.ranking import CALIBRATIONS, NEEDS, RankingMode, ranked, seeds
from memoranda.recall.selector import place_of
from memoranda.recall.selectors import freshness
from memoranda.text import speaker_of
from tests.patience import PATIENCE
from tests.recall.texts import HOUR, candidate, questions, records, statistics

NOW = 1_700_000_000_000
modes = st.sampled_from(RankingMode)
TALK = [
    candidate("q", "Anna: Where did the refund for the train go?", at=NOW, thread="t"),
    candidate("a", "Boris: To my account, weeks later.", seq=1, at=NOW + 1, place=1, thread="t"),
    candidate("x", "Anna: Nice weather today.", seq=2, at=NOW + 2, place=7, thread="t"),
    candidate("y", "Anna: I like trains.", seq=3, at=NOW + 3, place=9, thread="u"),
]


@given(modes, questions, records(), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_changes_nothing(
    mode: RankingMode, question: str, found: list[Candidate], chance: object
) -> None:
    wanted, scope = asked(question, at=NOW), statistics(found)
    turned = list(found)
    chance.shuffle(turned)  # type: ignore[attr-defined]

    assert ranked(mode, wanted, turned, scope) == ranked(mode, wanted, found, scope)


@given(modes, questions, records())
def test_the_order_is_total_by_score_then_the_newest_entry(
    mode: RankingMode, question: str, found: list[Candidate]
) -> None:
    results = ranked(mode, asked(question, at=NOW), found, statistics(found))

    assert len({one.id for one in results}) == len(results)
    for one, after in pairwise(results):
        assert place_of(one) < place_of(after)


@given(modes, questions, records(), st.integers(0, 5))
def test_a_limit_cuts_and_changes_nothing_else(
    mode: RankingMode, question: str, found: list[Candidate], limit: int
) -> None:
    wanted, scope = asked(question, at=NOW), statistics(found)

    assert (
        ranked(mode, wanted, found, scope, limit=limit)
        == ranked(mode, wanted, found, scope)[:limit]
    )


@given(modes, questions, records())
def test_confidence_rises_with_the_score_and_is_never_certain(
    mode: RankingMode, question: str, found: list[Candidate]
) -> None:
    results = ranked(mode, asked(question, at=NOW), found, statistics(found))

    assert all(0 < one.confidence < 1 for one in results)
    for one, after in pairwise(results):
        assert one.confidence >= after.confidence


@given(modes, questions, records(), records())
def test_what_another_scope_holds_changes_nothing(
    mode: RankingMode, question: str, found: list[Candidate], others: list[Candidate]
) -> None:
    """Statistics are those of one scope, and so are candidates: there is no third input."""
    wanted, scope = asked(question, at=NOW), statistics(found)
    before = ranked(mode, wanted, found, scope)
    ranked(mode, wanted, others, statistics(others))

    assert ranked(mode, wanted, found, scope) == before


@given(modes, questions, records())
def test_statistics_of_what_is_asked_for_are_enough(
    mode: RankingMode, question: str, found: list[Candidate]
) -> None:
    wanted, scope = asked(question, at=NOW), statistics(found)
    only = {token: scope.frequencies.get(token, 0) for token in wanted.tokens}
    few = [
        one._replace(counts={t: one.counts[t] for t in only if t in one.counts}) for one in found
    ]

    assert ranked(mode, wanted, few, Statistics(scope.documents, scope.length, only)) == ranked(
        mode, wanted, found, scope
    )


@given(questions, records())
def test_a_store_need_read_no_more_than_the_seeds_and_what_is_around_them(
    question: str, found: list[Candidate]
) -> None:
    wanted, scope = asked(question, at=NOW), statistics(found)
    best = seeds(wanted, found, scope)
    around = {
        one.id: one._replace(counts={})
        for seed in best
        for one in found
        if one.thread is not None
        and one.thread == seed.thread
        and abs(one.place - seed.place) <= REACH
    }
    few = {**around, **{one.id: one for one in best}}

    assert ranked(RankingMode.CONTEXT, wanted, few.values(), scope) == ranked(
        RankingMode.CONTEXT, wanted, found, scope
    )


def test_the_same_bits_whatever_the_seed_of_hashes() -> None:
    program = (
        "from tests.recall.test_ranking import *\n"
        "for mode in RankingMode:\n"
        "  for one in ranked(mode, asked('refund of the train by Anna', at=NOW), TALK,"
        " statistics(TALK)):\n"
        "    print(mode, one.id, one.score.hex(), one.confidence.hex(), one.reason)\n"
    )
    said = {
        subprocess.run(  # noqa: S603 - this Python, and a program of ours
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ".:src"},
            check=True,
            capture_output=True,
            timeout=PATIENCE,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(said) == 1
    assert next(iter(said)).count(b"\n") > 5


def test_keywords_count_words_and_the_newest_comes_first() -> None:
    found = [
        candidate("one", "the refund", seq=1, at=9),
        candidate("both", "refund of the invoice", seq=0),
        candidate("new", "refund refund refund", seq=2),
        candidate("none", "weather", seq=3),
    ]

    results = ranked(RankingMode.KEYWORD, asked("a refund for invoices"), found, statistics(found))

    assert [(one.id, one.score) for one in results] == [("both", 2.0), ("new", 1.0), ("one", 1.0)]


def test_full_text_prefers_what_is_rare_over_what_is_frequent() -> None:
    found = [candidate(f"c{n}", "customer", seq=n) for n in range(9)]
    found.append(candidate("rare", "refund", seq=-1))

    results = ranked(RankingMode.FULL_TEXT, asked("customer refund"), found, statistics(found))

    assert results[0].id == "rare"


def test_context_finds_the_answer_that_has_none_of_the_words() -> None:
    wanted, scope = asked("Where did Boris's refund go?", at=NOW), statistics(TALK)

    by_itself = ranked(RankingMode.FULL_TEXT, wanted, TALK, scope)
    in_context = ranked(RankingMode.CONTEXT, wanted, TALK, scope)

    assert by_itself[0].id == "q"
    assert in_context[0].id == "a"
    assert in_context[0].reason.readable(created_at=NOW, at=NOW + 48 * HOUR) == (
        'matched "boris\'s"; next to a match, 1 record before; said by "boris\'s"; 2 days before'
    )


def test_nothing_reaches_further_than_a_few_records_an_hour_or_another_thread() -> None:
    hit = candidate("hit", "refund", at=NOW, place=50, thread="t")
    around = [
        candidate("near", "yes", at=NOW + GAP, place=50 + REACH, thread="t"),
        candidate("far", "yes", at=NOW, place=50 + REACH + 1, thread="t"),
        candidate("late", "yes", at=NOW + GAP + 1, place=51, thread="t"),
        candidate("other", "yes", at=NOW, place=51, thread="u"),
        candidate("alone", "yes", at=NOW, place=51),
    ]

    results = ranked(
        RankingMode.CONTEXT, asked("refund"), [hit, *around], statistics([hit, *around])
    )

    assert [one.id for one in results] == ["hit", "near"]


def test_who_is_asked_about_comes_first() -> None:
    found = [
        candidate("anna", "Anna: I paid for the train, Boris", at=0),
        candidate("boris", "Boris: I paid for the train, Anna", at=-1),
    ]

    results = ranked(
        RankingMode.CONTEXT, asked("did Boris pay for a train?"), found, statistics(found)
    )

    assert [one.id for one in results] == ["boris", "anna"]


def test_what_was_recorded_at_the_time_asked_for_comes_first() -> None:
    june, july = 1_685_750_400_000, 1_689_206_400_000
    found = [candidate("june", "we took the train", at=june), candidate("july", "train", at=july)]

    results = ranked(
        RankingMode.CONTEXT, asked("which train in June 2023?", at=NOW), found, statistics(found)
    )

    assert [one.id for one in results] == ["june", "july"]
    assert results[0].reason.period == "June 2023"
    assert results[1].reason.period is None


def test_a_question_of_grammar_alone_asks_for_all_of_it() -> None:
    assert [word.text for word in asked("The who?").words] == ["the", "who"]
    assert [word.text for word in asked("who is the owner").words] == ["owner"]
    assert asked("").words == ()
    assert "may" in GRAMMAR


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Anna: hello", {"anna"}),
        ("Dr. Anna Smith: hello", {"dr", "anna", "smith"}),
        ("at 10:30 we left", set()),
        ("see https://example.com", set()),
        ("one two three four five: no name", set()),
        ("hello", set()),
    ],
)
def test_a_text_may_begin_with_who_says_it(text: str, tokens: set[str]) -> None:
    assert speaker_of(text) == tokens


def test_every_mode_says_what_it_needs_and_how_sure_it_is() -> None:
    assert set(NEEDS) == set(CALIBRATIONS) == set(RankingMode)


@given(st.integers(0, 10**13), st.integers(0, 10**13), st.integers(1, 10**12))
def test_newer_is_fresher_and_nothing_is_worth_nothing(one: int, other: int, half: int) -> None:
    newer, older = sorted((one, other))

    assert 0 < freshness(older, half) <= freshness(newer, half) <= 1
    assert freshness(half, half) == 0.5
    assert freshness(-1, half) == 1
