"""A stream is a query that does not hold it all in memory: the same records, a snapshot."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from memoranda.records import Capability, MemoryFilter, StoredMemoryRecord
from memoranda.testkit.records.asking import create_all, everything, ids_of, record
from memoranda.testkit.records.marks import contract
from memoranda.testkit.records.opening import Store, declared_by, require

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


@contract("MEM-FILTER", "MEM-REC-1", "MEM-REC-2")
async def test_a_stream_is_what_query_returns(store: Store) -> None:
    require(store, Capability.STREAMED)
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


@contract("MEM-FILTER")
async def test_a_long_stream_is_whole_and_in_order(store: Store) -> None:
    require(store, Capability.STREAMED)
    ids = await many(store)

    assert [found.id async for found in store.stream(MemoryFilter(order="asc"))] == ids


@contract("MEM-FILTER")
async def test_writes_during_a_stream_do_not_show_in_it(store: Store, twin: Store) -> None:
    require(store, Capability.STREAMED)
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


@contract()
async def test_a_stream_that_is_left_early_leaves_the_store_usable(store: Store) -> None:
    require(store, Capability.STREAMED)
    ids = await many(store)

    for _ in range(8):
        async with streaming(store, MemoryFilter(order="asc")) as stream:
            assert (await anext(stream)).id == ids[0]

    await store.delete(ids[0])
    assert len(await everything(store)) == MANY - 1


@contract()
async def test_streams_may_run_side_by_side(store: Store, twin: Store) -> None:
    require(store, Capability.STREAMED)
    ids = await many(store)
    up, down = MemoryFilter(order="asc"), MemoryFilter(order="desc")

    async with streaming(store, up) as first, streaming(twin, down) as second:
        pairs = [(found.id, (await anext(second)).id) async for found in first]

    assert pairs == list(zip(ids, reversed(ids), strict=True))


@contract("D-MEM-REC")
async def test_nothing_done_to_a_streamed_record_reaches_the_store(store: Store) -> None:
    require(store, Capability.STREAMED)
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
