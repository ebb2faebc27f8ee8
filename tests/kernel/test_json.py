"""Strict JSON: a bad document names where and why."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import MAX_DEPTH, MAX_INTEGER, check, parse, storable


@pytest.mark.parametrize(
    ("document", "where", "why"),
    [
        ('{"a": 1, "a": 2}', "$.a", "twice"),
        ('[{"x": {"b": 1, "c": 2, "b": 3}}]', "$[0].x.b", "twice"),
        ("[1, NaN]", "$[1]", "NaN"),
        ('{"a": -Infinity}', "$.a", "-Infinity"),
        ('{"a": 1e999}', "$.a", "inf"),
        (r'["\ud800"]', "$[0]", "U+D800"),
        (r'{"\udfff": 1}', "$", "U+DFFF"),
        (r'{"a": "x\u0000y"}', "$.a", "U+0000"),
        ('{"a b": [9007199254740992]}', "$['a b'][0]", "2^53-1"),
        ("[-9007199254740992]", "$[0]", "2^53-1"),
        ("[" + "1" * 5_000 + "]", "$[0]", "2^53-1"),
        ("[" * 65 + "]" * 65, "$" + "[0]" * 64, "deeper than 64"),
        ("[" * 100_000, "character 64", "deeper than 64"),
        ('{"a": ', "line 1 column 7", "expecting value"),
        ('{"a": 1,}', "line 1 column 8", "trailing comma"),
        ("", "line 1 column 1", "expecting value"),
        (b'{"a": "\xff"}', "byte 7", "UTF-8"),
    ],
)
def test_a_bad_document_names_where_and_why(document: str | bytes, where: str, why: str) -> None:
    with pytest.raises(InvalidJson) as caught:
        parse(document)

    assert caught.value.code == "input.json"
    if "column" not in where:  # the standard library's own wording and place differ by version
        assert caught.value.where == where
        assert why in caught.value.why


def test_a_document_beyond_the_size_limit_is_refused_before_it_is_read() -> None:
    for document in ('"' + "a" * 99 + '"', ('"' + "a" * 99 + '"').encode(), '"' + "é" * 50 + '"'):
        with pytest.raises(InvalidJson) as caught:
            parse(document, max_bytes=100)
        assert "the limit is 100" in caught.value.why


def test_the_limits_themselves_are_accepted() -> None:
    assert parse(f"[{MAX_INTEGER}, {-MAX_INTEGER}]") == [MAX_INTEGER, -MAX_INTEGER]
    parse("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    assert parse('"abc"', max_bytes=5) == "abc"


@pytest.mark.parametrize(
    ("value", "where", "kind"),
    [
        ({"when": dt.date(2026, 1, 1)}, "$.when", "date"),
        ([b"bytes"], "$[0]", "bytes"),
        ({"a": {1, 2}}, "$.a", "set"),
        ({1: "a"}, "$", "not a string"),
        ({"a": [0, 2**53]}, "$.a[1]", "2^53-1"),
    ],
)
def test_a_python_value_outside_json_is_refused_with_its_path(
    value: object, where: str, kind: str
) -> None:
    with pytest.raises(InvalidJson) as caught:
        check(value)

    assert caught.value.where == where
    assert kind in caught.value.why


@given(st.text())
def test_storable_says_what_a_check_would_say(text: str) -> None:
    try:
        check(text)
    except InvalidJson:
        assert not storable(text)
    else:
        assert storable(text)
