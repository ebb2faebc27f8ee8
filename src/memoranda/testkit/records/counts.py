"""What there is, without the records: ids, counts, tags; and forgetting all that a filter finds."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidFilter, ReasonMissing, UnknownFilterKey
from memoranda.records import Capability, MemoryFilter, MemoryRecordInput
from memoranda.records.filter import PLAIN_KEYS, select
from memoranda.testkit.records.asking import create_all, everything, ids_in, ids_of, record
from memoranda.testkit.records.filters import foretold
from memoranda.testkit.records.marks import contract
from memoranda.testkit.records.opening import OpenStore, Store, fresh_scope, require
from memoranda.testkit.strategies import own_filters, record_lists, shared_fixtures

LONG = "t" * 200


@contract("MEM-FILTER")
@given(records=record_lists(), asked=st.lists(own_filters(), min_size=1, max_size=6))
@shared_fixtures
async def test_ids_and_counts_are_those_of_what_a_query_finds(
    open_store: OpenStore,
    store: Store,
    records: Sequence[MemoryRecordInput[Any]],
    asked: Sequence[MemoryFilter],
) -> None:
    require(store, Capability.COUNTED)
    if not store.capabilities.filter_keys >= PLAIN_KEYS:
        pytest.skip("this store does not declare the filter keys where, idPrefix and the like")
    async with open_store(fresh_scope()) as opened:
        own = cast("Store", opened)
        for one in records:
            await own.create(one)
        stored = [foretold(one) for one in records]
        for filter in asked:
            wanted = ids_of(select(filter, stored))
            assert await own.ids(filter) == wanted
            assert await own.count(filter) == len(wanted)


@contract("MEM-FILTER")
async def test_tags_are_counted_by_how_they_begin(store: Store, stranger: Store) -> None:
    require(store, Capability.COUNTED)
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


@contract("MEM-FILTER")
async def test_counting_refuses_what_a_query_refuses(store: Store) -> None:
    require(store, Capability.COUNTED)
    unknown = MemoryFilter.model_validate({"noStoreKnowsThisKey": 1})

    for counted in (store.ids, store.count):
        with pytest.raises(UnknownFilterKey):
            await counted(unknown)
    with pytest.raises(InvalidFilter):
        await store.tags(cast("Any", 7))


# ---------------------------------------------------------------------------- forgetting


@contract("MEM-FILTER")
async def test_what_a_filter_finds_is_forgotten_and_nothing_else(
    store: Store, stranger: Store
) -> None:
    require(store, Capability.FORGETS_WHERE)
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


@contract("MEM-FILTER")
async def test_forgetting_needs_a_reason_and_a_filter_that_is_known(store: Store) -> None:
    require(store, Capability.FORGETS_WHERE)
    await store.create(record(id="a"))

    for reason in ("", "  ", "\u200b", None, 7):
        with pytest.raises(ReasonMissing):
            await store.forget_where(MemoryFilter(), reason=cast("Any", reason))
    unknown = MemoryFilter.model_validate({"noStoreKnowsThisKey": 1})
    with pytest.raises(UnknownFilterKey):
        await store.forget_where(unknown, reason="a test")
    assert await ids_in(store) == ["a"]
