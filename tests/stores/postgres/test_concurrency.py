"""Many callers, in several processes: nothing is lost, written twice or waited for in a ring."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import orjson
import psycopg
import pytest

from memoranda import MemoryFilter, MemoryRecordInput, MemoryUpdate
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.records.codec import JsonCodec
from memoranda.journeys.records.store import Records
from memoranda.kernel.actors import parse_actor
from memoranda.kernel.clock import Randomness, SystemClock, TimeOrderedIds
from memoranda.kernel.errors import IdempotencyConflict, RecordExists, RecordNotFound
from memoranda.ledger.entry import entry_hash, genesis, read_entry
from memoranda.stores.postgres import connection as connection_module
from memoranda.stores.postgres.database import PostgresDatabase
from memoranda.stores.shorthand import BODY, ENTRY, unpacked
from tests.patience import PATIENCE, eventually
from tests.stores.postgres.catalogue import asked
from tests.stores.postgres.roles import run

CALLERS = 16
HAMMERS = 6
WAITING = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"


@pytest.fixture(autouse=True)
def locks_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long those before it take on a busy machine: nobody here keeps a lock for ever."""
    known = f"'lock_timeout', '{connection_module.BUSY_MS}'"
    assert known in connection_module._SETTINGS
    patient = f"'lock_timeout', '{PATIENCE * 1_000:.0f}'"
    monkeypatch.setattr(
        connection_module, "_SETTINGS", connection_module._SETTINGS.replace(known, patient)
    )


async def handle(stack: AsyncExitStack, url: str) -> Records[Any]:
    """A handle with connections of its own, as another process has."""
    clock = SystemClock()
    database = await PostgresDatabase.open(url, clock.now_ms(), create=True)
    stack.push_async_callback(database.close)
    randomness = Randomness()
    ledger = await database.ledger("s", randomness.take(16).hex(), clock.now_ms())
    return Records(
        GovernedTable(ledger, Drafts("s", randomness)),
        codec=JsonCodec(),
        actor=parse_actor("system:test"),
        clock=clock,
        ids=TimeOrderedIds(clock),
    )


@pytest.fixture
async def handles(postgres_url: str) -> AsyncIterator[list[Records[Any]]]:
    async with AsyncExitStack() as stack:
        yield [await handle(stack, postgres_url) for _ in range(4)]


def check_tags(url: str) -> None:
    """The index of tags says what the bodies say."""
    stored = asked(
        url,
        """SELECT v.id, v.created_at, b.body FROM memoranda.versions v
           JOIN memoranda.entries b ON b.journal = v.journal AND b.seq = v.seq
           WHERE v.is_newest AND v.status = 'active'""",
    )
    expected = {
        (id, at, tag)
        for id, at, body in stored
        for tag in orjson.loads(unpacked(bytes(body), BODY)).get("tags", ())  # type: ignore[call-overload]
    }
    assert set(asked(url, "SELECT id, created_at, tag FROM memoranda.tags")) == expected


def check_journal(url: str) -> None:
    """Every entry follows from the one before, up to the head; each object has one newest row."""
    ((origin, size, head),) = asked(url, "SELECT origin, size, head FROM memoranda.journals")
    before, at = genesis(str(origin)), 0
    entries: list[Any] = asked(url, "SELECT seq, entry FROM memoranda.entries ORDER BY seq")
    for number, (seq, stored) in enumerate(entries):
        raw = unpacked(stored, ENTRY)
        entry = read_entry(raw)
        assert (entry.seq, seq, entry.previous_entry_hash) == (number, number, before)
        assert entry.at >= at
        before, at = entry_hash(raw).hex(), entry.at
    assert (size, head) == (len(entries), bytes.fromhex(before))
    newest = "SELECT id, count(*) FILTER (WHERE is_newest) FROM memoranda.versions GROUP BY id"
    assert {count for _, count in asked(url, newest)} == {1}
    last = """SELECT 1 FROM memoranda.versions v WHERE v.is_newest AND v.number <>
              (SELECT count(*) FROM memoranda.versions o WHERE o.id = v.id)"""
    assert asked(url, last) == []


# ------------------------------------------------------------------------------- one key


async def test_one_key_at_once_creates_once(handles: list[Records[Any]]) -> None:
    given = MemoryRecordInput(data={"n": 1}, tags=("x",))

    ids = await asyncio.gather(
        *(handles[n % 4].create(given, idempotency_key="k") for n in range(CALLERS))
    )

    assert len(set(ids)) == 1
    assert [found.id for found in await handles[0].query(MemoryFilter())] == [ids[0]]


async def test_one_key_at_once_updates_and_deletes_once(handles: list[Records[Any]]) -> None:
    id = await handles[0].create(MemoryRecordInput(data={}))

    await asyncio.gather(
        *(handles[n % 4].update(id, {"n": 1}, idempotency_key="u") for n in range(CALLERS))
    )
    assert await handles[0].version(id) == 2

    await asyncio.gather(*(handles[n % 4].delete(id, idempotency_key="d") for n in range(CALLERS)))
    await handles[0].create(MemoryRecordInput(id=id, data={}))
    await handles[0].delete(id, idempotency_key="d")
    assert await handles[0].version(id) == 4, "a deletion is a version as well"


async def test_one_key_at_once_for_different_requests_serves_one_of_them(
    handles: list[Records[Any]],
) -> None:
    async def create(n: int) -> int | None:
        try:
            await handles[n % 4].create(MemoryRecordInput(data=n), idempotency_key="k")
        except IdempotencyConflict:
            return None
        return n

    made = await asyncio.gather(*(create(n) for n in range(CALLERS)))

    (winner,) = [n for n in made if n is not None]
    assert [found.data for found in await handles[0].query(MemoryFilter())] == [winner]


async def test_a_key_whose_call_is_refused_goes_to_the_next_who_waits(
    handles: list[Records[Any]],
) -> None:
    await handles[0].create(MemoryRecordInput(id="taken", data=0))

    async def create(n: int) -> str:
        given = MemoryRecordInput(id="free" if n % 2 else "taken", data=0)
        try:
            return await handles[n % 4].create(given, idempotency_key="k")
        except (RecordExists, IdempotencyConflict):
            return ""

    made = await asyncio.gather(*(create(n) for n in range(CALLERS)))

    assert set(made) == {"", "free"}
    assert made.count("free") == CALLERS // 2


# -------------------------------------------------------------------------------- one row


async def test_creates_of_many_make_one_chain(
    handles: list[Records[Any]], postgres_url: str
) -> None:
    await asyncio.gather(
        *(handles[n % 4].create(MemoryRecordInput(data=n, tags=("x",))) for n in range(300))
    )

    assert asked(postgres_url, "SELECT size FROM memoranda.journals") == [(300,)]
    check_journal(postgres_url)
    check_tags(postgres_url)


async def test_edits_of_one_record_by_many_lose_nothing(
    handles: list[Records[Any]], postgres_url: str
) -> None:
    id = await handles[0].create(MemoryRecordInput(data={}, tags=("x",)))

    async def edit(caller: int) -> None:
        for step in range(4):
            await handles[caller % 4].update(id, {f"{caller}.{step}": 1})
            await handles[caller % 4].annotate(id, tags=("x", f"{caller}.{step}"))

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(edit(caller) for caller in range(CALLERS)))

    found = await handles[0].get(id)
    assert found is not None
    assert found.data == {f"{caller}.{step}": 1 for caller in range(CALLERS) for step in range(4)}
    assert await handles[0].version(id) == 1 + CALLERS * 4 * 2
    check_tags(postgres_url)
    check_journal(postgres_url)


async def test_an_edit_does_not_starve_beside_others_that_never_stop(
    handles: list[Records[Any]],
) -> None:
    id = await handles[0].create(MemoryRecordInput(data={"n": 0}))
    done = asyncio.Event()
    others = 0

    async def hammer(records: Records[Any]) -> None:
        nonlocal others
        while not done.is_set():
            await records.update(id, {"n": 1})
            others += 1
            assert others < 20 * HAMMERS * 10, "in turns, each would come once between two of mine"

    hammers = [asyncio.create_task(hammer(handles[n % 3])) for n in range(HAMMERS)]
    async with asyncio.timeout(PATIENCE):
        for n in range(20):
            await handles[3].update(id, {f"mine{n}": n})
        done.set()
        await asyncio.gather(*hammers)

    found = await handles[0].get(id)
    assert found is not None
    assert [found.data[f"mine{n}"] for n in range(20)] == list(range(20))


async def test_creates_and_deletes_of_one_id_take_turns(
    handles: list[Records[Any]], postgres_url: str
) -> None:
    created = 0

    async def work(caller: int) -> None:
        nonlocal created
        for step in range(8):
            try:
                await handles[caller % 4].create(
                    MemoryRecordInput(id="one", data={}, tags=(f"{caller}", f"{step}"))
                )
                created += 1
                await handles[caller % 4].annotate("one", tags=("again",))
            except (RecordExists, RecordNotFound):
                pass
            await handles[caller % 4].delete("one")

    await asyncio.gather(*(work(caller) for caller in range(8)))

    check_tags(postgres_url)
    check_journal(postgres_url)
    await handles[0].delete("one")
    await handles[0].create(MemoryRecordInput(id="one", data={}))
    assert (await handles[0].version("one") or 0) > created


# ------------------------------------------------------------------------------- batches


async def test_edits_in_opposite_orders_do_not_wait_for_each_other(
    handles: list[Records[Any]],
) -> None:
    ids = [f"{n:03}" for n in range(100)]
    await handles[0].create_many([MemoryRecordInput(id=id, data={}) for id in ids])

    async def work(caller: int) -> None:
        order = ids if caller % 2 else ids[::-1]
        for step in range(5):
            updates = [MemoryUpdate(id, {f"{caller}.{step}": 1}) for id in order]
            await handles[caller % 4].update_many(updates)

    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(work(caller) for caller in range(8)))

    assert {len(found.data) for found in await handles[0].query(MemoryFilter())} == {40}


async def test_creates_and_deletes_in_opposite_orders_do_not_wait_for_each_other(
    handles: list[Records[Any]], postgres_url: str
) -> None:
    async def create(caller: int, ids: list[str]) -> bool:
        order = ids if caller % 2 else ids[::-1]
        given = [MemoryRecordInput[Any](id=id, data={}, tags=("x", "y")) for id in order]
        try:
            await handles[caller].create_many(given)
        except RecordExists:
            return False
        return True

    async def delete(caller: int, ids: list[str]) -> None:
        await handles[caller].delete_many(ids if caller % 2 else ids[::-1])

    async with asyncio.timeout(PATIENCE):
        for n in range(10):
            ids = [f"{n % 5}.{m:03}" for m in range(200)]
            created = await asyncio.gather(*(create(caller, ids) for caller in range(4)))
            assert sum(created) == 1
            check_tags(postgres_url)
            await asyncio.gather(*(delete(caller, ids) for caller in range(4)))

    assert await handles[0].query(MemoryFilter()) == []
    check_tags(postgres_url)


async def test_clear_beside_writers_leaves_records_and_tags_in_agreement(
    handles: list[Records[Any]], postgres_url: str
) -> None:
    async def write(caller: int) -> None:
        for step in range(15):
            id = f"{caller}.{step % 5}"
            try:
                await handles[caller % 3].create(
                    MemoryRecordInput(id=id, data={}, tags=("x", f"{step}"))
                )
                await handles[caller % 3].annotate(id, tags=("x", f"again {step}"))
            except (RecordExists, RecordNotFound):
                continue

    async def clear() -> None:
        for _ in range(15):
            await handles[3].clear()

    await asyncio.gather(clear(), *(write(caller) for caller in range(8)))

    check_tags(postgres_url)
    await handles[3].clear()
    assert asked(postgres_url, "SELECT * FROM memoranda.tags") == []
    check_journal(postgres_url)


async def test_a_record_that_is_made_while_the_scope_is_cleared_keeps_its_tags(
    handles: list[Records[Any]], postgres_url: str
) -> None:
    await handles[0].create(MemoryRecordInput(id="old", data={}, tags=("x",)))
    run(
        postgres_url,
        """
        CREATE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS
          'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END';
        CREATE TRIGGER pause AFTER UPDATE ON memoranda.versions
          FOR EACH ROW EXECUTE FUNCTION public.pause();
        """,
    )
    with psycopg.connect(postgres_url) as another:
        another.execute("SELECT pg_advisory_xact_lock(1)")
        clearing = asyncio.create_task(handles[0].clear())
        await eventually(lambda: asked(postgres_url, WAITING))
        new = MemoryRecordInput[Any](id="new", data={}, tags=("x",))
        creating = asyncio.create_task(handles[1].create(new))
        await eventually(lambda: len(asked(postgres_url, WAITING)) == 2)
    await asyncio.gather(clearing, creating)

    assert [found.id for found in await handles[0].query(MemoryFilter(tags=("x",)))] == ["new"]
    check_tags(postgres_url)
