"""Random changes, one after the other: the store must stay what a dict would be."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import RecordExists, RecordNotFound
from memoranda.records import (
    Capability,
    MemoryFilter,
    MemoryRecordInput,
    MemoryUpdate,
    StoredMemoryRecord,
)
from memoranda.records.filter import select
from memoranda.records.patch import merged
from memoranda.testkit.records.asking import kept
from memoranda.testkit.records.filters import foretold
from memoranda.testkit.records.marks import contract
from memoranda.testkit.records.opening import OpenStore, Store, declared_by, fresh_scope
from memoranda.testkit.strategies import (
    IDS,
    filters,
    json_objects,
    record_inputs,
    shared_fixtures,
    tag_lists,
)

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
    open_store: OpenStore, store: Store, steps: Sequence[Any], asked: Sequence[MemoryFilter]
) -> None:
    del store  # held open, so that the examples don't each open the database anew
    held: dict[str, StoredMemoryRecord[Any]] = {}
    async with open_store(fresh_scope()) as opened:
        own = cast("Store", opened)
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
