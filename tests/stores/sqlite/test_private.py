"""``sqlite://:memory:`` is a file like any other, in a folder that goes when it is closed."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import memoranda
from memoranda import MemoryFilter, MemoryRecordInput
from memoranda.app.databases import acquire, release
from memoranda.app.maintain import copy_scopes
from memoranda.kernel.clock import SystemClock
from memoranda.kernel.errors import ScopeNotFound, StoreFailed, StoreUnavailable
from memoranda.stores.sqlite.database import SqliteDatabase

URL = "sqlite://:memory:"

pytestmark = pytest.mark.backend("sqlite")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@asynccontextmanager
async def opened() -> AsyncIterator[SqliteDatabase]:
    database, lease = await acquire(URL, SystemClock())
    assert isinstance(database, SqliteDatabase)
    try:
        yield database
    finally:
        await release(lease)


async def test_it_is_a_file_that_only_its_owner_reads_and_is_gone_when_it_is_closed(
    temporary: Path,
) -> None:
    async with memoranda.open(URL) as memory:
        await memory.remember("The invoice was paid")
        (folder,) = temporary.iterdir()

        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [one.data for one in await memory.list()] == ["The invoice was paid"]

    assert list(temporary.iterdir()) == []


async def test_it_is_gone_when_whoever_opened_it_fails(temporary: Path) -> None:
    async def failing() -> None:
        async with memoranda.open(URL) as memory:
            await memory.remember("The invoice was paid")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await failing()
    assert list(temporary.iterdir()) == []


async def test_an_opening_that_fails_leaves_nothing(temporary: Path) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        await acquire(URL, SystemClock(), create=False)

    assert caught.value.database == URL
    assert list(temporary.iterdir()) == []


async def test_where_no_folder_can_be_made_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(StoreUnavailable) as caught:
        async with memoranda.open(URL):
            pass

    assert caught.value.database == URL
    assert "TMPDIR" in str(caught.value)


async def test_reads_do_not_wait_behind_a_stream_and_a_stream_sees_its_own_moment() -> None:
    async with memoranda.open(URL) as memory:
        await memory.records.create_many([MemoryRecordInput(data=n) for n in range(600)])
        seen = set[int]()
        async for one in memory.records.stream(MemoryFilter()):
            if not seen:
                await memory.records.create(MemoryRecordInput(data=-1))
                assert len(await memory.records.query(MemoryFilter())) == 601
            seen.add(one.data)

    assert seen == set(range(600))


async def test_a_scope_is_copied_into_it_and_verified_there(
    tmp_path: Path, temporary: Path
) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    async with memoranda.open(url, scope="one") as memory:
        await memory.remember_many([f"note {n}" for n in range(10)])
        size = (await memory.verify()).report.size
    before = set(temporary.iterdir())

    audit = await copy_scopes(url, URL)

    assert audit.is_sound
    assert [part.report.size for part in audit.scopes] == [size]
    assert set(temporary.iterdir()) == before


async def test_a_journal_can_be_taken_over_while_it_is_open() -> None:
    async with opened() as database:
        async with database.adoption("one", "its origin", 0):
            pass

        assert await database.journals() == {"one": "its origin"}


async def test_what_was_erased_is_in_no_byte_of_it(temporary: Path) -> None:
    async with memoranda.open(URL) as memory:
        kept = await memory.remember("a canary in a coal mine")
        (file,) = temporary.glob("*/memory.db")
        await memory.erase(kept.id, reason="a test")

        assert file.stat().st_size > 0
        for one in file.parent.iterdir():
            assert b"canary" not in one.read_bytes()


async def test_its_errors_name_its_url_and_not_its_path(temporary: Path) -> None:
    async with opened() as database:
        with pytest.raises(ScopeNotFound) as no_scope:
            await database.items("nowhere", "session")
        with pytest.raises(StoreFailed) as no_table:
            await database.write(lambda c: c.execute("SELECT * FROM nothing").fetchall())

    for caught in (no_scope, no_table):
        assert caught.value.database == URL
        assert str(temporary) not in str(caught.value)


async def test_a_folder_that_was_cleaned_up_meanwhile_is_no_error_at_the_end(
    temporary: Path,
) -> None:
    async with memoranda.open(URL) as memory:
        await memory.remember("The invoice was paid")
        (folder,) = temporary.iterdir()
        shutil.rmtree(folder)

    assert list(temporary.iterdir()) == []


_OPEN = """
import asyncio, os, signal, sys, memoranda
from memoranda.app.databases import acquire
from memoranda.kernel.clock import SystemClock

async def main():
    held.append(await acquire("sqlite://:memory:", SystemClock()))

held = []
asyncio.run(main())
"""


def left_by(temporary: Path, ending: str) -> tuple[int, list[Path]]:
    """How a process ended that never closed its database, and what it left."""
    run = subprocess.run(  # noqa: S603 - ours
        [sys.executable, "-c", _OPEN + ending],
        env={**os.environ, "TMPDIR": str(temporary)},
        check=False,
        timeout=60,
    )
    return run.returncode, list(temporary.iterdir())


def test_a_process_that_ends_without_closing_it_leaves_nothing(tmp_path: Path) -> None:
    assert left_by(tmp_path, "") == (0, [])


def test_a_process_that_is_killed_leaves_that_folder_and_nothing_else(tmp_path: Path) -> None:
    status, left = left_by(tmp_path, "os.kill(os.getpid(), signal.SIGKILL)")

    assert status == -signal.SIGKILL
    (folder,) = left
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_forked_process_that_ends_takes_nothing_away(tmp_path: Path) -> None:
    forked = """
folders = os.listdir(os.environ["TMPDIR"])
if not (child := os.fork()):
    sys.exit(0)
os.waitpid(child, 0)
sys.exit(0 if os.listdir(os.environ["TMPDIR"]) == folders and folders else 3)
"""
    assert left_by(tmp_path, forked) == (0, [])
