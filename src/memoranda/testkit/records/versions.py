"""Versions: every change is the next one, and whoever expected another is refused."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidPatch, RecordExists, RecordNotFound, VersionConflict
from memoranda.records.filter import MemoryFilter, select
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord, merged
from memoranda.records.store import Capability, MemoryUpdate
from memoranda.testkit import contract
from memoranda.testkit.records.opening import (
    OpenFresh,
    Store,
    declared_by,
    foretold,
    kept,
    record,
)
from memoranda.testkit.strategies import (
    IDS,
    filters,
    json_objects,
    record_inputs,
    shared_fixtures,
    tag_lists,
)


@contract(Capability.VERSIONED)
async def test_versions_are_counted_from_one(store: Store) -> None:
    id = await store.create(record({"n": 0}))

    assert await store.version(id) == 1
    await store.update(id, {"n": 1})
    assert await store.version(id) == 2
    await store.update(id, {"n": 1})
    assert await store.version(id) == 3


@contract(Capability.VERSIONED)
async def test_an_unknown_and_a_deleted_id_have_no_version(store: Store) -> None:
    id = await store.create(record())
    await store.delete(id)

    assert await store.version(id) is None
    assert await store.version("nowhere") is None


@contract(Capability.VERSIONED)
async def test_a_deleted_id_created_anew_is_a_later_version(store: Store) -> None:
    """A store that keeps the deletion as a version of its own counts that one too."""
    await store.create(record({}, id="one"))
    await store.update("one", {"n": 1})
    await store.delete("one")

    await store.create(record({}, id="one"))

    assert await store.version("one") in (3, 4)


@contract(Capability.VERSIONED)
async def test_a_refused_update_is_no_version(store: Store) -> None:
    id = await store.create(record({"n": 0}))

    with pytest.raises(InvalidPatch):
        await store.update(id, "no object")

    assert await store.version(id) == 1


@contract(Capability.VERSIONED)
async def test_an_update_of_the_expected_version_goes_through(store: Store) -> None:
    id = await store.create(record({"n": 0}))

    await store.update(id, {"n": 1}, expected_version=1)
    await store.update(id, {"n": 2}, expected_version=2)

    assert (await kept(store, id)).data == {"n": 2}


@contract(Capability.VERSIONED)
@pytest.mark.parametrize("expected", [0, 1, 3, 2**31])
async def test_an_update_of_another_version_is_refused(store: Store, expected: int) -> None:
    id = await store.create(record({"n": 0}))
    await store.update(id, {"n": 1})
    before = await kept(store, id)

    with pytest.raises(VersionConflict) as caught:
        await store.update(id, {"n": 2}, expected_version=expected)

    assert caught.value.code == "record.version_conflict"
    assert (caught.value.id, caught.value.expected, caught.value.current) == (id, expected, 2)
    assert await kept(store, id) == before
    assert await store.version(id) == 2


@contract(Capability.VERSIONED)
async def test_a_delete_of_another_version_is_refused(store: Store) -> None:
    id = await store.create(record({"n": 0}))
    await store.update(id, {"n": 1})
    before = await kept(store, id)

    with pytest.raises(VersionConflict) as caught:
        await store.delete(id, expected_version=1)

    assert (caught.value.expected, caught.value.current) == (1, 2)
    assert await kept(store, id) == before
    await store.delete(id, expected_version=2)
    assert await store.get(id) is None


@contract(Capability.VERSIONED)
async def test_of_two_deletes_of_one_version_exactly_one_succeeds(
    store: Store, twin: Store
) -> None:
    id = await store.create(record({"n": 0}))

    outcomes = await asyncio.gather(
        store.delete(id, expected_version=1),
        twin.delete(id, expected_version=1),
        return_exceptions=True,
    )

    assert sorted(map(type, outcomes), key=str) == [type(None), VersionConflict]
    assert await store.get(id) is None
    with pytest.raises(VersionConflict):
        await store.delete(id, expected_version=1)
    await store.delete(id)  # whoever expects nothing is content


@contract(Capability.VERSIONED)
async def test_a_record_created_anew_is_not_the_one_that_was_expected(store: Store) -> None:
    await store.create(record({"n": 0}, id="one"))
    await store.delete("one")
    await store.create(record({"n": 1}, id="one"))

    with pytest.raises(VersionConflict):
        await store.update("one", {"n": 2}, expected_version=1)

    assert (await kept(store, "one")).data == {"n": 1}


@contract("MEM-CRUD-3", Capability.VERSIONED)
async def test_an_unknown_id_is_not_found_whatever_is_expected(store: Store) -> None:
    with pytest.raises(RecordNotFound):
        await store.update("nowhere", {"n": 1}, expected_version=1)
    await store.delete("nowhere", expected_version=1)


@contract(Capability.VERSIONED)
async def test_a_change_takes_a_reason(store: Store) -> None:
    id = await store.create(record({}), reason="처음")
    await store.update(id, {"n": 1}, reason='it\'s "needed"')
    assert (await kept(store, id)).data == {"n": 1}
    await store.delete(id, reason="done")
    assert await store.get(id) is None


# ------------------------------------------------------------------------------------------------
# Random changes, one after the other: the store must stay what a dict would be.

FEW = st.sampled_from(IDS[:5])
"""Few ids, so that changes meet each other."""


def creations() -> st.SearchStrategy[MemoryRecordInput[Any]]:
    """Records under few ids, whose data is an object: any patch then fits."""
    return st.tuples(record_inputs(), FEW, json_objects(max_leaves=2)).map(
        lambda drawn: drawn[0].model_copy(update={"id": drawn[1], "data": drawn[2]})
    )


def changes() -> st.SearchStrategy[Any]:
    """A creation, a patch, a deletion (an id), or tags to be set (an id and a tuple)."""
    return st.one_of(
        creations(),
        st.builds(MemoryUpdate, FEW, json_objects(max_leaves=2)),
        FEW,
        st.tuples(FEW, st.none() | tag_lists().map(tuple)),
    )


def histories() -> st.SearchStrategy[list[Any]]:
    """Some creations, then changes of any kind."""
    begin = st.lists(creations(), min_size=2, max_size=4)
    return st.builds(list.__add__, begin, st.lists(changes(), min_size=2, max_size=10))


@contract("MEM-CRUD-1", "MEM-FILTER", "MEM-PATCH-1")
@given(steps=histories(), asked=st.lists(filters(), min_size=1, max_size=4))
@shared_fixtures
async def test_random_changes_leave_what_a_dict_would_hold(
    open_fresh: OpenFresh, steps: Sequence[Any], asked: Sequence[MemoryFilter]
) -> None:
    held: dict[str, StoredMemoryRecord[Any]] = {}
    async with open_fresh() as own:
        for step in steps:
            await make(own, step, held)

        for filter in [MemoryFilter(), *asked]:
            assert await own.query(filter) == select(filter, held.values())
        assert [await own.get(id) for id in IDS] == [held.get(id) for id in IDS]


async def make(store: Store, step: Any, held: dict[str, StoredMemoryRecord[Any]]) -> None:
    """Make one change in the store and in the dict, which must agree on whether it is refused."""
    match step:
        case MemoryRecordInput():
            after = foretold(step)
            try:
                await store.create(step)
            except RecordExists:
                assert after.id in held
            else:
                assert after.id not in held
                held[after.id] = after
        case MemoryUpdate(id=id, patch=patch):
            try:
                await store.update(id, patch)
            except RecordNotFound:
                assert id not in held
            else:
                changed = replace(held[id], data=merged(id, held[id].data, patch))
                held[id] = await touched(store, changed)
        case str() as id:
            await store.delete(id)
            held.pop(id, None)
        case (id, tags) if Capability.ANNOTATED in declared_by(store):
            try:
                await store.annotate(id, tags=tags)
            except RecordNotFound:
                assert id not in held
            else:
                held[id] = await touched(store, replace(held[id], tags=tags))


async def touched(store: Store, changed: StoredMemoryRecord[Any]) -> StoredMemoryRecord[Any]:
    """The record with the time that the store gave it, which can't be foretold, only bounded."""
    found = await kept(store, changed.id)
    assert found.updated_at >= changed.updated_at
    return replace(changed, updated_at=found.updated_at)
