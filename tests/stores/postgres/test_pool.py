"""Connections are few, used again, and let go of in every way out."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing

import pytest

from memoranda.kernel.errors import (
    RecordExists,
    RecordNotFound,
    StoreClosed,
    StoreFailed,
    StoreUnavailable,
)
from memoranda.ledger.unit import ACTIVE, Current, Draft, Unit, Version
from memoranda.records.filter import MemoryFilter
from memoranda.stores.postgres import pool as pool_module
from memoranda.stores.postgres.database import CONNECTIONS, STREAMS, PostgresDatabase
from memoranda.stores.postgres.ledger import PostgresLedger
from tests.patience import PATIENCE, eventually
from tests.stores.postgres.catalogue import asked, connections
from tests.stores.postgres.roles import run

IDLE_IN_TRANSACTION = """
SELECT 1 FROM pg_stat_activity
WHERE datname = current_database() AND starts_with(state, 'idle in transaction')
"""
ACTOR, AT = "system:test", 5


def version(id: str, number: int = 1) -> Version:
    return Version(id, number, "active", 1, 1, None, None, None, None)


async def insert(ledger: PostgresLedger, *ids: str) -> None:
    """Store new objects."""
    drafts = [Draft("create", b'{"data":1}', bytes(16), version(id), ("x",)) for id in ids]
    await ledger.commit(Unit(ACTOR, AT, lambda _: drafts))


async def edit(ledger: PostgresLedger, id: str) -> None:
    """Make the next version of an object."""

    def decide(found: Sequence[Current | None]) -> list[Draft]:
        (current,) = found
        if current is None:
            raise RecordNotFound(id)
        following = version(id, current.number + 1)
        return [Draft("create", b'{"data":2}', bytes(16), following, ("x",), current, ("x",))]

    await ledger.commit(Unit(ACTOR, AT, decide, [id]))


def refused(_: Sequence[Current | None]) -> list[Draft]:
    raise RecordNotFound("any")


def itself(current: Current) -> Current:
    return current


@pytest.fixture
async def database(postgres_url: str) -> AsyncIterator[PostgresDatabase]:
    opened = await PostgresDatabase.open(postgres_url, 0, create=True)
    yield opened
    await opened.close()


@pytest.fixture
async def ledger(database: PostgresDatabase) -> PostgresLedger:
    return await database.ledger("s", "origin", 0)


async def test_many_calls_share_a_few_connections(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    await asyncio.gather(
        *(insert(ledger, f"{n}") for n in range(200)),
        *(ledger.current(f"{n}", itself) for n in range(200)),
    )

    assert 1 < connections(postgres_url) <= CONNECTIONS


async def test_writes_that_come_together_share_a_commit(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    await asyncio.gather(*(insert(ledger, f"{n}") for n in range(200)))

    commits = asked(postgres_url, "SELECT DISTINCT xmin::text FROM memoranda.entries")
    assert len(commits) < 20
    assert connections(postgres_url) == 1, "so that others are left for who reads"


async def test_a_write_that_is_refused_fails_alone(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    await insert(ledger, "3")
    too_long = "".join(chr(0x20000 + 7919 * n % 60_000) for n in range(2_000))

    outcomes = await asyncio.gather(
        *(insert(ledger, f"{n}" if n < 9 else too_long) for n in range(10)), return_exceptions=True
    )

    refused = {n: type(outcome) for n, outcome in enumerate(outcomes) if outcome is not None}
    assert refused == {3: RecordExists, 9: StoreFailed}
    assert asked(postgres_url, "SELECT size FROM memoranda.journals") == [(9,)]


async def test_a_cancelled_write_leaves_those_beside_it(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    for n in range(60):
        tasks = [asyncio.create_task(insert(ledger, f"{n}.{part}")) for part in range(6)]
        for _ in range(n % 15):
            await asyncio.sleep(0)
        for task in tasks[n % 2 :: 2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for part, task in enumerate(tasks):
            if not task.cancelled():
                assert task.exception() is None
                assert await ledger.current(f"{n}.{part}", itself) is not None
    await insert(ledger, "last")

    ((size,),) = asked(postgres_url, "SELECT size FROM memoranda.journals")
    assert asked(postgres_url, "SELECT count(*), max(seq) + 1 FROM memoranda.entries") == [
        (size, size)
    ]


async def test_one_call_after_the_other_needs_one_connection(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    for n in range(20):
        await insert(ledger, f"{n}")
        await ledger.select(MemoryFilter(order="asc"), itself)
        with pytest.raises(RecordNotFound):
            await edit(ledger, "nowhere")
        with pytest.raises(RecordNotFound):
            await ledger.commit(Unit(ACTOR, AT, refused, ACTIVE))

    assert connections(postgres_url) == 1


async def test_a_cancelled_call_is_whole_or_absent_and_leaves_the_pool_usable(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    for n in range(120):
        ids = [f"{n}.{part}" for part in range(1 + n % 3)]
        task = asyncio.create_task(insert(ledger, *ids))
        for _ in range(n % 12):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if task.cancelled():
            found = [await ledger.current(id, itself) is not None for id in ids]
            assert len(set(found)) == 1
        else:
            assert task.exception() is None

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(insert(ledger, f"{n}") for n in range(64)))
    # What was cancelled is let go by the server in its own time.
    await eventually(lambda: connections(postgres_url) <= CONNECTIONS)
    counts = [
        asked(postgres_url, f"SELECT count(*) FROM memoranda.{table}")  # noqa: S608 - ours
        for table in ("entries", "versions", "tags")
    ]
    assert counts == [asked(postgres_url, "SELECT size FROM memoranda.journals")] * 3


async def test_calls_that_wait_for_a_lock_can_be_cancelled(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    await insert(ledger, "one")
    waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    held = await PostgresDatabase.open(postgres_url, 0, create=False)
    async with held._calls.transaction(b"BEGIN") as connection:
        await connection.execute("SELECT * FROM memoranda.journals FOR UPDATE")
        waiting = [asyncio.create_task(edit(ledger, "one")) for _ in range(CONNECTIONS + 4)]
        await eventually(lambda: asked(postgres_url, waits))
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert all(task.cancelled() for task in waiting)
    await held.close()

    await edit(ledger, "one")
    current = await ledger.current("one", itself)
    assert current is not None
    assert current.number == 2


async def test_a_connection_that_the_server_closed_is_not_used_again(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    await asyncio.gather(*(insert(ledger, f"{n}") for n in range(64)))
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    run(postgres_url, end + " AND datname = current_database()")
    await eventually(lambda: connections(postgres_url) == 0)

    for n in range(20):
        await insert(ledger, f"again {n}")


# ------------------------------------------------------------------------------ streams


async def many(ledger: PostgresLedger) -> None:
    await insert(ledger, *[f"{n:04}" for n in range(600)])


async def test_open_streams_do_not_hold_up_calls(ledger: PostgresLedger) -> None:
    await many(ledger)
    async with AsyncExitStack() as stack:
        for _ in range(STREAMS):
            rows = await stack.enter_async_context(aclosing(ledger.stream(MemoryFilter())))
            await anext(rows)

        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(insert(ledger, f"x{n}") for n in range(32)))


async def test_one_stream_too_many_is_told_so(
    ledger: PostgresLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    await many(ledger)
    async with AsyncExitStack() as stack:
        for _ in range(STREAMS):
            rows = await stack.enter_async_context(aclosing(ledger.stream(MemoryFilter())))
            await anext(rows)

        monkeypatch.setattr(pool_module, "PATIENCE_S", 0.05)
        with pytest.raises(StoreUnavailable) as caught:
            await anext(ledger.stream(MemoryFilter()))
        monkeypatch.undo()
        assert caught.value.code == "store.unavailable"
    assert len([row async for row in ledger.stream(MemoryFilter())]) == 600


async def test_a_stream_that_is_left_uses_its_connection_again(
    ledger: PostgresLedger, postgres_url: str
) -> None:
    await many(ledger)
    await ledger._merger.close(0)  # or merging, in spare time, is in a transaction of its own
    for _ in range(20):
        async with aclosing(ledger.stream(MemoryFilter())) as rows:
            await anext(rows)

    assert connections(postgres_url) == 2
    assert asked(postgres_url, IDLE_IN_TRANSACTION) == []


async def test_a_cancelled_stream_lets_go(ledger: PostgresLedger, postgres_url: str) -> None:
    await many(ledger)

    async def read() -> None:
        async for _ in ledger.stream(MemoryFilter()):
            await asyncio.sleep(0)

    for steps in range(1, 60, 3):
        task = asyncio.create_task(read())
        for _ in range(steps):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    assert len([row async for row in ledger.stream(MemoryFilter())]) == 600
    await eventually(lambda: asked(postgres_url, IDLE_IN_TRANSACTION) == [])
    await eventually(lambda: connections(postgres_url) <= 1 + STREAMS)


# ------------------------------------------------------------------------------ closing


async def test_closing_finishes_what_is_under_way(postgres_url: str) -> None:
    database = await PostgresDatabase.open(postgres_url, 0, create=True)
    ledger = await database.ledger("s", "origin", 0)
    writing = [asyncio.create_task(insert(ledger, f"{n}")) for n in range(32)]
    await asyncio.sleep(0)

    await database.close()

    await asyncio.gather(*writing)
    assert asked(postgres_url, "SELECT count(*) FROM memoranda.entries") == [(32,)]
    with pytest.raises(StoreClosed) as caught:
        await ledger.current("1", itself)
    assert caught.value.code == "store.closed"


async def test_closing_does_not_wait_for_a_stream_that_nobody_reads(postgres_url: str) -> None:
    database = await PostgresDatabase.open(postgres_url, 0, create=True)
    ledger = await database.ledger("s", "origin", 0)
    await many(ledger)
    rows = ledger.stream(MemoryFilter())
    await anext(rows)

    async with asyncio.timeout(PATIENCE):
        await database.close()

    with pytest.raises(StoreClosed):
        async for _ in rows:
            pass
    await eventually(lambda: connections(postgres_url) == 0)


# ---------------------------------------------------------------------------- fair shares


async def test_a_long_result_lets_others_have_their_turn(ledger: PostgresLedger) -> None:
    await many(ledger)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    def counted(_: Current) -> int:
        return turns

    counting = asyncio.create_task(count())
    seen = await ledger.select(MemoryFilter(order="asc"), counted)
    counting.cancel()

    assert len(set(seen)) > 2
