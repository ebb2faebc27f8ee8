"""What a document is indexed by."""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from snowballstemmer.english_stemmer import EnglishStemmer  # type: ignore[import-untyped]

from memoranda.text import MAX_WORD, TOKENIZER, fold, terms, words
from memoranda.text.stems import stem
from memoranda.text.tokens import chunk_tokens
from tests.text.finding import finds, mixed_texts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("Customers and customer's", {"custom": 2, "and": 1}),
        ("John.Smith", {"john": 1, "smith": 1}),
        ("v2.10", {"v2": 1, "10": 1, "v2.10": 1}),
        ("10 \u0661\u0660 " + "1" * 100, {"10": 1, "\u0661\u0660": 1, "1" * MAX_WORD: 1}),
        ("foo_ _foo", {"foo": 2}),
        ("l'homme don't", {"l": 1, "homm": 1, "don't": 1}),
        ("고객에게", {"고객": 1, "객에": 1, "에게": 1}),
        ("물은", {"물은": 1, "물": 1}),
        ("東京都", {"東京": 1, "京都": 1, "東": 1, "京": 1, "都": 1}),
        ("タワーに", {"タワ": 1, "ワー": 1, "に": 1}),
        ("a" * 100, {"a" * MAX_WORD: 1}),
    ],
)
def test_a_text_has_these_tokens(text: str, expected: dict[str, int]) -> None:
    assert terms(text).counts == expected
    assert terms(text).length == sum(expected.values())


@given(mixed_texts())
def test_tokens_fit_every_database(text: str) -> None:
    for token in terms(text).counts:
        assert 1 <= len(token) <= MAX_WORD
        assert not re.search(r"[\s\0]", token)
        assert fold(token) == token


@given(mixed_texts())
def test_there_are_at_most_two_tokens_for_a_code_point(text: str) -> None:
    assert terms(text).length <= 2 * len(fold(text))


@given(mixed_texts())
def test_a_text_has_tokens_exactly_when_it_has_words(text: str) -> None:
    assert bool(terms(text).counts) == bool(words(text))


@given(st.lists(mixed_texts(), max_size=4))
def test_texts_that_are_put_together_have_the_tokens_of_each(several: list[str]) -> None:
    together = terms("\n".join(several))

    each = [terms(text) for text in several]
    assert together.counts == sum((Counter(one.counts) for one in each), Counter())
    assert together.length == sum(one.length for one in each)


@given(mixed_texts())
def test_what_is_remembered_is_what_is_computed(text: str) -> None:
    afresh = Counter(token for chunk in text.split() for token in chunk_tokens(chunk))

    assert terms(text).counts == terms(text).counts == afresh


def test_stems_are_english_and_only_of_plain_letters() -> None:
    assert {stem(word) for word in ("customers", "customer", "customer's")} == {"custom"}
    assert stem("cafés") == "cafés"
    assert stem("x2s") == "x2s"
    assert stem("x2's") == "x2"
    assert finds("customers", "customer")


_ENDINGS = (
    *("", "s", "ed", "ing", "ly", "y", "e", "l", "ation", "fulness", "ousli", "ogist", "ator"),
    *("iti", "enci", "'s", "ement", "izer", "ical", "less", "eed", "ies", "o", "k", "sh", "a"),
)


@given(
    st.text("abcdegiklnoprstuvwyz", min_size=1, max_size=8),
    st.sampled_from(_ENDINGS),
    st.sampled_from(["", "s", "a", "y", "'t"]),
)
def test_a_stem_is_that_of_the_stemmer_with_and_without_an_ending(
    root: str, ending: str, more: str
) -> None:
    word = root + ending + more

    assert stem(word) == (EnglishStemmer().stemWord(word) or word)


@pytest.mark.parametrize("word", ["skis", "news", "sky", "gently", "inning", "succeed", "past"])
def test_the_exceptions_of_the_stemmer_are_kept(word: str) -> None:
    assert stem(word) == EnglishStemmer().stemWord(word)


@pytest.fixture
def often() -> Iterator[None]:
    """Threads take turns as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.usefixtures("often")
def test_threads_get_the_stems_that_one_gets() -> None:
    plain = [f"{head}{tail}" for head in WORDS_WITH_ENDINGS for tail in ("s", "ing", "ization")]
    expected = [stem.__wrapped__(word) for word in plain]

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(stem.__wrapped__, plain * 20))

    assert found == expected * 20


def test_the_version_names_all_that_decides() -> None:
    assert re.fullmatch(
        r"memoranda-text/\d+ words=unicode-[\d.]+ forms=unicode-[\d.]+"
        r" stems=snowball-english-[\d.]+",
        TOKENIZER,
    )


WORDS_WITH_ENDINGS = [
    "custom",
    "general",
    "nation",
    "relation",
    "organ",
    "modern",
    "author",
    "real",
    "visual",
    "formal",
]
