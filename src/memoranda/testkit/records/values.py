"""Any JSON value goes in and comes out; anything else is refused, with the path to it (D-MEM-1)."""

from datetime import UTC, datetime
from decimal import Decimal
from math import inf, nan
from typing import Any

import pytest
from hypothesis import given

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import InvalidJson, InvalidPatch
from memoranda.kernel.json import MAX_DEPTH, MAX_INTEGER
from memoranda.records.store import Capability, MemoryUpdate
from memoranda.testkit import contract
from memoranda.testkit.records.opening import Store, everything, kept, record
from memoranda.testkit.strategies import json_values, shared_fixtures


def nested(levels: int, innermost: Any = "innermost") -> Any:
    """Arrays in arrays, this many of them."""
    value = innermost
    for _ in range(levels):
        value = [value]
    return value


VALUES: dict[str, Any] = {
    "null": None,
    "true": True,
    "false": False,
    "zero": 0,
    "one": 1,
    "largest_integer": MAX_INTEGER,
    "smallest_integer": -MAX_INTEGER,
    "half": 0.5,
    "whole_float": 1.0,
    "negative_zero": -0.0,
    "float_beyond_the_integers": 1e16,
    "float_of_many_digits": 1e20,
    "float_with_an_exponent": 1e21,
    "largest_float": 1.7976931348623157e308,
    "smallest_float": 5e-324,
    "float_of_17_digits": 0.1 + 0.2,
    "empty_text": "",
    "korean": "한국어, 조합형: \u1112\u1161\u11ab",
    "astral": "🦜\U0001d4b3",
    "controls": "\x01\x1f\x7f\u0085\u2028\u2029\ufeff\uffff",
    "quotes": 'it\'s "quoted" \\ and \\u0000 %s $1 ? -- ; /*',
    "empty_array": [],
    "empty_object": {},
    "mixed_array": [None, True, 0, 1.5, "x", [], {}, [[1], [2]]],
    "object_of_everything": {"a": None, "b": [{"c": {"d": [1, 2.5, "three"]}}]},
    "unusual_keys": {
        "": 1,
        " ": 2,
        "한": 3,
        "🦜": 4,
        "\uff5e": 5,
        "$app": 6,
        "a.b[0]": 7,
        "'\"": 8,
    },
}

REFUSED: dict[str, tuple[Any, str]] = {
    "nan": ({"a": [0, nan]}, ".a[1]"),
    "infinity": ({"a": inf}, ".a"),
    "negative_infinity": ([-inf], "[0]"),
    "integer_beyond_2^53-1": ({"n": {"m": MAX_INTEGER + 1}}, ".n.m"),
    "integer_below_-2^53+1": ({"n": -MAX_INTEGER - 1}, ".n"),
    "bytes": ({"a": [{"b": b"raw"}]}, ".a[0].b"),
    "datetime": ({"at": datetime(2026, 1, 1, tzinfo=UTC)}, ".at"),
    "decimal": ({"price": Decimal("1.50")}, ".price"),
    "set": ({"of": {1}}, ".of"),
    "object": ({"it": object()}, ".it"),
    "null_character": ({"a": "x\x00y"}, ".a"),
    "lone_surrogate": ({"a": ["x\ud800y"]}, ".a[0]"),
    "key_with_null_character": ({"a": {"x\x00": 1}}, ".a"),
    "key_with_lone_surrogate": ({"a": {"\udfff": 1}}, ".a"),
    "key_that_is_no_text": ({"a": {1: "one"}}, ".a"),
}


@contract("D-MEM-1")
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
async def test_a_json_value_comes_back_as_it_went_in(store: Store, value: Any) -> None:
    id = await store.create(record(value, meta={"value": value}))

    found = await kept(store, id)
    assert_same_json(found.data, value)
    assert_same_json(found.meta, {"value": value})
    assert_same_json((await everything(store))[id].data, value)


@contract("D-MEM-1", "MEM-PATCH-1")
async def test_a_json_value_in_a_patch_comes_back_as_it_went_in(store: Store) -> None:
    id = await store.create(record({}))
    for value in VALUES.values():
        await store.update(id, {"value": value})

        assert_same_json((await kept(store, id)).data, {"value": value})


@contract("D-MEM-1")
async def test_a_tuple_is_an_array(store: Store) -> None:
    id = await store.create(record({"pair": (1, (2, 3))}))

    assert (await kept(store, id)).data == {"pair": [1, [2, 3]]}


@contract("D-MEM-1")
@given(value=json_values())
@shared_fixtures
async def test_random_json_values_come_back_as_they_went_in(store: Store, value: Any) -> None:
    id = await store.create(record(value, meta={"again": value}))

    found = await kept(store, id)
    assert_same_json(found.data, value)
    assert_same_json(found.meta, {"again": value})


@contract("D-MEM-1")
@pytest.mark.parametrize(("value", "where"), REFUSED.values(), ids=REFUSED.keys())
async def test_a_value_outside_json_is_refused_with_its_path(
    store: Store, value: Any, where: str
) -> None:
    id = await store.create(record({"a": 1}))
    before = await everything(store)

    with pytest.raises(InvalidJson) as in_data:
        await store.create(record(value))
    with pytest.raises(InvalidJson) as in_meta:
        await store.create(record(meta={"value": value}))
    with pytest.raises(InvalidJson) as in_patch:
        await store.update(id, {"patched": value})

    assert in_data.value.code == "input.json"
    assert in_data.value.where == "$.data" + where
    assert in_meta.value.where == "$.meta.value" + where
    # Where a patch begins is the store's to say.
    assert in_patch.value.where.endswith(".patched" + where)
    assert await everything(store) == before


@contract("D-MEM-1")
async def test_a_record_is_as_deep_as_json_may_be(store: Store) -> None:
    # The record itself is one level, and meta another.
    data, meta = nested(MAX_DEPTH - 1), {"value": nested(MAX_DEPTH - 2)}

    id = await store.create(record(data, meta=meta))

    found = await kept(store, id)
    assert found.data == data
    assert found.meta == meta


@contract("D-MEM-1")
async def test_a_value_that_is_too_deep_is_refused_with_its_path(store: Store) -> None:
    with pytest.raises(InvalidJson) as caught:
        await store.create(record({"a": nested(MAX_DEPTH + 1)}))

    assert caught.value.where.startswith("$.data.a[0][0]")
    assert await everything(store) == {}


@contract("D-MEM-1", Capability.CREATE_MANY)
async def test_a_batch_with_a_value_outside_json_stores_nothing(store: Store) -> None:
    with pytest.raises(InvalidJson) as caught:
        await store.create_many([record(1), record({"n": [0, nan]}), record(3)])

    assert caught.value.where.endswith(".data.n[1]")
    assert await everything(store) == {}


@contract("D-MEM-1", Capability.UPDATE_MANY)
async def test_a_batch_with_a_patch_outside_json_changes_nothing(store: Store) -> None:
    first, second = await store.create(record({"n": 1})), await store.create(record({"n": 2}))

    with pytest.raises(InvalidJson) as caught:
        await store.update_many([MemoryUpdate(first, {"n": 3}), MemoryUpdate(second, {"n": nan})])

    assert caught.value.where.endswith(".n")
    assert (await kept(store, first)).data == {"n": 1}
    assert (await kept(store, second)).data == {"n": 2}


def assert_same_json(found: Any, given: Any) -> None:
    """Equal for Python, and equal as JSON, where True is not 1."""
    assert found == given
    assert canonical_bytes(found) == canonical_bytes(given)


# ------------------------------------------------------------------------------------------------
# A patch merges shallowly into an object and replaces anything else (MEM-PATCH-1).


@contract("MEM-PATCH-1")
@pytest.mark.parametrize(
    ("data", "patch", "merged"),
    [
        ({"a": 1, "b": 2}, {"b": 3}, {"a": 1, "b": 3}),
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": 1}, {}, {"a": 1}),
        ({}, {"a": 1}, {"a": 1}),
        ({"a": {"x": 1, "y": 2}}, {"a": {"y": 3}}, {"a": {"y": 3}}),
        ({"a": {"x": 1}}, {"a": {}}, {"a": {}}),
        ({"a": [1, 2, 3]}, {"a": [4]}, {"a": [4]}),
        ({"a": 1}, {"a": None}, {"a": None}),
        ({"a": None}, {"b": None}, {"a": None, "b": None}),
        ({"a": 1}, {"a": {"b": [2]}}, {"a": {"b": [2]}}),
        ({"a": 1}, {"A": 2}, {"a": 1, "A": 2}),
        ({"한": 1}, {"🦜": 2}, {"한": 1, "🦜": 2}),
        ({"é": 1}, {"e\u0301": 2}, {"é": 1, "e\u0301": 2}),
        ({"a": 1}, {"tags": ["x"], "id": "y"}, {"a": 1, "tags": ["x"], "id": "y"}),
    ],
    ids=[
        "a_member_is_replaced",
        "a_member_is_added",
        "an_empty_patch_changes_nothing",
        "an_empty_object_is_filled",
        "a_nested_object_is_replaced",
        "a_nested_object_is_emptied",
        "an_array_is_replaced",
        "null_sets_null",
        "null_is_added",
        "a_scalar_becomes_an_object",
        "case_matters",
        "keys_of_any_script",
        "keys_are_not_normalized",
        "names_of_a_record_are_plain_members_of_data",
    ],
)  # fmt: skip
async def test_a_patch_is_merged_one_level_deep(
    store: Store, data: Any, patch: Any, merged: Any
) -> None:
    id = await store.create(record(data))

    await store.update(id, patch)

    assert (await kept(store, id)).data == merged
    assert (await everything(store))[id].data == merged


@contract("MEM-PATCH-1")
@pytest.mark.parametrize("patch", [None, False, 7, "other", [3], {"a": 1}, {}], ids=repr)
async def test_data_that_is_no_object_is_replaced(store: Store, patch: Any) -> None:
    for data in [None, True, 0, 1.5, "text", [], [1, 2]]:
        id = await store.create(record(data))

        await store.update(id, patch)

        found = (await kept(store, id)).data
        assert found == patch
        assert type(found) is type(patch)


@contract("MEM-PATCH-1")
@pytest.mark.parametrize("patch", [None, True, 7, 1.5, "text", [], [["a", 1]]], ids=repr)
async def test_a_patch_that_is_no_object_is_refused_on_an_object(store: Store, patch: Any) -> None:
    for data in [{}, {"a": 1}]:
        id = await store.create(record(data))
        before = await kept(store, id)

        with pytest.raises(InvalidPatch) as caught:
            await store.update(id, patch)

        assert caught.value.code == "input.patch"
        assert caught.value.id == id
        assert await kept(store, id) == before


@contract("MEM-PATCH-1")
async def test_patches_add_up(store: Store) -> None:
    id = await store.create(record({"a": 1}))

    await store.update(id, {"b": 2})
    await store.update(id, {"a": None, "c": {"d": 3}})
    await store.update(id, {"c": 4})

    assert (await kept(store, id)).data == {"a": None, "b": 2, "c": 4}
