"""Patches: set, unset and merge at a path, on a copy."""

import contextlib
import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import InvalidWorld
from memoranda.worlds.action import Merge, Patch, Path, Set, Unset, patched
from memoranda.worlds.readonly import read_only
from tests.worlds.running import names, objects, values

paths = st.lists(names, min_size=1, max_size=3).map(tuple)


@st.composite
def patch_of(draw: st.DrawFn, state: dict[str, Any]) -> Patch:
    """A patch that hits what is there as often as what is not."""
    where: list[str | int] = []
    here: Any = state
    for _ in range(draw(st.integers(1, 3))):
        if isinstance(here, dict) and here and draw(st.booleans()):
            where.append(draw(st.sampled_from(sorted(here))))
        else:
            where.append(draw(names))
        here = here.get(where[-1]) if isinstance(here, dict) else None
    place = tuple(where)
    return draw(
        st.one_of(
            st.builds(Set, st.just(place), values),
            st.builds(Unset, st.just(place)),
            st.builds(Merge, st.just(place), objects),
        )
    )


@st.composite
def states_and_patches(draw: st.DrawFn) -> tuple[dict[str, Any], list[Patch]]:
    state = draw(objects)
    return state, draw(st.lists(patch_of(state), max_size=5))


def at(state: Any, path: Path) -> Any:
    for step in path:
        state = state[step]
    return state


def result_of(state: Any, patches: list[Patch]) -> bytes | None:
    try:
        return canonical_bytes(patched(state, patches))
    except InvalidWorld:
        return None


@given(states_and_patches())
def test_the_base_is_never_touched_and_shares_what_is_left_alone(
    given: tuple[dict[str, Any], list[Patch]],
) -> None:
    state, patches = given
    before = canonical_bytes(state)
    touched = {patch.path[0] for patch in patches}

    found: Any = None
    with contextlib.suppress(InvalidWorld):  # a patch that does not fit
        found = patched(state, patches)

    assert canonical_bytes(state) == before
    if found is not None:
        assert all(found[name] is state[name] for name in state if name not in touched)


@given(states_and_patches())
def test_patches_at_once_do_what_they_do_one_by_one(
    given: tuple[dict[str, Any], list[Patch]],
) -> None:
    state, patches = given
    one_by_one: Any = copy.deepcopy(state)
    try:
        for patch in patches:
            one_by_one = patched(one_by_one, [patch])
    except InvalidWorld:
        assert result_of(state, patches) is None
    else:
        assert result_of(state, patches) == canonical_bytes(one_by_one)


@given(objects, paths, values)
def test_what_is_set_is_there_and_setting_it_again_changes_nothing(
    state: dict[str, Any], path: tuple[str, ...], value: Any
) -> None:
    once = result_of(state, [Set(path, value)])
    if once is None:  # something on the way is no object
        return

    assert canonical_bytes(at(patched(state, [Set(path, value)]), path)) == canonical_bytes(value)
    assert result_of(state, [Set(path, 1), Set(path, value)]) == once


@given(objects, names, values)
def test_what_is_unset_is_gone_and_unsetting_it_again_changes_nothing(
    state: dict[str, Any], name: str, value: Any
) -> None:
    without = {key: member for key, member in state.items() if key != name}

    assert patched(state, [Unset((name,))]) == without
    assert patched(state, [Set((name,), value), Unset((name,)), Unset((name,))]) == without


@given(objects, objects, objects)
def test_a_merge_is_shallow_and_the_last_one_wins(
    state: dict[str, Any], first: dict[str, Any], second: dict[str, Any]
) -> None:
    assert patched(state, [Merge("", first)]) == state | first
    assert patched(state, [Merge("", first), Merge("", second)]) == state | first | second
    assert patched({"a": state}, [Merge("a", first)]) == {"a": state | first}


@given(objects, values)
def test_what_was_set_is_taken_by_value(state: dict[str, Any], value: Any) -> None:
    handed = [value]
    found = patched(state, [Set("mine", handed), Set("seen", read_only(state))])
    before = canonical_bytes(found)

    handed.append("later")

    assert canonical_bytes(found) == before
    assert found["seen"] is state


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        (Set("a.b", 2), {"a": {"b": 2}, "l": [{"x": 1}, 2]}),
        (Set("n.e.w", 2), {"a": {"b": 1}, "l": [{"x": 1}, 2], "n": {"e": {"w": 2}}}),
        (Set(("a.b",), 2), {"a": {"b": 1}, "l": [{"x": 1}, 2], "a.b": 2}),
        (Set("l.1", 3), {"a": {"b": 1}, "l": [{"x": 1}, 3]}),
        (Set("l.0.x", 3), {"a": {"b": 1}, "l": [{"x": 3}, 2]}),
        (Set(("l", 0, "x"), 3), {"a": {"b": 1}, "l": [{"x": 3}, 2]}),
        (Set("", {"all": "new"}), {"all": "new"}),
        (Unset("a.b"), {"a": {}, "l": [{"x": 1}, 2]}),
        (Unset("no.such.thing"), {"a": {"b": 1}, "l": [{"x": 1}, 2]}),
        (Merge("l.0", {"y": 2}), {"a": {"b": 1}, "l": [{"x": 1, "y": 2}, 2]}),
        (Merge("new", {"y": 2}), {"a": {"b": 1}, "l": [{"x": 1}, 2], "new": {"y": 2}}),
    ],
)
def test_a_path_is_dotted_or_a_tuple(patch: Patch, expected: Any) -> None:
    assert patched({"a": {"b": 1}, "l": [{"x": 1}, 2]}, [patch]) == expected


@pytest.mark.parametrize(
    "patch",
    [
        Set("a.b.c", 1),
        Set("l.2", 1),
        Set("l.-1", 1),
        Set("l.x", 1),
        Set(("a", 0), 1),
        Unset("l.0"),
        Unset(""),
        Merge("a.b", {"c": 1}),
        Merge("l", {"c": 1}),
        Merge("a", [1]),  # type: ignore[arg-type]
    ],
)
def test_a_patch_that_does_not_fit_is_refused(patch: Patch) -> None:
    with pytest.raises(InvalidWorld) as caught:
        patched({"a": {"b": 1}, "l": [1]}, [patch])

    assert caught.value.code == "input.world"
