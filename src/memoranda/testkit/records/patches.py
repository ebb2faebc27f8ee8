"""A patch merges shallowly into an object and replaces anything else (MEM-PATCH-1)."""

from typing import Any

import pytest

from memoranda.kernel.errors import InvalidPatch
from memoranda.testkit.records.asking import everything, kept, record
from memoranda.testkit.records.marks import contract
from memoranda.testkit.records.opening import Store


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
