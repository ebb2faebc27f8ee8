"""A server that dies, or cuts a connection, costs no acknowledged write and no handle."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection

import memoranda
from memoranda import MemoryFilter, MemoryRecordInput
from memoranda.journeys.records.store import Records
from memoranda.kernel.errors import StoreFailed, StoreUnavailable
from memoranda.stores.postgres import connection as connection_module
from tests.patience import PATIENCE, eventually
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.server import PostgresServer, running_server


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    """A server that may be killed."""
    with running_server(own=True) as started:
        yield started


@pytest.fixture
async def records(server: PostgresServer) -> AsyncIterator[Records[Any]]:
    async with memoranda.open(server.create_database(), scope="s") as memory:
        yield memory.records


async def test_a_crash_that_nobody_was_hit_by_goes_unnoticed(
    server: PostgresServer, records: Records[Any]
) -> None:
    await asyncio.gather(*(records.create(MemoryRecordInput(data=n)) for n in range(16)))

    server.kill()
    server.start()

    await asyncio.gather(*(records.create(MemoryRecordInput(data=n)) for n in range(16)))
    assert len(await records.query(MemoryFilter())) == 32


async def test_while_the_server_is_down_calls_fail_at_once_and_later_work_again(
    server: PostgresServer, records: Records[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    async def connect(*given: Any, **more: Any) -> Any:
        nonlocal tries
        tries += 1
        return await AsyncConnection.connect(*given, **more)

    await records.create(MemoryRecordInput(id="one", data={}))
    server.kill()
    try:
        with monkeypatch.context() as patched:
            patched.setattr(connection_module, "AsyncConnection", SimpleNamespace(connect=connect))
            for call in (
                records.get("one"),
                records.create(MemoryRecordInput(data={})),
                records.update("one", {"a": 1}),
                records.query(MemoryFilter()),
            ):
                tries = 0
                with pytest.raises(StoreUnavailable) as caught:
                    await call
                assert caught.value.code == "store.unavailable"
                assert tries == 1
    finally:
        server.start()

    await records.update("one", {"a": 1})
    assert (await records.query(MemoryFilter()))[0].data == {"a": 1}


async def test_after_a_crash_every_acknowledged_write_is_there_and_retries_land_once(
    server: PostgresServer, records: Records[Any]
) -> None:
    acknowledged: set[int] = set()
    failed: list[int] = []

    async def create(n: int) -> None:
        try:
            await records.create(MemoryRecordInput(data=n), idempotency_key=f"k{n}")
        except (StoreFailed, StoreUnavailable):
            failed.append(n)
        else:
            acknowledged.add(n)

    async def kill() -> None:
        await eventually(lambda: len(acknowledged) > 20)
        await asyncio.to_thread(server.kill)

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(kill(), *(create(n) for n in range(400)))
        assert failed
        server.start()
        stored = {found.data for found in await records.query(MemoryFilter())}
        assert acknowledged <= stored

        await asyncio.gather(*(create(n) for n in list(failed)))
    assert sorted(found.data for found in await records.query(MemoryFilter())) == list(range(400))


# ---------------------------------------------------------- one connection, cut while it waits


@asynccontextmanager
async def cut_off(url: str) -> AsyncIterator[None]:
    """Everyone waits for a lock; whoever waits is cut off."""
    with psycopg.connect(url) as another:
        another.execute("LOCK TABLE memoranda.journals IN ACCESS EXCLUSIVE MODE")
        waiting = """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
        task = asyncio.create_task(eventually(lambda: asked(url, waiting)))
        yield
        await task


async def test_a_connection_lost_during_a_write_leaves_its_outcome_unknown(
    postgres_url: str,
) -> None:
    async with memoranda.open(postgres_url, scope="s") as memory:
        await memory.records.create(MemoryRecordInput(data=0))
        async with cut_off(postgres_url):
            with pytest.raises(StoreFailed) as caught:
                await memory.records.create(MemoryRecordInput(data=1), idempotency_key="k")

        assert caught.value.code == "store.failed"
        await memory.records.create(MemoryRecordInput(data=1), idempotency_key="k")
        assert len(await memory.records.query(MemoryFilter())) == 2


async def test_a_connection_lost_during_a_read_may_be_retried(postgres_url: str) -> None:
    async with memoranda.open(postgres_url, scope="s") as memory:
        for call in (memory.records.get, lambda _: memory.records.query(MemoryFilter())):
            async with cut_off(postgres_url):
                with pytest.raises(StoreUnavailable):
                    await call("one")
        assert await memory.records.get("one") is None
