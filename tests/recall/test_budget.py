"""A budget of tokens: more text never takes less, and a larger budget never fits fewer."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidFilter
from memoranda.recall.selector import estimate, fits

texts = st.text(
    st.characters() | st.sampled_from("aZ9 .{가힣漢あア\n\u0301é\U0001f600"), max_size=40
)


@given(texts, texts, texts)
def test_more_text_never_takes_less(before: str, text: str, after: str) -> None:
    assert estimate(text) <= estimate(before + text + after)
    assert estimate(before + after) <= estimate(before + text + after)


@given(texts, texts)
def test_two_texts_together_take_no_more_than_each_alone(one: str, other: str) -> None:
    whole = estimate(one + other)

    assert whole <= estimate(one) + estimate(other) <= whole + 1


@given(texts)
def test_every_text_takes_something_but_the_empty_one(text: str) -> None:
    assert (estimate(text) == 0) is (text == "")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("aaaa", 1),
        ("The customer prefers email", 7),
        ("고객은 이메일을 선호한다", 12),
        ("東京都", 4),
        ("カタカナ", 4),
        ("2026", 2),
        ("{}", 2),
        ("Москва", 3),
        ("ภาษาไทย", 7),
        ("😀", 2),
    ],
)
def test_scripts_weigh_what_is_documented(text: str, tokens: int) -> None:
    assert estimate(text) == tokens


@given(st.lists(texts, max_size=8), st.integers(0, 60))
def test_the_first_that_fit_are_taken(given_texts: list[str], budget: int) -> None:
    taken = fits(given_texts, budget)

    costs = list(itertools.accumulate(map(estimate, given_texts), initial=0))
    assert costs[taken] <= budget
    assert taken == len(given_texts) or costs[taken + 1] > budget


@given(st.lists(texts, max_size=8), st.integers(0, 60), st.integers(0, 60))
def test_a_larger_budget_never_fits_fewer(given_texts: list[str], one: int, more: int) -> None:
    assert fits(given_texts, one) <= fits(given_texts, one + more)


def test_a_tokenizer_of_ones_own_counts() -> None:
    counted: list[str] = []

    def count(text: str) -> int:
        counted.append(text)
        return len(text)

    assert fits(["aa", "bbb", "c", "d"], 4, count) == 1
    assert counted == ["aa", "bbb"]  # nothing beyond is looked at


@pytest.mark.parametrize("budget", [-1, 1.5, True, None, "9"])
def test_a_budget_that_is_none_is_refused(budget: Any) -> None:
    with pytest.raises(InvalidFilter):
        fits(["a"], budget)


@pytest.mark.parametrize("tokens", [-1, 0.5, None])
def test_a_count_that_is_none_is_refused(tokens: Any) -> None:
    with pytest.raises(InvalidFilter):
        fits(["a"], 10, lambda _: tokens)
