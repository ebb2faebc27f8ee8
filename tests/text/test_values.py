"""What of a JSON value can be searched."""

from typing import Any

from hypothesis import given

from recollect.identity import canonical_bytes, decode
from recollect.testkit.strategies import json_values
from recollect.text import matches, query, terms, terms_of, texts


def test_strings_and_numbers_are_searched_in_their_order() -> None:
    value = {"b": ["one", {"c": 2, "d": (3.5, True, None)}, "four"], "a": {"e": "five"}, "n": -6}

    assert list(texts(value)) == ["one", "2", "3.5", "four", "five", "-6"]


def test_keys_are_not_searched() -> None:
    found = terms_of({"text": "The customer prefers email", "order": 812})

    assert matches(query("customer 812"), found.counts)
    assert not matches(query("text order"), found.counts, every=False)


def test_no_word_goes_over_the_end_of_a_string() -> None:
    assert terms_of(["고", "객"]).counts == {"고": 1, "객": 1}
    assert terms_of(["in", "put"]) == terms("in put")


@given(json_values())
def test_a_value_has_the_same_tokens_before_and_after_it_was_stored(value: Any) -> None:
    assert terms_of(decode(canonical_bytes(value))) == terms_of(value)


def test_depth_is_no_concern() -> None:
    value: Any = "deep"
    for _ in range(100_000):
        value = [value]

    assert list(texts(value)) == ["deep"]
    while isinstance(value, list):  # taken apart here: Python's own way down is recursive
        value = value[0]
