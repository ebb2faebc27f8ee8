"""Pages by cursor: what is there all the time comes exactly once, whatever is written meanwhile."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidFilter, UnknownFilterKey
from memoranda.records import Capability, MemoryFilter, MemoryRecordInput, StoredMemoryRecord
from memoranda.records.filter import PLAIN_KEYS, matches, select
from memoranda.testkit.records.asking import create_all, ids_of, record
from memoranda.testkit.records.filters import foretold
from memoranda.testkit.records.marks import contract
from memoranda.testkit.records.opening import OpenStore, Store, fresh_scope, require
from memoranda.testkit.strategies import own_filters, record_lists, shared_fixtures

ORDERS = [("createdAt", "asc"), ("createdAt", "desc"), ("updatedAt", "asc"), ("updatedAt", "desc")]
ORDERS += [("entry", "asc"), ("entry", "desc")]


async def walk(store: Store, filter: MemoryFilter) -> list[list[str]]:
    """The ids of all pages, each begun by the cursor of the one before."""
    found = await store.page(filter)
    pages = [ids_of(found)]
    while found.next is not None:
        found = await store.page(filter, cursor=found.next)
        pages.append(ids_of(found))
    return pages


@contract("MEM-FILTER")
async def test_pages_follow_each_other_until_there_are_no_more(store: Store) -> None:
    require(store, Capability.PAGED)
    await create_all(store, *(record(id=id, created_at=1, tags=["x"]) for id in "abcde"))

    assert await walk(store, MemoryFilter(limit=2)) == [["e", "d"], ["c", "b"], ["a"]]
    assert await walk(store, MemoryFilter(limit=5)) == [["e", "d", "c", "b", "a"]]
    assert await walk(store, MemoryFilter(limit=3, tags=["x"], order="asc")) == [
        ["a", "b", "c"],
        ["d", "e"],
    ]
    assert await walk(store, MemoryFilter()) == [["e", "d", "c", "b", "a"]]
    assert await walk(store, MemoryFilter(limit=0)) == [[]]
    assert await walk(store, MemoryFilter(limit=2, ids=["nowhere"])) == [[]]


@contract("MEM-FILTER")
async def test_the_order_by_entry_is_that_of_writing(store: Store) -> None:
    require(store, Capability.PAGED)
    if "orderBy" not in store.capabilities.filter_keys:
        pytest.skip("this store does not declare that it orders by entry")
    times = {"b": 9, "a": 1, "c": 5}
    for id, at in times.items():
        await store.create(record({}, id=id, created_at=at, updated_at=at))
    await store.update("b", {"n": 1})

    assert ids_of(await store.query(MemoryFilter(order_by="entry", order="asc"))) == ["b", "a", "c"]
    assert await walk(store, MemoryFilter(order_by="entry", limit=2)) == [["c", "a"], ["b"]]


@contract("MEM-FILTER")
async def test_a_cursor_of_another_filter_is_refused(store: Store) -> None:
    require(store, Capability.PAGED)
    await create_all(store, *(record(id=id, tags=["x"]) for id in "abc"))
    cursor = (await store.page(MemoryFilter(limit=1, tags=["x"]))).next

    for other in ({}, {"tags": ["y"]}, {"tags": ["x"], "order": "asc"}):
        with pytest.raises(InvalidFilter):
            await store.page(MemoryFilter.model_validate({"limit": 1, **other}), cursor=cursor)
    assert len(await store.page(MemoryFilter(limit=9, tags=["x"]), cursor=cursor)) == 2


@contract("MEM-FILTER")
@pytest.mark.parametrize(
    "wrong", ["", "x", "\ud800", "A" * 1000, "WzEsMl0", "bnVsbA", 7, b"x"], ids=ascii
)
async def test_what_is_no_cursor_is_refused(store: Store, wrong: Any) -> None:
    require(store, Capability.PAGED)
    await store.create(record(id="a"))

    with pytest.raises(InvalidFilter):
        await store.page(MemoryFilter(limit=1), cursor=wrong)
    with pytest.raises(UnknownFilterKey):
        await store.page(MemoryFilter.model_validate({"noStoreKnowsThisKey": 1}))


changes = st.lists(
    st.tuples(st.sampled_from(["create", "update", "delete", "again"]), st.integers(0, 11)),
    max_size=4,
)


@contract("MEM-FILTER")
@given(
    records=record_lists(),
    filter=own_filters(),
    order=st.sampled_from(ORDERS),
    limit=st.integers(1, 4),
    meanwhile=st.lists(changes, min_size=12, max_size=12),
)
@shared_fixtures
async def test_a_walk_over_pages_misses_nothing_and_repeats_nothing_that_stays(
    open_store: OpenStore,
    store: Store,
    records: Sequence[MemoryRecordInput[Any]],
    filter: MemoryFilter,
    order: tuple[str, str],
    limit: int,
    meanwhile: Sequence[Sequence[tuple[str, int]]],
) -> None:
    require(store, Capability.PAGED)
    if not store.capabilities.filter_keys >= PLAIN_KEYS:
        pytest.skip("this store does not declare the filter keys where, idPrefix and the like")
    paging = {"orderBy": order[0], "order": order[1], "limit": limit, "offset": 0}
    asked = MemoryFilter.model_validate({**filter.model_dump(), **paging})
    async with open_store(fresh_scope()) as opened:
        own = cast("Store", opened)
        for one in records:
            await own.create(one)
        stored = [foretold(one) for one in records]
        await _compare_pages(own, asked, stored)
        fits = {one.id for one in stored if matches(asked, one)}
        touched: set[str] = set()
        seen: list[str] = []
        cursor = None
        for steps in meanwhile:
            page = await own.page(asked, cursor=cursor)
            seen += ids_of(page)
            cursor = page.next
            if cursor is None:
                break
            for step, number in steps:
                touched |= await _change(own, step, number, [one.id for one in stored])
        still = fits - touched
        assert sorted(id for id in seen if id in still) == sorted(
            still if cursor is None else still & set(seen)
        )


async def _compare_pages(
    store: Store, asked: MemoryFilter, stored: Sequence[StoredMemoryRecord[Any]]
) -> None:
    """Put together, all pages are what the pure definition says."""
    pages = await walk(store, asked)
    assert [id for page in pages for id in page] == ids_of(select(asked.unpaged, stored))
    assert all(len(page) == asked.limit for page in pages[:-1])


async def _change(store: Store, step: str, number: int, ids: Sequence[str]) -> set[str]:
    """Change something; the ids of what is no longer as it was."""
    if step == "create" or not ids:
        await store.create(record({}, created_at=number))
        return set()
    id = ids[number % len(ids)]
    if step == "delete":
        await store.delete(id)
        return {id}
    if step == "again":
        await store.delete(id)
        await store.create(record({}, id=id, created_at=number))
        return {id}
    found = await store.get(id)
    if found is not None and isinstance(found.data, dict):
        await store.update(id, {"changed": number})
        return {id}
    return set()
