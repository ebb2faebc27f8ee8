"""A file where nothing can be written is read as it is, with the -wal that lies beside it."""

import asyncio
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

import memoranda
from memoranda.app.maintain import backup
from memoranda.kernel.errors import StoreReadOnly, StoreUnavailable
from memoranda.stores.sqlite.connection import connect

NOBODY = 65534

READ = """
import asyncio, os, sys
import numpy
import memoranda
from memoranda.outside.embedders import default_embedder
from memoranda.app.audit import verify_database
from memoranda.kernel.errors import StoreReadOnly

default_embedder()  # before the rights are gone that reading it takes

async def main(path, uid):
    if int(uid):
        os.setgid(int(uid))
        os.setuid(int(uid))
    url = f"sqlite:///{path}"
    async with memoranda.open(url, scope="s", read_only=True) as memory:
        print(sorted(one.data for one in await memory.list()))
        print(len(await memory.list(text="note")))
        print((await memory.verify()).is_sound)
        try:
            await memory.remember("more")
        except StoreReadOnly as refused:
            print(refused.code)
    print((await verify_database(url)).is_sound)

asyncio.run(main(*sys.argv[1:]))
"""
EXPECTED = ["['a note', 'later note']", "2", "True", "store.read_only", "True"]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the -shm, which is a cache."""
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.suffix != ".db-shm"}


def fill(path: Path) -> None:
    async def write() -> None:
        for text in ("a note", "later note"):
            async with memoranda.open(f"sqlite:///{path}", scope="s") as memory:
                await memory.remember(text)

    asyncio.run(write())


def clean(folder: Path) -> Path:
    """A file that was closed well."""
    fill(folder / "memory.db")
    assert [one.name for one in folder.iterdir()] == ["memory.db"]
    return folder / "memory.db"


def crashed(folder: Path) -> Path:
    """A file whose last writes are only in the -wal: its -shm was lost."""
    work = folder.parent / "work"
    work.mkdir()
    path = work / "memory.db"
    fill(path)
    before = path.read_bytes()
    keeper = connect(str(path))  # as long as it is open, nobody folds the -wal into the file
    keeper.execute("SELECT 1 FROM journals").fetchall()
    path.write_bytes(before)
    asyncio.run(_forget_and_remember(path))
    for name in ("memory.db", "memory.db-wal"):
        shutil.copy(work / name, folder / name)
    keeper.close()
    assert (folder / "memory.db-wal").stat().st_size > 0
    return folder / "memory.db"


async def _forget_and_remember(path: Path) -> None:
    async with memoranda.open(f"sqlite:///{path}", scope="s") as memory:
        for one in await memory.list():
            await memory.forget(one.id, reason="a test")
        for text in ("a note", "later note"):
            await memory.remember(text)


def crashed_with_shm(folder: Path) -> Path:
    """The same, and the -shm is still there."""
    path = crashed(folder)
    connection = connect(str(path))
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.execute("SELECT 1 FROM journals").fetchall()
    connection.close()
    assert (folder / "memory.db-shm").exists()
    return path


STATES = [clean, crashed, crashed_with_shm]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter; pytest's own are for whoever runs it."""
    with tempfile.TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        folder = Path(made) / "medium"
        folder.mkdir()
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def read(path: Path, *, uid: int = 0, within: tuple[str, ...] = ()) -> list[str]:
    command = [*within, sys.executable, "-c", READ, str(path), str(uid)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - ours
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("state", STATES)
def test_reading_where_one_could_write_leaves_every_byte(
    folder: Path, state: Callable[[Path], Path]
) -> None:
    path = state(folder)
    before = contents(folder)

    assert read(path) == EXPECTED

    assert contents(folder) == before


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("closed", ["file", "folder", "both"])
def test_a_file_that_others_own_is_read(
    folder: Path, state: Callable[[Path], Path], closed: str
) -> None:
    path = state(folder)
    for one in folder.iterdir():
        one.chmod(0o666 if closed == "folder" else 0o444)
    folder.chmod(0o777 if closed == "file" else 0o555)
    before = contents(folder)

    is_root = os.geteuid() == 0
    parents = Path(memoranda.__file__).resolve().parents
    if is_root and not all(parent.stat().st_mode & 0o005 == 0o005 for parent in parents):
        pytest.skip("this checkout lies where no other user can read it")

    assert read(path, uid=NOBODY if is_root else 0) == EXPECTED

    assert contents(folder) == before


@pytest.mark.parametrize("state", STATES)
def test_a_medium_that_is_mounted_read_only_is_read(
    folder: Path, state: Callable[[Path], Path]
) -> None:
    path = state(folder)
    before = contents(folder)
    mounts = f'mount --bind -o ro {folder} {folder} && exec "$@"'
    within = ("unshare", "--mount", "sh", "-ec", mounts, "sh")
    tried = subprocess.run([*within, "true"], capture_output=True, check=False)  # noqa: S603 - ours
    if tried.returncode:
        pytest.skip(f"nothing can be mounted here: {tried.stderr.decode().strip()}")

    assert read(path, within=within) == EXPECTED

    assert contents(folder) == before


async def test_a_writer_may_be_at_work_meanwhile(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    async with memoranda.open(url, scope="s") as writer:
        await writer.remember("one")
        async with memoranda.open(url, scope="s", read_only=True) as reader:
            assert len(await reader.list()) == 1
            await writer.remember("two")
            assert len(await reader.list()) == 2
            with pytest.raises(StoreReadOnly):
                await reader.remember("three")


async def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        async with memoranda.open(f"sqlite:///{tmp_path}/typo.db", read_only=True):
            pass
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------------- rights


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
async def test_what_is_made_is_its_owners_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        async with memoranda.open(f"sqlite:///{tmp_path}/memory.db") as memory:
            await memory.remember("something")
            made = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
        await backup(f"sqlite:///{tmp_path}/memory.db", tmp_path / "backup.db")
    finally:
        os.umask(before)

    names = ("memory.db", "memory.db-wal", "memory.db-shm")
    assert made == dict.fromkeys(names, 0o600)
    assert stat.S_IMODE((tmp_path / "backup.db").stat().st_mode) == 0o600


async def test_a_file_that_is_there_keeps_its_rights(tmp_path: Path) -> None:
    (tmp_path / "memory.db").touch(0o640)
    (tmp_path / "memory.db").chmod(0o640)

    async with memoranda.open(f"sqlite:///{tmp_path}/memory.db") as memory:
        await memory.remember("something")

    assert stat.S_IMODE((tmp_path / "memory.db").stat().st_mode) == 0o640
