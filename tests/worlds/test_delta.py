"""A delta leads from one value to the other, whatever they are, and changes neither."""

import copy
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.errors import InvalidWorld
from memoranda.worlds.delta import applied, changes
from tests.worlds.making import json_values

alike = st.recursive(
    st.sampled_from([None, True, False, 0, 1, 1.0, 0.0, -0.0, "", "a", "b", 2]),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=16,
)
"""Values that have much in common, and what Python can't tell apart."""


@given(json_values | alike, json_values | alike)
def test_changes_lead_from_one_value_to_the_other(before: Any, after: Any) -> None:
    stored = decode(canonical_bytes(changes(before, after)))

    assert canonical_bytes(applied(before, stored)) == canonical_bytes(after)


@given(alike, alike, alike)
def test_nothing_that_is_given_is_changed(before: Any, after: Any, other: Any) -> None:
    kept = copy.deepcopy((before, after))
    found = changes(before, after)
    kept_changes = copy.deepcopy(found)

    result = applied(before, found)
    applied(result, changes(result, other))

    assert canonical_bytes([before, after]) == canonical_bytes(list(kept))
    assert canonical_bytes(found) == canonical_bytes(kept_changes)


@given(alike, alike)
def test_there_are_no_changes_exactly_between_equal_values(one: Any, other: Any) -> None:
    assert (changes(one, other) == []) == (canonical_bytes(one) == canonical_bytes(other))


@given(st.lists(alike, min_size=1, max_size=6))
def test_a_chain_of_changes_leads_to_the_last_value(values: list[Any]) -> None:
    at = values[0]
    for before, after in itertools.pairwise(values):
        at = applied(at, changes(before, after))

    assert canonical_bytes(at) == canonical_bytes(values[-1])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1, "b": 2}, {"a": 1, "b": 3}, [["set", ["b"], 3]]),
        ({"a": 1}, {"a": 1, "b": None}, [["set", ["b"], None]]),
        ({"a": 1, "b": None}, {"a": 1}, [["unset", ["b"]]]),
        ({"b": 1, "a": 1}, {"d": 1, "c": 1}, [["unset", ["a"]], ["unset", ["b"]]]),
        (
            {"a": {"b": [1, {"c": 1}]}},
            {"a": {"b": [1, {"c": 2}]}},
            [["set", ["a", "b", 1, "c"], 2]],
        ),
        ([1, 2], [1, 2, 3], [["splice", [], 2, 0, [3]]]),
        ([1, 2, 3], [2, 3], [["splice", [], 0, 1, []]]),
        ([1, 2, 3], [1, 9, 8, 3], [["splice", [], 1, 1, [9, 8]]]),
        ([1, 2, 3], [1, 9, 3], [["set", [1], 9]]),
        ({"a": 1}, [1], [["set", [], [1]]]),
        ([], {}, [["set", [], {}]]),
        (1, True, [["set", [], True]]),
        ({"a": [{"b": 1}], "c": 1}, {"a": [{"b": True}], "c": 1}, [["set", ["a", 0, "b"], True]]),
        ([1, 0, 5], [True, 0], [["splice", [], 0, 3, [True, 0]]]),
        ([9, 1], [True], [["splice", [], 0, 2, [True]]]),
        ({"a": [1, 2.0, (3,)]}, {"a": (1.0, 2, [3])}, []),
    ],
)
def test_changes_are_the_small_ones(before: Any, after: Any, expected: Any) -> None:
    found = changes(before, after)

    assert canonical_bytes(found[: len(expected)]) == canonical_bytes(expected)
    assert canonical_bytes(applied(before, found)) == canonical_bytes(after)


def test_a_small_change_of_a_large_state_is_small() -> None:
    before = {"items": [{"id": n, "name": f"item {n}", "tags": ["a"]} for n in range(2000)]}
    after = decode(canonical_bytes(before))
    after["items"][700]["tags"].append("b")
    after["items"][3]["name"] = "other"

    assert changes(before, after) == [
        ["set", ["items", 3, "name"], "other"],
        ["splice", ["items", 700, "tags"], 1, 0, ["b"]],
    ]


def test_what_is_unchanged_is_shared_and_not_copied() -> None:
    before: dict[str, Any] = {"large": list(range(100)), "n": 1}

    after = applied(before, [["set", ["n"], 2]])

    assert after["large"] is before["large"]
    assert before["n"] == 1


def test_many_changes_copy_a_container_once() -> None:
    before = list(range(20_000))
    after = [number + 1 for number in before]

    assert applied(before, changes(before, after)) == after  # quadratic, it would take a minute


@pytest.mark.parametrize(
    "wrong",
    [
        ["set", ["a", "b"], 1],
        ["set", ["list", 9], 1],
        ["set", ["list", -1], 1],
        ["set", ["list", "0"], 1],
        ["set", ["list", True], 1],
        ["set", ["a"]],
        ["set", ["a"], 1, 2],
        ["unset", ["nowhere"]],
        ["unset", ["list", 0]],
        ["unset", []],
        ["splice", ["list"], 3, 0, [1]],
        ["splice", ["list"], 0, 3, []],
        ["splice", ["list"], -1, 0, []],
        ["splice", ["a"], 0, 0, []],
        ["splice", ["list"], 0, 0, 1],
        ["move", ["a"], ["b"]],
        ["set", 5, 1],
        [],
        None,
    ],
)
def test_a_change_that_does_not_fit_is_refused(wrong: Any) -> None:
    before = {"a": 1, "list": [1, 2]}

    with pytest.raises(InvalidWorld) as caught:
        applied(before, [["set", ["a"], 2], wrong])

    assert caught.value.where == "$[1]"
    assert before == {"a": 1, "list": [1, 2]}
