"""Read-only views: they read as what is stored, equal plain values, and can't be changed."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from pydantic import BaseModel

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.errors import InvalidJson
from memoranda.worlds.readonly import ReadOnly, ReadOnlyArray, plain, read_only, taken
from tests.worlds.running import objects, values

STATE: Any = {"b": [1, {"c": [2.0, "x"]}], "a": {"d": None}}


def containers(view: Any) -> Iterator[Any]:
    """A view and all views below it."""
    if isinstance(view, str) or not hasattr(view, "__len__"):
        return
    yield view
    for member in view.values() if hasattr(view, "values") else view:
        yield from containers(member)


CHANGES: dict[str, Callable[[Any], object]] = {
    "set": lambda view: view.__setitem__(0, 1),
    "delete": lambda view: view.__delitem__(0),
    "clear": lambda view: view.clear(),
    "pop": lambda view: view.pop(),
}
OBJECT_CHANGES: dict[str, Callable[[Any], object]] = CHANGES | {
    "update": lambda view: view.update(a=1),
    "setdefault": lambda view: view.setdefault("x", 1),
    "popitem": lambda view: view.popitem(),
    "or": lambda view: view.__ior__({"a": 1}),
}
ARRAY_CHANGES: dict[str, Callable[[Any], object]] = CHANGES | {
    "append": lambda view: view.append(1),
    "extend": lambda view: view.extend([1]),
    "insert": lambda view: view.insert(0, 1),
    "remove": lambda view: view.remove(1),
    "sort": lambda view: view.sort(),
    "reverse": lambda view: view.reverse(),
    "add": lambda view: view.__iadd__([1]),
    "multiply": lambda view: view.__imul__(2),
}


@given(values)
def test_a_view_equals_the_plain_value_both_ways(value: Any) -> None:
    view = read_only(value)

    assert view == value
    assert value == view
    assert view == read_only(copy.deepcopy(value))


@given(values)
def test_a_plain_copy_has_the_bytes_of_what_was_viewed(value: Any) -> None:
    found = plain(read_only(value))

    assert canonical_bytes(found) == canonical_bytes(value)


@given(objects)
def test_a_view_reads_as_what_comes_back_from_a_store(value: Any) -> None:
    stored = decode(canonical_bytes(value))

    assert repr(read_only(value)) == repr(read_only(stored))
    assert list(read_only(value)) == sorted(stored)


def test_a_number_reads_as_what_comes_back_from_a_store() -> None:
    view = read_only([1.0, -0.0, 0.5, 1e16, 2])

    assert [repr(number) for number in view] == ["1", "0", "0.5", "1e+16", "2"]


@pytest.mark.parametrize("change", [*OBJECT_CHANGES.values()], ids=[*OBJECT_CHANGES])
def test_no_object_can_be_changed_at_any_depth(change: Callable[[Any], object]) -> None:
    before = canonical_bytes(STATE)

    found = [view for view in containers(read_only(STATE)) if hasattr(view, "items")]

    assert len(found) == 3
    for view in found:
        with pytest.raises(ReadOnly):
            change(view)
    assert canonical_bytes(STATE) == before


@pytest.mark.parametrize("change", [*ARRAY_CHANGES.values()], ids=[*ARRAY_CHANGES])
def test_no_array_can_be_changed_at_any_depth(change: Callable[[Any], object]) -> None:
    before = canonical_bytes(STATE)

    found = [view for view in containers(read_only(STATE)) if isinstance(view, ReadOnlyArray)]

    assert len(found) == 2
    for view in found:
        with pytest.raises(ReadOnly):
            change(view)
    assert canonical_bytes(STATE) == before


@given(objects)
def test_what_is_done_to_a_copy_does_not_reach_what_was_viewed(value: Any) -> None:
    before = canonical_bytes(value)
    view = read_only(value)

    for made in (plain(view), copy.copy(view), copy.deepcopy(view)):
        made.clear()
        made["new"] = 1

    assert canonical_bytes(value) == before


@given(objects)
def test_what_is_taken_back_shares_what_was_viewed_and_copies_the_rest(value: Any) -> None:
    own: Any = {"kept": read_only(value), "new": [value, (1, 2)]}

    found = taken(own)

    assert found["kept"] is value
    assert found["new"][0] is not value
    assert found["new"][1] == [1, 2]
    assert canonical_bytes(found) == canonical_bytes({"kept": value, "new": [value, [1, 2]]})


def test_views_work_as_mappings_and_sequences_do() -> None:
    view = read_only(STATE)

    assert view | {"z": 1} == {**STATE, "z": 1}
    assert {"z": 1} | view == {**STATE, "z": 1}
    assert view["b"] + [3] == [*STATE["b"], 3]
    assert [0] + view["b"] == [0, *STATE["b"]]
    assert view["b"][1:] == [{"c": [2, "x"]}]
    assert view["b"][-1]["c"][::-1] == ["x", 2]
    assert {"c": [2, "x"]} in view["b"]
    assert ("a" in view, "x" in view, view.get("x", 7), len(view)) == (True, False, 7, 2)
    assert view != {"a": 1}
    assert view["b"] != "b"
    match view:
        case {"b": [first, *_]}:
            assert first == 1
        case _:
            pytest.fail("a view is a mapping")


def test_pydantic_reads_views_and_a_model_is_taken_as_its_json() -> None:
    class Inner(BaseModel):
        c: list[Any]

    class Outer(BaseModel):
        b: list[int | Inner]

    found = Outer.model_validate(read_only(STATE))

    assert taken({"x": found}) == {"x": {"b": [1, {"c": [2, "x"]}]}}


def test_a_value_that_holds_itself_is_refused() -> None:
    turning: list[Any] = []
    turning.append(turning)

    with pytest.raises(InvalidJson) as caught:
        plain(turning)

    assert caught.value.code == "input.json"


def test_reading_a_member_of_a_large_state_copies_nothing() -> None:
    large = {f"m{n}": {"items": list(range(50))} for n in range(1000)}

    view = read_only(large)

    assert taken(view["m500"]["items"]) is large["m500"]["items"]
