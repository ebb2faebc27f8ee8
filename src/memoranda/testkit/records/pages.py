"""Pages by cursor: what is there all the time comes exactly once, whatever is written meanwhile."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidFilter, UnknownFilterKey
from memoranda.records.filter import PLAIN_KEYS, MemoryFilter, matches, select
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord
from memoranda.records.store import Capability
from memoranda.testkit import contract
from memoranda.testkit.records.opening import (
    OpenFresh,
    Store,
    create_all,
    create_foretold,
    declared_by,
    everything,
    ids_of,
    record,
)
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


@contract("MEM-FILTER", Capability.PAGED)
async def test_pages_follow_each_other_until_there_are_no_more(store: Store) -> None:
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


@contract("MEM-FILTER", Capability.PAGED)
async def test_the_order_by_entry_is_that_of_writing(store: Store) -> None:
    if "orderBy" not in store.capabilities.filter_keys:
        pytest.skip("this store does not declare that it orders by entry")
    times = {"b": 9, "a": 1, "c": 5}
    for id, at in times.items():
        await store.create(record({}, id=id, created_at=at, updated_at=at))
    await store.update("b", {"n": 1})

    assert ids_of(await store.query(MemoryFilter(order_by="entry", order="asc"))) == ["b", "a", "c"]
    assert await walk(store, MemoryFilter(order_by="entry", limit=2)) == [["c", "a"], ["b"]]


@contract("MEM-FILTER", Capability.PAGED)
async def test_a_cursor_of_another_filter_is_refused(store: Store) -> None:
    await create_all(store, *(record(id=id, tags=["x"]) for id in "abc"))
    cursor = (await store.page(MemoryFilter(limit=1, tags=["x"]))).next

    for other in ({}, {"tags": ["y"]}, {"tags": ["x"], "order": "asc"}):
        with pytest.raises(InvalidFilter):
            await store.page(MemoryFilter.model_validate({"limit": 1, **other}), cursor=cursor)
    assert len(await store.page(MemoryFilter(limit=9, tags=["x"]), cursor=cursor)) == 2


@contract("MEM-FILTER", Capability.PAGED)
@pytest.mark.parametrize(
    "wrong", ["", "x", "\ud800", "A" * 1000, "WzEsMl0", "bnVsbA", 7, b"x"], ids=ascii
)
async def test_what_is_no_cursor_is_refused(store: Store, wrong: Any) -> None:
    await store.create(record(id="a"))

    with pytest.raises(InvalidFilter):
        await store.page(MemoryFilter(limit=1), cursor=wrong)
    with pytest.raises(UnknownFilterKey):
        await store.page(MemoryFilter.model_validate({"noStoreKnowsThisKey": 1}))


changes = st.lists(
    st.tuples(st.sampled_from(["create", "update", "delete", "again"]), st.integers(0, 11)),
    max_size=4,
)


@contract("MEM-FILTER", Capability.PAGED, PLAIN_KEYS)
@given(
    records=record_lists(),
    filter=own_filters(),
    order=st.sampled_from(ORDERS),
    limit=st.integers(1, 4),
    meanwhile=st.lists(changes, min_size=12, max_size=12),
)
@shared_fixtures
async def test_a_walk_over_pages_misses_nothing_and_repeats_nothing_that_stays(
    open_fresh: OpenFresh,
    records: Sequence[MemoryRecordInput[Any]],
    filter: MemoryFilter,
    order: tuple[str, str],
    limit: int,
    meanwhile: Sequence[Sequence[tuple[str, int]]],
) -> None:
    paging = {"orderBy": order[0], "order": order[1], "limit": limit, "offset": 0}
    asked = MemoryFilter.model_validate({**filter.model_dump(), **paging})
    async with open_fresh() as own:
        stored = await create_foretold(own, records)
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


# ------------------------------------------------------------------------------------------------
# A stream is a query that does not hold it all in memory: the same records, a snapshot.

MANY = 600
"""More than a store would fetch at once."""

FILTERS = [
    {},
    {"limit": 0},
    {"limit": 2, "offset": 1},
    {"order": "asc"},
    {"orderBy": "updatedAt"},
    {"tags": ["x"]},
    {"ids": ["a", "c"]},
    {"ids": []},
    {"createdAfter": 2, "createdBefore": 3},
]


@contract("MEM-FILTER", "MEM-REC-1", "MEM-REC-2", Capability.STREAMED)
async def test_a_stream_is_what_query_returns(store: Store) -> None:
    await create_all(
        store,
        record({"n": [1]}, id="b", created_at=1, updated_at=5, tags=["x"], meta={"m": 1}),
        record("text", id="a", created_at=2, updated_at=4),
        record(None, id="d", created_at=3, updated_at=6, tags=["y", "x"]),
        record(id="c", created_at=3, updated_at=3, tags=[]),
    )

    for members in FILTERS:
        filter = MemoryFilter.model_validate(members)
        assert [found async for found in store.stream(filter)] == await store.query(filter)


@contract("MEM-FILTER", Capability.STREAMED)
async def test_a_long_stream_is_whole_and_in_order(store: Store) -> None:
    ids = await many(store)

    assert [found.id async for found in store.stream(MemoryFilter(order="asc"))] == ids


@contract("MEM-FILTER", Capability.STREAMED)
async def test_writes_during_a_stream_do_not_show_in_it(store: Store, twin: Store) -> None:
    ids = await many(store)
    seen: list[StoredMemoryRecord[Any]] = []

    async with streaming(store, MemoryFilter(order="asc")) as stream:
        seen.append(await anext(stream))
        await store.update(ids[-1], {"n": "changed"})
        await twin.update(ids[-2], {"n": "changed"})
        await store.delete(ids[-3])
        await twin.delete(ids[1])
        await store.create(record(id="later", created_at=MANY * 2))
        seen += [found async for found in stream]

    assert ids_of(seen) == ids
    assert [found.data for found in seen] == [{"n": n} for n in range(MANY)]
    assert len(await everything(store)) == MANY - 1


@contract(Capability.STREAMED)
async def test_a_stream_that_is_left_early_leaves_the_store_usable(store: Store) -> None:
    ids = await many(store)

    for _ in range(8):
        async with streaming(store, MemoryFilter(order="asc")) as stream:
            assert (await anext(stream)).id == ids[0]

    await store.delete(ids[0])
    assert len(await everything(store)) == MANY - 1


@contract(Capability.STREAMED)
async def test_streams_may_run_side_by_side(store: Store, twin: Store) -> None:
    ids = await many(store)
    up, down = MemoryFilter(order="asc"), MemoryFilter(order="desc")

    async with streaming(store, up) as first, streaming(twin, down) as second:
        pairs = [(found.id, (await anext(second)).id) async for found in first]

    assert pairs == list(zip(ids, reversed(ids), strict=True))


@contract("D-MEM-REC", Capability.STREAMED)
async def test_nothing_done_to_a_streamed_record_reaches_the_store(store: Store) -> None:
    await store.create(record({"list": [1]}))
    before = await everything(store)

    async for found in store.stream(MemoryFilter()):
        found.data["list"].append(2)

    assert await everything(store) == before


async def many(store: Store) -> list[str]:
    """Store enough records for a stream to be fetched in parts; their ids, oldest first."""
    records = [record({"n": n}, created_at=n) for n in range(MANY)]
    if Capability.CREATE_MANY in declared_by(store):
        return await store.create_many(records)
    return await create_all(store, *records)


@asynccontextmanager
async def streaming(
    store: Store, filter: MemoryFilter
) -> AsyncIterator[AsyncIterator[StoredMemoryRecord[Any]]]:
    """A stream that is closed when the block is left, if it can be: an iterator need not."""
    stream = store.stream(filter)
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
