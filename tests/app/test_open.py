"""Opening: defaults, scopes, actors, models, and one database for all handles on it."""

import asyncio
import threading
from pathlib import Path

import pytest

import memoranda
from memoranda import MemoryFilter, MemoryRecordInput
from memoranda.app import databases
from memoranda.app.portal import NAME
from memoranda.kernel.errors import InvalidActor, InvalidScope, InvalidUrl, StoreUnavailable
from tests.patience import PATIENCE


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/memory.db"


async def test_the_environment_gives_the_defaults(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORANDA_DATABASE_URL", url)
    monkeypatch.setenv("MEMORANDA_SCOPE", "from the environment")
    async with memoranda.open() as memory:
        assert memory.scope == "from the environment"
        await memory.remember("something")

    assert await memoranda.scopes() == ["from the environment"]


async def test_without_anything_it_is_a_file_in_this_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMORANDA_DATABASE_URL", raising=False)
    monkeypatch.delenv("MEMORANDA_SCOPE", raising=False)
    monkeypatch.chdir(tmp_path)
    async with memoranda.open() as memory:
        assert memory.scope == "default"

    assert (tmp_path / "memoranda.db").exists()


async def test_a_bad_scope_or_actor_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    with pytest.raises(InvalidScope):
        async with memoranda.open(url, scope="a\nb"):
            pass
    with pytest.raises(InvalidScope):
        async with memoranda.open(url, scope=""):
            pass
    with pytest.raises(InvalidUrl):
        async with memoranda.open(""):
            pass
    with pytest.raises(InvalidActor):
        async with memoranda.open(url, actor="nobody"):
            pass

    assert list(tmp_path.iterdir()) == []


async def test_handles_of_two_scopes_share_one_database(url: str, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    async with memoranda.open(url, scope="a") as a:
        link.symlink_to(tmp_path / "memory.db")
        async with memoranda.open(f"sqlite:///{link}", scope="b") as b:
            opened = databases._shares[asyncio.get_running_loop()]
            assert [lease.holders for lease in opened.values()] == [2]
            await b.records.create(MemoryRecordInput(data=1))
        await a.records.create(MemoryRecordInput(data=2))
        assert [record.data for record in await a.records.query(MemoryFilter())] == [2]

    assert not databases._shares[asyncio.get_running_loop()]


async def test_an_opening_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/nowhere/memory.db"
    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            async with memoranda.open(url):
                pass

    assert not databases._shares[asyncio.get_running_loop()]
    (tmp_path / "nowhere").mkdir()
    async with memoranda.open(url):
        pass


async def test_an_opening_that_is_cancelled_leaves_nothing_behind(url: str) -> None:
    async def opening() -> None:
        async with memoranda.open(url):
            await asyncio.Event().wait()

    for _ in range(5):
        task = asyncio.ensure_future(opening())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    assert not databases._shares[asyncio.get_running_loop()]


async def test_looking_at_a_database_never_keeps_another_from_making_it(url: str) -> None:
    async def opening() -> None:
        async with memoranda.open(url, scope="s"):
            pass

    looked, opened = await asyncio.gather(memoranda.scopes(url), opening(), return_exceptions=True)

    assert opened is None
    assert looked == ["s"] or isinstance(looked, StoreUnavailable)
    assert not databases._shares[asyncio.get_running_loop()]


async def test_a_closing_that_is_cancelled_still_lets_go(url: str) -> None:
    inside, go = asyncio.Event(), asyncio.Event()

    async def opened() -> None:
        async with memoranda.open(url):
            inside.set()
            await go.wait()

    task = asyncio.ensure_future(opened())
    await inside.wait()
    go.set()
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    async with memoranda.open(url):
        pass

    for thread in threading.enumerate():
        if "memoranda" in thread.name and thread.name != NAME:
            await asyncio.to_thread(thread.join, PATIENCE)
            assert not thread.is_alive()


async def test_two_databases_in_memory_are_two() -> None:
    for url in ("dict://", "sqlite://:memory:"):
        async with memoranda.open(url, scope="s") as one, memoranda.open(url, scope="s") as other:
            id = await one.records.create(MemoryRecordInput(data=1))
            assert await other.records.get(id) is None
