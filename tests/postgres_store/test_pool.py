"""Connections are few, used again, and let go of in every way out."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing

import pytest

from recollect.kernel.errors import RecordNotFound, StoreClosed, StoreUnavailable
from recollect.records.filter import MemoryFilter
from recollect.stores.postgres import pool as pool_module
from recollect.stores.postgres.database import CONNECTIONS, STREAMS, PostgresDatabase
from recollect.stores.postgres.records import PostgresTable
from recollect.stores.table import Edit, Edited, NewRow, Note, Row
from tests.postgres_store.catalogue import asked, eventually
from tests.postgres_store.roles import run

IDLE_IN_TRANSACTION = """
SELECT 1 FROM pg_stat_activity
WHERE datname = current_database() AND starts_with(state, 'idle in transaction')
"""
NOTE = Note("system:test", 5, None)


def new(id: str) -> NewRow:
    return NewRow(id, 1, 1, b'{"data":1,"tags":["x"]}', frozenset({"x"}))


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[PostgresDatabase]:
    opened = await PostgresDatabase.open(postgres_url, 0, create=True)
    yield opened
    await opened.close()


@pytest.fixture
async def table(database: PostgresDatabase) -> PostgresTable:
    return await database.records("s", 0)


def connections(url: str) -> int:
    query = """
        SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state IS NOT NULL
    """
    return len(asked(url, query))


async def test_many_calls_share_a_few_connections(table: PostgresTable, postgres_url: str) -> None:
    await asyncio.gather(*(table.insert([new(f"{n}")], NOTE) for n in range(200)))

    assert 1 < connections(postgres_url) <= CONNECTIONS


async def test_one_call_after_the_other_needs_one_connection(
    table: PostgresTable, postgres_url: str
) -> None:
    for n in range(20):
        await table.insert([new(f"{n}")], NOTE)
        await table.select(MemoryFilter(order="asc"), Row.itself)
        with pytest.raises(RecordNotFound):
            await table.edit([Edit("nowhere", Edited)] * 2, NOTE)

    assert connections(postgres_url) == 1


async def test_a_cancelled_call_is_whole_or_absent_and_leaves_the_pool_usable(
    table: PostgresTable, postgres_url: str
) -> None:
    for n in range(120):
        rows = [new(f"{n}.{part}") for part in range(1 + n % 3)]
        task = asyncio.create_task(table.insert(rows, NOTE))
        for _ in range(n % 12):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if task.cancelled():
            found = [await table.get(row.id, Row.itself) is not None for row in rows]
            assert len(set(found)) == 1
        else:
            assert task.exception() is None

    async with asyncio.timeout(10):
        await asyncio.gather(*(table.insert([new(f"{n}")], NOTE) for n in range(64)))
    assert connections(postgres_url) <= CONNECTIONS
    query = "SELECT count(*) FROM recollect.records"
    tagged = "SELECT count(*) FROM recollect.record_tags"
    assert asked(postgres_url, query) == asked(postgres_url, tagged)


async def test_calls_that_wait_for_a_lock_can_be_cancelled(
    table: PostgresTable, postgres_url: str
) -> None:
    await table.insert([new("one")], NOTE)
    edits = [Edit("one", lambda _: Edited(b'{"data":2}'))]
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    held = await PostgresDatabase.open(postgres_url, 0, create=False)
    async with held._calls.transaction(b"BEGIN") as connection:
        await connection.execute("SELECT * FROM recollect.records FOR UPDATE")
        waiting = [asyncio.create_task(table.edit(edits, NOTE)) for _ in range(CONNECTIONS + 4)]
        await eventually(lambda: len(asked(postgres_url, waits)) == CONNECTIONS)
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert all(task.cancelled() for task in waiting)
    await held.close()

    await table.edit(edits, NOTE)
    row = await table.get("one", Row.itself)
    assert row is not None
    assert row.version == 2


async def test_a_connection_that_the_server_closed_is_not_used_again(
    table: PostgresTable, postgres_url: str
) -> None:
    await asyncio.gather(*(table.insert([new(f"{n}")], NOTE) for n in range(64)))
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    run(postgres_url, end + " AND datname = current_database()")
    await eventually(lambda: connections(postgres_url) == 0)

    for n in range(20):
        await table.insert([new(f"again {n}")], NOTE)


# ------------------------------------------------------------------------------ streams


async def many(table: PostgresTable) -> None:
    await table.insert([new(f"{n:04}") for n in range(600)], NOTE)


async def test_open_streams_do_not_hold_up_calls(table: PostgresTable) -> None:
    await many(table)
    async with AsyncExitStack() as stack:
        for _ in range(STREAMS):
            rows = await stack.enter_async_context(aclosing(table.stream(MemoryFilter())))
            await anext(rows)

        async with asyncio.timeout(10):
            await asyncio.gather(*(table.insert([new(f"x{n}")], NOTE) for n in range(32)))


async def test_one_stream_too_many_is_told_so(
    table: PostgresTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool_module, "PATIENCE_S", 0.05)
    await many(table)
    async with AsyncExitStack() as stack:
        for _ in range(STREAMS):
            rows = await stack.enter_async_context(aclosing(table.stream(MemoryFilter())))
            await anext(rows)

        with pytest.raises(StoreUnavailable) as caught:
            await anext(table.stream(MemoryFilter()))
        assert caught.value.code == "store.unavailable"
    assert len([row async for row in table.stream(MemoryFilter())]) == 600


async def test_a_stream_that_is_left_uses_its_connection_again(
    table: PostgresTable, postgres_url: str
) -> None:
    await many(table)
    for _ in range(20):
        async with aclosing(table.stream(MemoryFilter())) as rows:
            await anext(rows)

    assert connections(postgres_url) == 2
    assert asked(postgres_url, IDLE_IN_TRANSACTION) == []


async def test_a_cancelled_stream_lets_go(table: PostgresTable, postgres_url: str) -> None:
    await many(table)

    async def read() -> None:
        async for _ in table.stream(MemoryFilter()):
            await asyncio.sleep(0)

    for steps in range(1, 60, 3):
        task = asyncio.create_task(read())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert len([row async for row in table.stream(MemoryFilter())]) == 600
    await eventually(lambda: asked(postgres_url, IDLE_IN_TRANSACTION) == [])
    assert connections(postgres_url) <= 1 + STREAMS


# ------------------------------------------------------------------------------ closing


async def test_closing_finishes_what_is_under_way(postgres_url: str) -> None:
    database = await PostgresDatabase.open(postgres_url, 0, create=True)
    table = await database.records("s", 0)
    writing = [asyncio.create_task(table.insert([new(f"{n}")], NOTE)) for n in range(32)]
    await asyncio.sleep(0)

    await database.close()

    await asyncio.gather(*writing)
    assert asked(postgres_url, "SELECT count(*) FROM recollect.records") == [(32,)]
    with pytest.raises(StoreClosed) as caught:
        await table.get("1", Row.itself)
    assert caught.value.code == "store.closed"


async def test_closing_does_not_wait_for_a_stream_that_nobody_reads(postgres_url: str) -> None:
    database = await PostgresDatabase.open(postgres_url, 0, create=True)
    table = await database.records("s", 0)
    await many(table)
    rows = table.stream(MemoryFilter())
    await anext(rows)

    async with asyncio.timeout(10):
        await database.close()

    with pytest.raises(StoreClosed):
        async for _ in rows:
            pass
    await eventually(lambda: connections(postgres_url) == 0)


# ---------------------------------------------------------------------------- fair shares


async def test_a_long_result_lets_others_have_their_turn(table: PostgresTable) -> None:
    await many(table)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def counted(_: Row) -> int:
        return turns

    counting = asyncio.create_task(count())
    seen = await table.select(MemoryFilter(order="asc"), counted)
    counting.cancel()

    assert len(set(seen)) > 2
