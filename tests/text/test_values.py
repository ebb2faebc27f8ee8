"""What of a JSON value can be searched."""

from typing import Any

import pytest
from hypothesis import given

from memoranda.identity import canonical_bytes, decode
from memoranda.testkit.strategies import json_values
from memoranda.text import matches, query, terms, terms_of, texts
from memoranda.text.tokens import shown


def test_names_strings_and_numbers_are_searched_in_their_order() -> None:
    value = {"b": ["one", {"c": 2, "d": (3.5, True, None)}, "four"], "a": {"e": "five"}, "n": -6}

    assert list(texts(value)) == [
        "b", "one", "c", "2", "d", "3.5", "four", "a", "e", "five", "n", "-6",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["max_discount", "maxDiscount", "max-discount", "MAXDiscount"])
def test_a_name_is_found_by_its_words(name: str) -> None:
    found = terms_of({"customer": {name: 20}, "others": [{name: 30}, {name: 40}]})

    for asked in ("discount", "max discount", "DISCOUNTS", "customer 20"):
        assert matches(query(asked), found.counts)
    assert found.counts["max"] == 1


def test_all_of_a_value_is_shown_with_the_path_to_it() -> None:
    value = {
        "customer": "Kim",
        "smoker": False,
        "max_discount": 20.0,
        "lines": [{"price": 3.5, "note": None}, [], "x"],
        "more": {},
    }

    assert shown(value).split("\n") == [
        "customer: Kim",
        "smoker: false",
        "max_discount: 20",
        "lines[0].price: 3.5",
        "lines[0].note: null",
        "lines[1]: []",
        "lines[2]: x",
        "more: {}",
    ]
    assert shown("as it is") == "as it is"
    assert [shown(one) for one in (True, None, 7, [], ["a"])] == [
        "true", "null", "7", "[]", "[0]: a",
    ]  # fmt: skip


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
