"""What was recalled is frozen into the snapshot by value, and read from there alone."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes, decode, freeze
from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.errors import InvalidJson, InvalidWorld
from memoranda.recall.frame import (
    app_namespace,
    freeze_memory_context,
    get_memory_context_for_replay,
    get_memory_recall_failed_for_replay,
)
from memoranda.worlds.snapshot import Snapshot, snapshot_hash
from tests.worlds.making import json_objects, json_values, snapshot

BASE = Snapshot.from_wire(snapshot())


def spoil(value: Any) -> None:
    """Change a value wherever it can be changed."""
    if isinstance(value, dict):
        for member in value.values():
            spoil(member)
        value["spoilt"] = True
    elif isinstance(value, list):
        for item in value:
            spoil(item)
        value.append("spoilt")


@pytest.mark.rule("MEM-CTX-3", "APP-INPUT-1", "EXT-FREEZE")
@given(json_values)
def test_a_context_stands_at_input_app_beside_how_recall_went(context: Any) -> None:
    frozen = freeze_memory_context(BASE, context)

    app = {"memoryContext": context, "memoryRecallFailed": False}
    assert canonical_bytes(frozen.to_wire()["input"]) == canonical_bytes({"$app": app})
    assert canonical_bytes(get_memory_context_for_replay(frozen)) == canonical_bytes(context)
    assert get_memory_recall_failed_for_replay(frozen) is False


@pytest.mark.rule("MEM-CONTEXT-1", "D-MEM-4")
@given(json_values)
def test_what_is_done_later_to_what_was_recalled_never_reaches_it(context: Any) -> None:
    kept = canonical_bytes(context)
    frozen = freeze_memory_context(BASE, context)

    spoil(context)
    spoil(get_memory_context_for_replay(frozen))

    assert canonical_bytes(get_memory_context_for_replay(frozen)) == kept
    assert Snapshot.from_wire(decode(frozen.canonical())) == frozen


@pytest.mark.rule("MEM-CTX-3")
@pytest.mark.parametrize("context", [0, "", False, [], {}, None])
def test_a_falsy_context_is_kept_as_it_is(context: Any) -> None:
    frozen = freeze_memory_context(BASE, context)

    assert frozen.input["$app"] == {"memoryContext": context, "memoryRecallFailed": False}
    assert type(get_memory_context_for_replay(frozen)) is type(context)


@pytest.mark.rule("MEM-CTX-3", "EXT-FREEZE")
@given(json_values)
def test_a_failed_recall_is_frozen_too_and_leaves_no_context(context: Any) -> None:
    frozen = freeze_memory_context(BASE, context, failed=True)

    assert frozen.input["$app"] == {"memoryContext": None, "memoryRecallFailed": True}
    assert get_memory_context_for_replay(frozen) is None
    assert get_memory_recall_failed_for_replay(frozen) is True


@pytest.mark.rule("APP-INPUT-1", "MEM-CTX-3", "EXT-FREEZE")
@given(json_objects, json_objects, json_values, st.booleans())
def test_both_members_are_always_written_and_all_others_stay(
    given_input: dict[str, Any], inherited: dict[str, Any], context: Any, failed: bool
) -> None:
    stale = {**inherited, "memoryContext": "stale", "memoryRecallFailed": not failed}
    base = snapshot(input={**given_input, "$app": stale})

    frozen = freeze_memory_context(base, context, failed).to_wire()["input"]

    memory = {"memoryContext": None if failed else context, "memoryRecallFailed": failed}
    expected = {**given_input, "$app": {**inherited, **memory}}
    assert canonical_bytes(frozen) == canonical_bytes(expected)


@pytest.mark.rule("APP-INPUT-3")
def test_nothing_but_the_input_differs() -> None:
    frozen = freeze_memory_context(BASE, {"a": 1}).to_wire()

    del frozen["input"]
    assert frozen == BASE.to_wire()
    assert "input" not in BASE.to_wire()


@pytest.mark.rule("R-1")
@given(json_values)
def test_memory_never_changes_what_a_world_is(context: Any) -> None:
    assert snapshot_hash(freeze_memory_context(BASE, context)) == snapshot_hash(BASE)


def test_a_snapshot_or_a_mapping_may_be_given() -> None:
    given_mapping = snapshot(input={"n": 1})
    kept = copy.deepcopy(given_mapping)

    one = freeze_memory_context(given_mapping, [1])
    other = freeze_memory_context(Snapshot.from_wire(given_mapping), [1])

    assert one == other
    assert given_mapping == kept
    assert get_memory_context_for_replay(one.to_wire()) == [1]


def test_a_context_that_is_frozen_already_is_taken_as_it_is() -> None:
    assert freeze_memory_context(BASE, freeze({"a": 1.0})) == freeze_memory_context(BASE, {"a": 1})
    assert app_namespace(freeze([1])) == {"memoryContext": [1], "memoryRecallFailed": False}


@pytest.mark.rule("EXT-FREEZE", "MEM-CONTEXT-2")
@pytest.mark.parametrize(
    "given_input",
    [None, 5, [], {}, {"$app": None}, {"$app": []}, {"$app": {"other": 1}}],
)
def test_where_nothing_was_frozen_there_is_no_context_and_no_failure(given_input: Any) -> None:
    with out_of_reach("a replay"):
        for found in (snapshot(), snapshot(input=given_input)):
            assert get_memory_context_for_replay(found) is None
            assert get_memory_recall_failed_for_replay(found) is False
            assert get_memory_context_for_replay(Snapshot.from_wire(found)) is None


def test_a_context_that_is_not_json_is_refused() -> None:
    for context in ({1, 2}, float("nan"), {"a": object()}):
        with pytest.raises(InvalidJson):
            freeze_memory_context(BASE, context)


@pytest.mark.parametrize("given_input", [5, "text", [1], {"$app": 5}, {"$app": []}])
def test_an_input_without_room_for_it_is_refused(given_input: Any) -> None:
    with pytest.raises(InvalidWorld) as caught:
        freeze_memory_context(snapshot(input=given_input), {})

    assert caught.value.code == "input.world"
