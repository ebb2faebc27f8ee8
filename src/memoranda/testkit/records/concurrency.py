"""Many callers at once lose nothing; a caller who is cancelled leaves nothing half done."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

import pytest

from memoranda.kernel.errors import RecordExists, VersionConflict
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import StoredMemoryRecord
from memoranda.records.store import Capability, MemoryUpdate
from memoranda.testkit import cancelled_after, contract
from memoranda.testkit.records.opening import (
    Store,
    everything,
    ids_in,
    kept,
    record,
)

R = TypeVar("R")

CALLERS = 64


async def at_once(calls: Iterable[Awaitable[R]]) -> list[R]:
    """The results of calls that all run at the same time."""
    return list(await asyncio.gather(*calls))


# ------------------------------------------------------------------------- many at once


@contract("MEM-CRUD-1")
async def test_creates_at_once_lose_nothing(store: Store, twin: Store) -> None:
    handles = [store, twin]

    ids = await at_once(handles[n % 2].create(record(n, tags=["x"])) for n in range(CALLERS))

    assert len(set(ids)) == CALLERS
    found = await everything(store)
    assert [found[id].data for id in ids] == list(range(CALLERS))
    assert sorted(await ids_in(twin, tags=["x"])) == sorted(ids)


@contract("MEM-CRUD-1", "MEM-PATCH-1")
async def test_updates_of_one_record_at_once_lose_nothing(store: Store, twin: Store) -> None:
    id = await store.create(record({}))
    handles = [store, twin]

    await at_once(handles[n % 2].update(id, {f"n{n}": n}) for n in range(CALLERS))

    assert (await kept(store, id)).data == {f"n{n}": n for n in range(CALLERS)}


@contract("MEM-CRUD-1")
async def test_only_one_of_the_creates_of_one_id_succeeds(store: Store, twin: Store) -> None:
    handles = [store, twin]

    async def create(n: int) -> int | None:
        try:
            await handles[n % 2].create(record(n, id="one", tags=[f"by {n}"]))
        except RecordExists:
            return None
        return n

    [winner] = [n for n in await at_once(create(n) for n in range(16)) if n is not None]

    found = await everything(store)
    assert found["one"].data == winner
    assert found["one"].tags == (f"by {winner}",)
    assert len(found) == 1


@contract("MEM-CRUD-1")
async def test_creates_and_deletes_at_once_leave_what_they_should(store: Store) -> None:
    await at_once(store.create(record(n, id=f"old {n}")) for n in range(CALLERS))

    async def replace(n: int) -> None:
        await store.create(record(n, id=f"new {n}"))
        await store.delete(f"old {n}")

    await at_once(replace(n) for n in range(CALLERS))

    assert {id: found.data for id, found in (await everything(store)).items()} == {
        f"new {n}": n for n in range(CALLERS)
    }


@contract(Capability.VERSIONED)
async def test_a_counter_that_is_raised_by_many_loses_no_step(store: Store, twin: Store) -> None:
    id = await store.create(record({"n": 0}))
    handles = [store, twin]

    async def raise_it(handle: Store) -> None:
        while True:
            # The version first: if the record moves on between the two, the update is refused.
            version = await handle.version(id)
            count = (await kept(handle, id)).data["n"]
            try:
                return await handle.update(id, {"n": count + 1}, expected_version=version)
            except VersionConflict:
                continue

    await at_once(raise_it(handles[n % 2]) for n in range(16))

    assert (await kept(store, id)).data == {"n": 16}
    assert await store.version(id) == 17


@contract(Capability.VERSIONED)
async def test_retries_at_once_write_once(store: Store, twin: Store) -> None:
    handles = [store, twin]

    ids = await at_once(
        handles[n % 2].create(record({"n": 1}), idempotency_key="k") for n in range(16)
    )
    await at_once(handles[n % 2].update(ids[0], {"n": 2}, idempotency_key="u") for n in range(16))

    assert await ids_in(store) == [ids[0]]
    assert set(ids) == {ids[0]}
    assert await store.version(ids[0]) == 2


@contract("D-MEM-1", Capability.CREATE_MANY, Capability.UPDATE_MANY)
async def test_batches_at_once_are_each_made_whole(store: Store, twin: Store) -> None:
    ids = [f"{n}" for n in range(8)]
    await store.create_many([record({"by": -1}, id=id) for id in ids])
    handles = [store, twin]

    # In opposite orders, so that locks taken one by one would meet.
    await at_once(
        handles[n % 2].update_many(
            [MemoryUpdate(id, {"by": n}) for id in (ids if n % 4 < 2 else reversed(ids))]
        )
        for n in range(16)
    )

    by = {found.data["by"] for found in (await everything(store)).values()}
    assert len(by) == 1
    assert by <= set(range(16))


@contract("MEM-FILTER", Capability.CREATE_MANY)
async def test_a_query_beside_batches_sees_each_whole_or_not_at_all(
    store: Store, twin: Store
) -> None:
    sizes: list[int] = []

    async def look() -> None:
        sizes.append(len(await twin.query(MemoryFilter())))

    async def add(batch: int) -> None:
        await store.create_many([record(n, id=f"{batch}/{n}") for n in range(10)])

    await at_once(step for batch in range(12) for step in (add(batch), look()))

    assert {size % 10 for size in sizes} == {0}
    assert len(await everything(store)) == 120


# --------------------------------------------------------------------------- cancelling


@contract("MEM-CRUD-1")
async def test_a_cancelled_create_is_whole_or_absent(store: Store, twin: Store) -> None:
    given = {"text": "x" * 1000, "list": list(range(100))}
    finished = {}
    for steps in range(24):
        id = f"after {steps}"
        call = store.create(record(given, id=id, created_at=7, updated_at=7, tags=["a", "b"]))
        finished[id] = await cancelled_after(steps, call)

    for id, is_finished in finished.items():
        whole = StoredMemoryRecord(id, given, 7, 7, ("a", "b"))
        assert await twin.get(id) in ([whole] if is_finished else [None, whole])
    await store.create(record("usable", id="last", tags=["a"]))
    assert (await kept(twin, "last")).data == "usable"
    assert set(await ids_in(store, tags=["a"])) == set(await ids_in(store, tags=["b"])) | {"last"}


@contract("D-MEM-1", Capability.CREATE_MANY)
async def test_a_cancelled_batch_is_whole_or_absent(store: Store, twin: Store) -> None:
    for steps in range(12):
        batch = [record(n, tags=[f"after {steps}"]) for n in range(20)]
        finished = await cancelled_after(steps, store.create_many(batch))

        found = await ids_in(twin, tags=[f"after {steps}"])
        assert len(found) in ({20} if finished else {0, 20})

    assert len(await store.create_many([record(tags=["last"]), record(tags=["last"])])) == 2
    assert len(await ids_in(twin, tags=["last"])) == 2


@contract("MEM-CRUD-1")
async def test_a_cancelled_update_or_delete_leaves_the_store_usable(
    store: Store, twin: Store
) -> None:
    for steps in range(12):
        id = await store.create(record({"n": 0}, tags=["x"]))
        updated = await cancelled_after(steps, store.update(id, {"n": 1}))
        assert (await kept(twin, id)).data in ([{"n": 1}] if updated else [{"n": 0}, {"n": 1}])
        deleted = await cancelled_after(steps, store.delete(id))
        assert not deleted or await twin.get(id) is None

        await store.delete(id)
        assert await everything(twin) == {}


@contract(Capability.VERSIONED)
async def test_a_retry_of_a_cancelled_call_writes_once(store: Store, twin: Store) -> None:
    ids = []
    for steps in range(12):
        key, given = f"key {steps}", record({"n": steps})
        await cancelled_after(steps, store.create(given, idempotency_key=key))
        ids.append(await twin.create(given, idempotency_key=key))

    assert len(await everything(store)) == len(ids)
    assert [(await kept(store, id)).data["n"] for id in ids] == list(range(12))
    assert [await store.version(id) for id in ids] == [1] * 12


@contract()
async def test_cancelling_some_of_many_callers_spares_the_others(store: Store) -> None:
    calls = [asyncio.ensure_future(store.create(record(n, id=f"{n}"))) for n in range(CALLERS)]
    await asyncio.sleep(0)
    for call in calls[::3]:
        call.cancel()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)

    found = await everything(store)
    for n, outcome in enumerate(outcomes):
        if isinstance(outcome, asyncio.CancelledError):
            assert n % 3 == 0
        else:
            assert outcome == f"{n}"
            assert found[f"{n}"].data == n
    assert all(record.data == int(id) for id, record in found.items())


@contract(Capability.STREAMED, Capability.CREATE_MANY)
async def test_a_stream_that_is_cancelled_leaves_the_store_usable(store: Store) -> None:
    await store.create_many([record(n) for n in range(600)])

    async def read() -> None:
        async for _ in store.stream(MemoryFilter()):
            await asyncio.sleep(0)

    for steps in range(12):
        await cancelled_after(steps, read())

    await store.create(record(id="last"))
    assert len(await everything(store)) == 601


@contract()
async def test_a_query_that_is_cancelled_leaves_the_store_usable(store: Store) -> None:
    for n in range(20):
        await store.create(record(n))

    for steps in range(12):
        await cancelled_after(steps, store.query(MemoryFilter()))

    assert len(await everything(store)) == 20
    with pytest.raises(RecordExists):
        await store.create(record(id=(await ids_in(store))[0]))
