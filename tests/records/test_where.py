"""Conditions on data and meta: what holds where, and what is refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidFilter
from memoranda.records.where import conditions, holds

pytestmark = pytest.mark.rule("MEM-FILTER")

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=4)
SCALARS = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXTS
ORDERED = st.integers(-1000, 1000) | st.floats(-1000, 1000) | TEXTS


def asked(where: dict[str, Any], data: object, meta: dict[str, Any] | None = None) -> bool:
    return holds(conditions(where), data, meta)


@pytest.mark.parametrize(
    ("where", "data"),
    [
        ({"data.status": "open"}, {"status": "open"}),
        ({"data.status": {"$eq": "open"}}, {"status": "open"}),
        ({"data.n": {"$gte": 3, "$lt": 5}}, {"n": 3}),
        ({"data.n": {"$in": [1, 2]}}, {"n": 2}),
        ({"data.n": 1}, {"n": 1.0}),
        ({"data.a.b.c": None}, {"a": {"b": {"c": None}}}),
        ({"data.a": {"b": 1}}, {"a": {"b": 1.0}}),
        ({"data.a": []}, {"a": []}),
        ({"data": "text"}, "text"),
        ({"data.x": {"$exists": True}}, {"x": None}),
        ({"data.x": {"$exists": False}}, {}),
        ({"data.x": {"$ne": 1}}, {}),
        ({"data.x": {"$ne": 1}}, "no object"),
        ({"data.x": {"$ne": 1}}, {"x": True}),
        ({r"data.a\.b": 1}, {"a.b": 1}),
        ({r"data.a\\": 1}, {"a\\": 1}),
        ({"data.이름": "서연"}, {"이름": "서연"}),
        ({"data.t": {"$gt": "\uffff"}}, {"t": "\U0001f600"}),
        ({}, None),
    ],
)
def test_what_holds(where: dict[str, Any], data: object) -> None:
    assert asked(where, data)


@pytest.mark.parametrize(
    ("where", "data"),
    [
        ({"data.n": 1}, {"n": True}),
        ({"data.n": True}, {"n": 1}),
        ({"data.n": 1}, {"n": "1"}),
        ({"data.n": {"$gt": 0}}, {"n": True}),
        ({"data.n": {"$gt": 0}}, {"n": "1"}),
        ({"data.n": {"$gt": "0"}}, {"n": 1}),
        ({"data.n": {"$lt": 5}}, {}),
        ({"data.n": {"$lt": 5}}, {"n": None}),
        ({"data.n": {"$in": []}}, {"n": 1}),
        ({"data.n": {"$in": [None]}}, {}),
        ({"data.n": None}, {}),
        ({"data.a.b": 1}, {"a": [{"b": 1}]}),
        ({"data.a": 1, "meta.a": 1}, {"a": 1}),
        ({"data.n": {"$gte": 3, "$lt": 5}}, {"n": 5}),
    ],
)
def test_what_does_not_hold(where: dict[str, Any], data: object) -> None:
    assert not asked(where, data)


def test_meta_is_reached_by_its_own_name() -> None:
    assert asked({"meta.n": {"$gte": 3}}, "anything", {"n": 3})
    assert asked({"meta.n": {"$exists": False}}, {"n": 3}, None)


@given(SCALARS, SCALARS)
def test_a_value_equals_another_or_differs_from_it(a: object, b: object) -> None:
    assert asked({"data.x": {"$eq": a}}, {"x": b}) != asked({"data.x": {"$ne": a}}, {"x": b})
    assert asked({"data.x": {"$eq": a}}, {"x": b}) == asked({"data.x": {"$in": [a]}}, {"x": b})
    assert asked({"data.x": {"$eq": a}}, {"x": a})


@given(ORDERED, ORDERED)
def test_of_two_values_of_one_type_exactly_one_relation_holds(a: Any, b: Any) -> None:
    related = [asked({"data.x": {name: a}}, {"x": b}) for name in ("$lt", "$gt", "$eq")]

    assert sum(related) == (isinstance(a, str) == isinstance(b, str))
    assert asked({"data.x": {"$lte": a}}, {"x": b}) == (related[0] or related[2])
    assert asked({"data.x": {"$gte": a}}, {"x": b}) == (related[1] or related[2])


@pytest.mark.parametrize(
    "where",
    [
        "data.a",
        None,
        [("data.a", 1)],
        {"": 1},
        {"a": 1},
        {"data..a": 1},
        {"data.": 1},
        {".data": 1},
        {"data.a\\": 1},
        {1: 1},
        {"data.a": {"$near": 1}},
        {"data.a": {"$gt": None}},
        {"data.a": {"$gt": True}},
        {"data.a": {"$gt": [1]}},
        {"data.a": {"$in": "abc"}},
        {"data.a": {"$exists": 1}},
        {"data.a": {"$eq": 1, "b": 2}},
        {"data.a": float("nan")},
        {"data.a": 2**60},
        {"data.a": b"x"},
        {"data.a": {"$in": list(range(1001))}},
        {"data." + ".".join("a" * 20): 1},
        {f"data.a{n}": 1 for n in range(33)},
    ],
)
def test_what_can_not_be_answered_is_refused_by_name(where: Any) -> None:
    with pytest.raises(InvalidFilter) as caught:
        conditions(where)

    assert caught.value.code == "input.filter"
