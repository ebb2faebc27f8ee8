"""`connect` and `scope`: what a handle costs, when a journal begins, and when it all ends."""

import asyncio
import gc
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import App, MemoryExperience, MemoryFilter, MemoryQuery, MemoryRecordInput
from memoranda.app import databases
from memoranda.app.parts import Parts
from memoranda.errors import (
    InvalidActor,
    InvalidFilter,
    InvalidScope,
    InvalidUrl,
    ScopeNotFound,
    StoreClosed,
    StoreReadOnly,
    StoreUnavailable,
)
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.sqlite.database import SqliteDatabase
from tests.app.sample import SAMPLE, Known, bound, come_to, opened, options, verbs
from tests.journeys.intent.counter import COUNTER, counter


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Whatever a database was asked, read or written."""
    counted: list[str] = []

    def counting(kind: Any, name: str) -> None:
        real = getattr(kind, name)

        def method(self: Any, *given: Any, **named: Any) -> Any:
            counted.append(name)
            return real(self, *given, **named)

        monkeypatch.setattr(kind, name, method)

    for name in ("read", "write", "rows", "glance", "stream"):
        counting(SqliteDatabase, name)
    counting(Pool, "connection")
    return counted


# ------------------------------------------------------------------------------ a handle


async def test_a_handle_asks_the_database_nothing_and_makes_nothing(
    place: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    wired: list[object] = []
    monkeypatch.setattr(Parts, "__init__", lambda *_: wired.append(1))
    async with memoranda.connect(place) as db:
        asked.clear()
        tasks = asyncio.all_tasks()
        for number in range(100):
            memory = db.scope(f"scope-{number}", actor="agent:a")
            assert memory.worlds is memory.worlds
            assert repr(memory) == f"<Memory scope='scope-{number}' actor='agent:a'>"
            del memory

        assert (asked, wired, db._connected._scopes) == ([], [], {})
        assert asyncio.all_tasks() == tasks, "nothing runs for them"
        gc.collect()
        assert not db._connected._handles, "nothing keeps a handle that was dropped"
        assert await db.scopes() == []


async def test_a_journal_begins_with_the_first_write(place: str) -> None:
    async with memoranda.connect(place) as db:
        memory = db.scope("new", actor="agent:a")
        assert await memory.get("x") is None
        assert await memory.list() == []
        assert await memory.records.query(MemoryFilter()) == []
        assert await memory.forget("x", reason="tidy") is None
        assert (await memory.journal.head()).size == 0
        assert await memory.journal.entries() == []
        assert (await memory.verify()).is_sound
        assert not await db.exists("new")
        assert await db.scopes() == []

        await memory.remember("something")

        assert await db.exists("new")
        assert await db.scopes() == ["new"]


async def test_two_scopes_and_two_actors_are_used_at_once(place: str) -> None:
    async with memoranda.connect(place) as db:
        one, other = db.scope("one", actor="agent:a"), db.scope("other", actor="agent:a")
        human = db.scope("one", actor="human:h")
        written = await asyncio.gather(
            *(one.remember(f"by the agent {n}") for n in range(5)),
            *(other.remember(f"elsewhere {n}") for n in range(5)),
            *(human.remember(f"by the human {n}") for n in range(5)),
        )

        assert len({receipt.id for receipt in written}) == 15
        assert len(await one.list()) == len(await human.list()) == 10
        assert len(await other.list()) == 5
        actors = {entry.actor for entry in await one.journal.entries(1)}
        assert actors == {"agent:a", "human:h"}
        assert (await one.verify()).is_sound
        assert (await other.verify()).is_sound


async def test_two_databases_on_one_file_keep_their_own_seals(place: str) -> None:
    eager, lazy = Seal(every_entries=1), Seal(every_entries=10_000, every_seconds=10_000)
    async with memoranda.connect(place, seal=eager) as a, memoranda.connect(place, seal=lazy) as b:
        await a.scope("s", actor="agent:a").remember("one")
        await b.scope("s", actor="agent:b").remember("two")
        assert len(await a.scope("s").list()) == 2
        await a.close()
        assert len(await b.scope("s").list()) == 2, "one closes, the other goes on"
        assert (await b.scope("s").verify()).is_sound


async def test_a_provider_is_made_from_the_handle_when_it_is_needed(place: str) -> None:
    made: list[memoranda.Memory[Any]] = []

    class Recalls:
        def __init__(self, memory: memoranda.Memory[Any]) -> None:
            made.append(memory)
            self.memory = memory

        async def recall(self, query: MemoryQuery) -> Any:
            _ = query
            return [one.data for one in await self.memory.list()]

        async def remember(self, experience: MemoryExperience) -> None:
            _ = experience

    async with memoranda.connect(place) as db:
        app = App[Any](domain=counter(), provider=Recalls)
        memory = db.scope("s", actor="agent:a", app=app)
        other = db.scope("s", actor="agent:b", app=app)
        assert made == []
        await memory.remember("tea")
        assert (await memory.act("add", {"by": 1})).status == "completed"
        assert (await other.act("add", {"by": 1})).status == "completed"

    assert len(made) == 2
    assert made[0] is memory
    assert made[1] is other


def test_values_may_say_what_they_are_of() -> None:
    assert App[str](recall_limit=1.0) == App(recall_limit=1.0)
    assert memoranda.Memo[str]("tea", id="x").data == "tea"


async def test_what_a_scope_is_called_is_checked_when_the_handle_is_made(place: str) -> None:
    async with memoranda.connect(place) as db:
        for name in ("", "a\nb", "x\udcff", "\x00", 3, b"x"):
            with pytest.raises(InvalidScope):
                db.scope(name)  # type: ignore[arg-type]
        for actor in ("", "nobody", "agent:", 3, None, "agent:\udcff"):
            with pytest.raises(InvalidActor):
                db.scope("s", actor=actor)  # type: ignore[arg-type]
        assert await db.scopes() == []


# ------------------------------------------------------------------- opening and closing


async def test_a_database_is_opened_by_await_by_with_and_by_open(place: str) -> None:
    db = await memoranda.connect(place)
    memory = db.scope("s", actor="agent:a")
    await memory.remember("one")
    await db.close()
    await db.close()
    with pytest.raises(StoreClosed):
        await memory.get("x")

    handle = await memoranda.open(place, scope="s", actor="agent:a")
    assert len(await handle.list()) == 1
    await handle.close()
    await handle.close()
    with pytest.raises(StoreClosed):
        await handle.get("x")

    assert not databases._shares[asyncio.get_running_loop()]


async def test_a_database_that_was_never_opened_refuses_by_name(place: str) -> None:
    db = memoranda.connect(place)
    memory = db.scope("s")
    with pytest.raises(StoreClosed):
        await memory.list()
    with pytest.raises(StoreClosed):
        await db.scopes()
    with pytest.raises(StoreClosed):
        await db.exists("s")
    await db.close()


async def test_two_tasks_may_open_a_database_at_once(place: str) -> None:
    db = memoranda.connect(place)

    async def opening() -> memoranda.Database:
        return await db

    assert set(await asyncio.gather(opening(), opening())) == {db}
    await db.close()

    assert not databases._shares[asyncio.get_running_loop()], "it was opened once"


async def test_an_opening_that_is_cancelled_leaves_nothing_and_may_be_tried_again(
    place: str,
) -> None:
    for turns in range(6):
        db = memoranda.connect(place)
        task = asyncio.ensure_future(db._connected.open())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        async with db:
            await db.scope("s").remember("it works")
        assert not databases._shares[asyncio.get_running_loop()]


async def test_what_is_dropped_closes_nothing_under_its_user(place: str) -> None:
    memory = await memoranda.open(place, scope="s", actor="agent:a")
    block = memoranda.open(place, scope="s", actor="agent:b")
    entered = await block.__aenter__()
    other = (await memoranda.connect(place)).scope("s", actor="agent:c")
    del block
    gc.collect()

    for handle in (memory, entered, other):
        await handle.remember("still there")
    assert len(await memory.list()) == 3

    await memory.close()
    await entered.close()
    await other._handle._database.close()


def test_every_verb_is_in_the_sample() -> None:
    assert sorted(verbs()) == sorted(call.name for call in SAMPLE)


@pytest.mark.parametrize("kind", ["used", "unused"])
async def test_every_verb_is_refused_after_the_end(place: str, kind: str) -> None:
    async with memoranda.connect(place, clockwork=options()["clockwork"]) as db:
        memory = db.scope("s", actor="human:ada", app=App(domain=counter()))
        records = memory.records
        if kind == "used":
            await memory.remember("something", id="tea")

    for call in SAMPLE:
        with pytest.raises(StoreClosed) as caught:
            await come_to(bound(memory, call.name)(*call.given(Known()), **call.named(Known())))
        assert caught.value.code == "store.closed", call.name
    with pytest.raises(StoreClosed):
        await records.get("tea")
    async with memoranda.connect(place) as db:
        assert await db.exists("s") is (kind == "used")


async def test_streams_and_batches_that_outlive_the_database_are_refused(place: str) -> None:
    async with opened(place) as memory:
        await memory.remember_many([f"number {n}" for n in range(3)])
        tail = memory.journal.tail(0)
        await anext(tail)
        late = memory.batch()
        await late.__aenter__()
        late.put("late", 1)

    with pytest.raises(StoreClosed):
        _ = [entry async for entry in tail]
    with pytest.raises(StoreClosed):
        await late.__aexit__(None, None, None)
    async with memoranda.open(place, scope="s") as memory:
        assert await memory.get("late") is None


# ----------------------------------------------------------------- places and conditions


@pytest.mark.parametrize("name", ["memory.db", "100% of it?#.db", "기억 one.db", "a=b@c.db"])
async def test_a_path_is_as_good_as_a_url(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    async with memoranda.open(path, scope="s") as memory:
        await memory.remember("something")
    assert path.is_file()
    assert await memoranda.scopes(path) == ["s"]
    assert await memoranda.exists("s", path)
    if "@" not in name:
        assert await memoranda.exists("s", str(path))
    with memoranda.open_sync(path, scope="s") as blocking:
        assert len(blocking.list()) == 1


@pytest.mark.parametrize("url", ["", 3, b"memory.db", Path("a\x00b"), "a\udcffb", Path("\ud800")])
def test_what_is_neither_a_url_nor_a_path_is_refused(url: Any) -> None:
    with pytest.raises(InvalidUrl) as caught:
        memoranda.connect(url)

    assert caught.value.code == "input.url"


async def test_a_reader_reads_and_writes_nothing(place: str) -> None:
    async with memoranda.open(place, scope="s", actor="agent:a") as memory:
        await memory.remember("something", id="one")
        size = (await memory.journal.head()).size
    async with memoranda.connect(place, read_only=True) as db:
        assert db.read_only
        reader = db.scope("s", actor="agent:auditor")
        assert len(await reader.list()) == 1
        assert (await reader.verify()).is_sound
        assert await db.exists("s")
        assert not await db.exists("other")
        for writing in (
            reader.remember("more"),
            reader.put("one", 1),
            reader.records.delete("one"),
            reader.recall("something", top_k=1),
        ):
            with pytest.raises(StoreReadOnly):
                await writing
        assert (await reader.journal.head()).size == size
        with pytest.raises(ScopeNotFound):
            await db.scope("other").list()


async def test_nothing_is_made_where_nothing_may_be(place: str, tmp_path: Path) -> None:
    nowhere = f"sqlite:///{tmp_path}/nowhere.db"
    for opening in (
        memoranda.connect(nowhere, create=False),
        memoranda.connect(nowhere, read_only=True),
    ):
        with pytest.raises(StoreUnavailable):
            await opening
    assert not (tmp_path / "nowhere.db").exists()
    async with memoranda.connect(place) as db:
        await db.scope("s").remember("something")
    async with memoranda.connect(place, create=False) as db:
        missing = db.scope("mistyped")
        for using in (
            missing.list(),
            missing.remember("x"),
            missing.records.get("x"),
            missing.records.create(MemoryRecordInput(data=1)),
            missing.records.tags(),
            missing.records.count(MemoryFilter()),
            missing.journal.head(),
            anext(missing.records.stream(MemoryFilter())),
        ):
            with pytest.raises(ScopeNotFound) as caught:
                await using
            assert caught.value.code == "store.scope_not_found"
        with pytest.raises(ScopeNotFound):
            async with missing.batch() as batch:
                batch.put("x", 1)
        assert await db.scopes() == ["s"]
        await db.scope("s").remember("what is there is written to")


class Slow:
    """A provider that remembers later."""

    def __init__(self) -> None:
        self.told = asyncio.Event()
        self.remembered = False

    async def recall(self, query: MemoryQuery) -> object:
        return query.actor_id

    async def remember(self, experience: MemoryExperience) -> None:
        assert experience.outcome == "completed"
        await self.told.wait()
        self.remembered = True


async def test_closing_waits_for_what_a_dropped_handle_still_remembers(place: str) -> None:
    provider = Slow()
    app = memoranda.App(domain=COUNTER, provider=provider)
    db = await memoranda.connect(place)
    assert (await db.scope("s", actor="agent:a", app=app).act("add", {"by": 3})).is_completed
    gc.collect()

    closing = asyncio.ensure_future(db.close())
    await asyncio.sleep(0)
    provider.told.set()
    await closing

    assert provider.remembered


async def test_milliseconds_are_not_taken_for_the_number_of_an_entry(place: str) -> None:
    async with memoranda.open(place, scope="s", actor="agent:a") as memory:
        for asking in (memory.get("x", at=1_794_965_690_249), memory.list(at=1_794_965_690_249)):
            with pytest.raises(InvalidFilter) as caught:
                await asking
            assert caught.value.code == "input.filter"
