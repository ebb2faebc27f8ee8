"""What must hold of every ranking, and what each of them is for."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.recall import ranking
from memoranda.recall.bm25 import Statistics
from memoranda.recall.columns import GAP, REACH
from memoranda.recall.corpus import Document
from memoranda.recall.question import GRAMMAR, asked
from memoranda.recall.ranking import Matches, Postings, RankingMode
from memoranda.recall.selector import place_of
from memoranda.recall.selectors import freshness
from memoranda.recall.sureness import LIKELY, MAYBE
from memoranda.text import matches, query, speaker_of
from tests.patience import PATIENCE
from tests.recall import oracle
from tests.recall.texts import HOUR, questions, ranked, record, records

NOW = 1_700_000_000_000
modes = st.sampled_from(RankingMode)
TALK = [
    record("q", "Anna: Where did the refund for the train go?", at=NOW, thread="t"),
    record("a", "Boris: To my account, weeks later.", seq=1, at=NOW + 1, thread="t"),
    record("x", "Anna: Nice weather today.", seq=2, at=NOW + 2, thread="t"),
    record("y", "Anna: I like trains.", seq=3, at=NOW + 3, thread="u"),
]


@given(modes, questions, records(), st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_changes_nothing(
    mode: RankingMode, question: str, found: list[Document], chance: object
) -> None:
    wanted = asked(question, at=NOW)
    turned = list(found)
    chance.shuffle(turned)  # type: ignore[attr-defined]

    assert ranked(mode, wanted, turned) == ranked(mode, wanted, found)


@given(modes, questions, records())
def test_the_order_is_total_by_score_then_the_newest_entry(
    mode: RankingMode, question: str, found: list[Document]
) -> None:
    results = ranked(mode, asked(question, at=NOW), found)

    assert len({one.id for one in results}) == len(results)
    for one, after in pairwise(results):
        assert place_of(one) < place_of(after)


@given(modes, questions, records(), st.integers(0, 5))
def test_a_limit_cuts_and_changes_nothing_else(
    mode: RankingMode, question: str, found: list[Document], limit: int
) -> None:
    wanted = asked(question, at=NOW)

    assert ranked(mode, wanted, found, limit=limit) == ranked(mode, wanted, found)[:limit]


@given(modes, questions, records())
def test_confidence_rises_with_the_score_and_is_never_certain(
    mode: RankingMode, question: str, found: list[Document]
) -> None:
    results = ranked(mode, asked(question, at=NOW), found)

    assert all(0 < one.confidence < 1 for one in results)
    for one, after in pairwise(results):
        assert one.confidence >= after.confidence


@given(modes, questions, records(), st.integers(1, 4))
def test_the_engine_agrees_with_the_definition(
    mode: RankingMode, question: str, found: list[Document], seeds: int
) -> None:
    wanted = asked(question, at=NOW)
    places: dict[str | None, int] = {}
    candidates = []
    frequencies: dict[str, int] = {}
    for one in sorted(found, key=lambda one: (one.created_at, one.seq)):
        places[one.thread] = places.get(one.thread, 0) + 1
        candidates.append(
            oracle.Candidate(
                one.id, one.seq, one.created_at, one.words.counts, one.words.length,
                places[one.thread], one.thread, one.speaker, one.is_question,
            )
        )  # fmt: skip
        for token in one.words.counts:
            frequencies[token] = frequencies.get(token, 0) + 1
    length = oracle.total_length(one.words.length for one in found)
    scope = Statistics(len(found), length, frequencies)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "SEEDS", seeds)

        assert ranked(mode, wanted, found) == oracle.ranked(mode, wanted, candidates, scope)


@given(questions, records(), st.booleans(), st.sampled_from([0, 1_000]))
def test_what_has_the_words_is_what_the_definition_says(
    question: str, found: list[Document], every: bool, sparse: int
) -> None:
    wanted = query(question)
    having: dict[str, list[int]] = {}
    for one in found:
        for token in one.words.counts:
            having.setdefault(token, []).append(one.seq)
    postings = {
        token: Postings(np.array(seqs), np.ones(len(seqs), np.uint16))
        for token, seqs in having.items()
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_SPARSE", sparse)
        laid = Matches(postings, 3 * len(found) + 1)

        if wanted.words:
            assert laid.matching(wanted, every=every).tolist() == [
                one.seq for one in found if matches(wanted, one.words.counts, every=every)
            ]


def test_the_same_bits_whatever_the_seed_of_hashes() -> None:
    program = (
        "from tests.recall.test_ranking import *\n"
        "for mode in RankingMode:\n"
        "  for one in ranked(mode, asked('refund of the train by Anna', at=NOW), TALK):\n"
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
        record("one", "the refund", seq=1, at=9),
        record("both", "refund of the invoice", seq=0),
        record("new", "refund refund refund", seq=2),
        record("none", "weather", seq=3),
    ]

    results = ranked(RankingMode.KEYWORD, asked("a refund for invoices"), found)

    assert [(one.id, one.score) for one in results] == [("both", 2.0), ("new", 1.0), ("one", 1.0)]


def test_full_text_prefers_what_is_rare_over_what_is_frequent() -> None:
    found = [record(f"c{n}", "customer", seq=n) for n in range(9)]
    found.append(record("rare", "refund", seq=-1))

    results = ranked(RankingMode.FULL_TEXT, asked("customer refund"), found)

    assert results[0].id == "rare"


def test_context_finds_the_answer_that_has_none_of_the_words() -> None:
    wanted = asked("Where did Boris's refund go?", at=NOW)

    by_itself = ranked(RankingMode.FULL_TEXT, wanted, TALK)
    in_context = ranked(RankingMode.CONTEXT, wanted, TALK)

    assert by_itself[0].id == "q"
    assert in_context[0].id == "a"
    assert in_context[0].reason.readable(created_at=NOW, at=NOW + 48 * HOUR) == (
        'matched "boris\'s"; next to a match, 1 record before; said by "boris\'s"; 2 days before'
    )


def test_nothing_reaches_further_than_a_few_records_an_hour_or_another_thread() -> None:
    found = [record("hit", "refund", at=NOW, thread="t")]
    found += [record(f"n{n}", "yes", seq=n, at=NOW + n, thread="t") for n in range(1, REACH + 2)]
    found += [
        record("hit 2", "refund", seq=11, at=NOW, thread="u"),
        record("just", "yes", seq=12, at=NOW + GAP, thread="u"),
        record("late", "yes", seq=13, at=NOW + GAP + 1, thread="u"),
        record("alone", "yes", seq=14, at=NOW),
    ]

    results = ranked(RankingMode.CONTEXT, asked("refund"), found)

    reached = {"hit", "n1", "n2", "n3", "n4", "hit 2", "just"}
    assert {one.id for one in results} == reached


def test_who_is_asked_about_comes_first() -> None:
    found = [
        record("anna", "Anna: I paid for the train, Boris", at=0, seq=3),
        record("boris", "Boris: I paid for the train, Anna", at=-1, seq=2),
        record("other", "Anna: hello", seq=1),
    ]
    wanted = asked("did Boris pay for a train?")

    assert [one.id for one in ranked(RankingMode.CONTEXT, wanted, found)] == ["anna", "boris"]
    found.append(record("again", "Boris: good night"))
    assert [one.id for one in ranked(RankingMode.CONTEXT, wanted, found)][:2] == ["boris", "anna"]


def test_a_title_is_nobody_who_says_it() -> None:
    found = [
        record("title", "Refund policy: see below", seq=1),
        record("text", "a refund takes two weeks by policy", seq=2),
    ]

    by_words = ranked(RankingMode.FULL_TEXT, asked("refund policy"), found)
    in_context = ranked(RankingMode.CONTEXT, asked("refund policy"), found)

    assert [one.id for one in in_context] == [one.id for one in by_words]


def test_a_misspelt_word_finds_what_was_meant() -> None:
    found = [record("meant", "the invoice was late"), record("other", "the train", seq=1)]

    assert [one.id for one in ranked(RankingMode.CONTEXT, asked("invioce"), found)] == ["meant"]


def test_a_question_about_somebody_unheard_of_is_answered_weakly() -> None:
    known, unheard = (
        ranked(RankingMode.CONTEXT, asked(f"What did {name} pay for?"), TALK_OF_PAY)
        for name in ("Boris", "Ingrid")
    )

    assert known[0].confidence >= LIKELY
    assert all(one.confidence < MAYBE for one in unheard)


TALK_OF_PAY = [
    record("paid", "Boris has to pay for the train", seq=1),
    record("other", "the weather is fine", seq=2),
]


def test_what_was_recorded_at_the_time_asked_for_comes_first() -> None:
    june, july = 1_685_750_400_000, 1_689_206_400_000
    found = [record("june", "we took the train", at=june), record("july", "train", at=july)]

    results = ranked(RankingMode.CONTEXT, asked("which train in June 2023?", at=NOW), found)

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
        ("Anna: hello", {"~", "anna"}),
        ("Dr. Anna Smith: hello", {"~", "dr", "anna", "smith"}),
        ("at 10:30 we left", set()),
        ("see https://example.com", set()),
        ("one two three four five: no name", set()),
        ("hello", set()),
    ],
)
def test_a_text_may_begin_with_who_says_it(text: str, tokens: set[str]) -> None:
    assert speaker_of(text) == tokens


@given(st.integers(0, 10**13), st.integers(0, 10**13), st.integers(1, 10**12))
def test_newer_is_fresher_and_nothing_is_worth_nothing(one: int, other: int, half: int) -> None:
    newer, older = sorted((one, other))

    assert 0 < freshness(older, half) <= freshness(newer, half) <= 1
    assert freshness(half, half) == 0.5
    assert freshness(-1, half) == 1


def test_of_several_names_the_first_is_who_a_question_is_about() -> None:
    ingrid, boris = (
        ranked(RankingMode.CONTEXT, asked(text), TALK_OF_PAY)
        for text in ("Did Ingrid pay Boris?", "Did Boris pay Ingrid?")
    )

    assert ingrid[0].confidence < MAYBE < boris[0].confidence
