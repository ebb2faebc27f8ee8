"""Many records in one call: all of them, or none (D-MEM-1)."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import (
    InvalidFilter,
    InvalidInput,
    InvalidPatch,
    ReasonMissing,
    RecordExists,
    RecordNotFound,
    UnknownFilterKey,
)
from memoranda.records.filter import PLAIN_KEYS, MemoryFilter, select
from memoranda.records.model import MemoryRecordInput
from memoranda.records.store import Capability, MemoryUpdate
from memoranda.testkit import contract
from memoranda.testkit.records.opening import (
    OpenFresh,
    Store,
    create_all,
    create_foretold,
    everything,
    ids_in,
    ids_of,
    kept,
    record,
)
from memoranda.testkit.strategies import own_filters, record_lists, shared_fixtures

# --------------------------------------------------------------------------- create_many


@contract("D-MEM-1", "MEM-CRUD-4", Capability.CREATE_MANY)
async def test_create_many_returns_ids_in_the_order_given(store: Store) -> None:
    ids = await store.create_many([record(0), record(1, id="mine", tags=["x"]), record(2)])

    assert ids[1] == "mine"
    assert len(set(ids)) == 3
    assert [(await kept(store, id)).data for id in ids] == [0, 1, 2]
    assert await ids_in(store, tags=["x"]) == ["mine"]


@contract("D-MEM-1", Capability.CREATE_MANY)
async def test_create_many_with_a_used_id_stores_nothing(store: Store) -> None:
    await store.create(record("first", id="used"))
    before = await everything(store)

    with pytest.raises(RecordExists) as caught:
        await store.create_many([record(id="new", tags=["x"]), record(id="used"), record()])

    assert caught.value.id == "used"
    assert await everything(store) == before
    assert await ids_in(store, tags=["x"]) == []
    assert await store.create(record(id="new")) == "new"


@contract("D-MEM-1", Capability.CREATE_MANY)
async def test_create_many_with_one_id_twice_stores_nothing(store: Store) -> None:
    with pytest.raises(RecordExists) as caught:
        await store.create_many([record(1, id="one"), record(2), record(3, id="one")])

    assert caught.value.id == "one"
    assert await everything(store) == {}


@contract("D-MEM-1", Capability.CREATE_MANY, Capability.DELETE_MANY)
async def test_a_batch_of_a_thousand_goes_in_and_out(store: Store) -> None:
    ids = await store.create_many([record(n, created_at=n, tags=["x"]) for n in range(1000)])

    assert await ids_in(store, order="asc") == ids
    assert await ids_in(store, order="asc", ids=ids) == ids
    await store.delete_many(ids[:-1])
    assert await ids_in(store, tags=["x"]) == ids[-1:]


@contract("D-MEM-1", Capability.CREATE_MANY)
async def test_a_deleted_id_may_be_created_anew_in_a_batch(store: Store) -> None:
    await store.create(record("old", id="one", tags=["old"]))
    await store.delete("one")

    assert await store.create_many([record("new", id="one"), record(id="two")]) == ["one", "two"]

    assert (await kept(store, "one")).data == "new"
    assert await ids_in(store, tags=["old"]) == []


# --------------------------------------------------------------------------- update_many


@contract("D-MEM-1", "MEM-PATCH-1", Capability.UPDATE_MANY)
async def test_update_many_merges_each_patch(store: Store) -> None:
    await create_all(store, record({"n": 1, "m": 1}, id="a"), record("text", id="b"))

    await store.update_many([MemoryUpdate("b", [2]), MemoryUpdate("a", {"n": 2})])

    assert (await kept(store, "a")).data == {"n": 2, "m": 1}
    assert (await kept(store, "b")).data == [2]


@contract("D-MEM-1", "MEM-PATCH-1", Capability.UPDATE_MANY)
async def test_update_many_of_one_record_happens_in_the_order_given(store: Store) -> None:
    id = await store.create(record({"n": 0}))

    await store.update_many(
        [MemoryUpdate(id, {"n": 1, "first": 1}), MemoryUpdate(id, {"n": 2, "second": 2})]
    )

    assert (await kept(store, id)).data == {"n": 2, "first": 1, "second": 2}


@contract("D-MEM-1", "MEM-CRUD-3", Capability.UPDATE_MANY)
async def test_update_many_with_an_unknown_id_changes_nothing(store: Store) -> None:
    await create_all(store, record({"n": 1}, id="a"), record({"n": 1}, id="b"))
    before = await everything(store)

    with pytest.raises(RecordNotFound) as caught:
        await store.update_many([MemoryUpdate(id, {"n": 2}) for id in ("a", "nowhere", "b")])

    assert caught.value.id == "nowhere"
    assert await everything(store) == before


@contract("D-MEM-1", "MEM-PATCH-1", Capability.UPDATE_MANY)
async def test_update_many_with_a_patch_that_is_refused_changes_nothing(store: Store) -> None:
    await create_all(store, record({"n": 1}, id="a"), record({"n": 1}, id="b"))
    before = await everything(store)

    with pytest.raises(InvalidPatch) as caught:
        await store.update_many([MemoryUpdate("a", {"n": 2}), MemoryUpdate("b", "no object")])

    assert caught.value.id == "b"
    assert await everything(store) == before


# --------------------------------------------------------------------------- delete_many


@contract("D-MEM-1", Capability.DELETE_MANY)
async def test_delete_many_deletes_what_is_there(store: Store) -> None:
    await create_all(store, *(record(id=id) for id in "abcd"))

    await store.delete_many(["b", "nowhere", "d", "b"])

    assert sorted(await ids_in(store)) == ["a", "c"]


@contract("D-MEM-1", Capability.DELETE_MANY)
async def test_delete_many_with_an_id_that_is_refused_deletes_nothing(store: Store) -> None:
    await create_all(store, record(id="a"), record(id="b"))
    not_an_id: Any = 7

    with pytest.raises(InvalidInput):
        await store.delete_many(["a", not_an_id, "b"])

    assert sorted(await ids_in(store)) == ["a", "b"]


# ------------------------------------------------------------------------- empty, and all


@contract("D-MEM-1", Capability.CREATE_MANY, Capability.UPDATE_MANY, Capability.DELETE_MANY)
async def test_an_empty_batch_does_nothing(store: Store) -> None:
    await store.create(record())
    before = await everything(store)

    assert await store.create_many([]) == []
    await store.update_many([])
    await store.delete_many([])

    assert await everything(store) == before


@contract("D-MEM-1", Capability.CLEAR)
async def test_clear_deletes_every_record(store: Store) -> None:
    await create_all(store, record({"n": 1}, id="a", tags=["x"]), record(id="b"))

    await store.clear()
    await store.clear()

    assert await everything(store) == {}
    assert await ids_in(store, tags=["x"]) == []
    assert await store.get("a") is None
    assert await store.create(record(id="a")) == "a"


@contract("MEM-MAINT-1", Capability.CONSOLIDATE)
async def test_consolidating_loses_nothing_that_was_said_once(store: Store) -> None:
    await create_all(
        store,
        record({"n": 1}, id="a", tags=["x"]),
        record({"n": 1}, id="b", tags=["y"]),
        record({"n": 2}, id="c", tags=["x"]),
    )
    before = await everything(store)

    await store.consolidate()
    await store.consolidate()

    assert await everything(store) == before


@contract(Capability.VERSIONED, Capability.CREATE_MANY, Capability.UPDATE_MANY)
async def test_batches_count_versions_like_single_calls(store: Store) -> None:
    await store.create_many([record({}, id="a"), record({}, id="b")])

    await store.update_many([MemoryUpdate(id, {"n": 1}) for id in ("a", "b", "a")])

    assert [await store.version("a"), await store.version("b")] == [3, 2]


@contract(Capability.VERSIONED, Capability.CLEAR)
async def test_what_was_cleared_is_created_anew_as_a_later_version(store: Store) -> None:
    await store.create(record({}, id="a"))
    await store.update("a", {"n": 1})

    await store.clear()

    assert await store.version("a") is None
    await store.create(record({}, id="a"))
    assert await store.version("a") in (3, 4)


# ------------------------------------------------------------------------------------------------
# What there is, without the records: ids, counts, tags; and forgetting all that a filter finds.

LONG = "t" * 200


@contract("MEM-FILTER", Capability.COUNTED, PLAIN_KEYS)
@given(records=record_lists(), asked=st.lists(own_filters(), min_size=1, max_size=6))
@shared_fixtures
async def test_ids_and_counts_are_those_of_what_a_query_finds(
    open_fresh: OpenFresh,
    records: Sequence[MemoryRecordInput[Any]],
    asked: Sequence[MemoryFilter],
) -> None:
    async with open_fresh() as own:
        stored = await create_foretold(own, records)
        for filter in asked:
            wanted = ids_of(select(filter, stored))
            assert await own.ids(filter) == wanted
            assert await own.count(filter) == len(wanted)


@contract("MEM-FILTER", Capability.COUNTED)
async def test_tags_are_counted_by_how_they_begin(store: Store, stranger: Store) -> None:
    await create_all(
        store,
        record(id="a", tags=["user/kim", "user/lee", "user/kim"]),
        record(id="b", tags=["user/kim", "Z", "sha256:x", LONG]),
        record(id="c", tags=["user", LONG, LONG + "2", "가"]),
        record(id="gone", tags=["user/kim", "gone"]),
        record(id="none"),
    )
    await store.delete("gone")

    assert await store.tags("user/") == {"user/kim": 2, "user/lee": 1}
    assert list(await store.tags()) == sorted(
        ["user/kim", "user/lee", "Z", "sha256:x", LONG, LONG + "2", "user", "가"]
    )
    assert await store.tags("t") == {LONG: 2, LONG + "2": 1}
    assert await store.tags("sha256:") == {"sha256:x": 1}
    assert await store.tags("nowhere") == await store.tags("\ud800") == {}
    assert await stranger.tags() == {}


@contract("MEM-FILTER", Capability.COUNTED)
async def test_counting_refuses_what_a_query_refuses(store: Store) -> None:
    unknown = MemoryFilter.model_validate({"noStoreKnowsThisKey": 1})

    for counted in (store.ids, store.count):
        with pytest.raises(UnknownFilterKey):
            await counted(unknown)
    with pytest.raises(InvalidFilter):
        await store.tags(cast("Any", 7))


# ---------------------------------------------------------------------------- forgetting


@contract("MEM-FILTER", Capability.FORGETS_WHERE)
async def test_what_a_filter_finds_is_forgotten_and_nothing_else(
    store: Store, stranger: Store
) -> None:
    await stranger.create(record(id="a", tags=["x"]))
    await create_all(
        store,
        *(record({"n": n}, id=str(n), created_at=n, tags=["x"]) for n in range(5)),
        record(id="other", tags=["y"]),
    )

    done = await store.forget_where(MemoryFilter(tags=["x"], limit=2, order="asc"), reason="old")
    assert done == 2
    assert sorted(await ids_in(store)) == ["2", "3", "4", "other"]
    if "where" in store.capabilities.filter_keys:
        where = MemoryFilter(where={"data.n": {"$gte": 3}})
        assert await store.forget_where(where, reason="too high") == 2
    else:
        await store.forget_where(MemoryFilter(ids=["3", "4"]), reason="too high")
    assert sorted(await ids_in(store)) == ["2", "other"]
    assert await store.forget_where(MemoryFilter(tags=["nowhere"]), reason="none") == 0
    assert await store.forget_where(MemoryFilter(), reason="all of it") == 2
    assert await everything(store) == {}
    assert await ids_in(stranger) == ["a"]


@contract("MEM-FILTER", Capability.FORGETS_WHERE)
async def test_forgetting_needs_a_reason_and_a_filter_that_is_known(store: Store) -> None:
    await store.create(record(id="a"))

    for reason in ("", "  ", "\u200b", None, 7):
        with pytest.raises(ReasonMissing):
            await store.forget_where(MemoryFilter(), reason=cast("Any", reason))
    unknown = MemoryFilter.model_validate({"noStoreKnowsThisKey": 1})
    with pytest.raises(UnknownFilterKey):
        await store.forget_where(unknown, reason="a test")
    assert await ids_in(store) == ["a"]
