"""Files that can't be opened are named, with what to do, and stay as they are."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import apsw
import pytest

import memoranda
from memoranda import MemoryFilter, MemoryRecordInput
from memoranda.kernel.errors import (
    ForeignDatabase,
    MemorandaError,
    SchemaDamaged,
    SchemaTooNew,
    StoreReadOnly,
    StoreUnavailable,
)
from memoranda.stores.migrations import Migration
from memoranda.stores.sqlite.connection import MIGRATIONS, connect, migrate
from tests.patience import PATIENCE

NOBODY = 65534


async def opened(path: Path) -> None:
    async with memoranda.open(f"sqlite:///{path}", scope="s") as memory:
        await memory.records.create(MemoryRecordInput(data=1))


@pytest.fixture
async def database(tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    await opened(path)
    return path


async def test_a_missing_folder_is_named_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        await opened(tmp_path / "nowhere" / "memory.db")

    assert str(tmp_path / "nowhere") in str(caught.value)
    assert list(tmp_path.iterdir()) == []


async def test_a_folder_is_not_a_database(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        await opened(tmp_path)


async def test_a_file_of_something_else_is_left_untouched(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("remember the milk\n" * 100)
    foreign = tmp_path / "foreign.db"
    connection = apsw.Connection(str(foreign))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()

    for file in (text, foreign):
        before = file.read_bytes()
        with pytest.raises(ForeignDatabase) as caught:
            await opened(file)
        assert caught.value.code == "store.foreign"
        assert file.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"notes.txt", "foreign.db"}


async def test_a_newer_schema_is_refused_and_left_untouched(database: Path) -> None:
    connection = connect(str(database))
    connection.execute("INSERT INTO migrations VALUES (9999, 'future', 'x', 0)")
    connection.pragma("wal_checkpoint(TRUNCATE)")
    connection.close()
    before = database.read_bytes()

    with pytest.raises(SchemaTooNew) as caught:
        await opened(database)

    assert (caught.value.found, caught.value.known) == (9999, MIGRATIONS[-1].number)
    assert database.read_bytes() == before


async def test_a_migration_that_is_not_ours_is_refused(database: Path) -> None:
    connection = connect(str(database))
    connection.execute("UPDATE migrations SET checksum = 'edited' WHERE number = 1")
    connection.close()

    with pytest.raises(SchemaDamaged):
        await opened(database)


@pytest.mark.parametrize("what", ["file", "folder"])
async def test_a_read_only_place_is_named(database: Path, what: str) -> None:
    place = database if what == "file" else database.parent
    place.chmod(0o444 if what == "file" else 0o555)
    for parent in database.parents:
        if parent.stat().st_uid == os.getuid() and os.getuid() == 0 and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o555)
    try:
        as_root = os.geteuid() == 0
        if as_root:  # root may write everything
            os.seteuid(NOBODY)
        try:
            with pytest.raises((StoreReadOnly, StoreUnavailable)) as caught:
                await opened(database)
        finally:
            if as_root:
                os.seteuid(0)
    finally:
        place.chmod(0o755)

    assert "check its rights" in str(caught.value)


async def test_listing_scopes_never_makes_a_database(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        await memoranda.scopes(f"sqlite:///{tmp_path}/typo.db")
    assert list(tmp_path.iterdir()) == []

    (tmp_path / "empty.db").touch()
    with pytest.raises(StoreUnavailable):
        await memoranda.scopes(f"sqlite:///{tmp_path}/empty.db")
    assert (tmp_path / "empty.db").read_bytes() == b""


async def test_scopes_are_listed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    for scope in ("zebra", "고객", "alpha"):
        async with memoranda.open(url, scope=scope) as memory:
            await memory.remember("something")
    async with memoranda.open(url, scope="only looked at"):
        pass

    assert await memoranda.scopes(url) == ["alpha", "zebra", "고객"]


async def test_the_file_is_durable_strict_and_ours(database: Path) -> None:
    connection = connect(str(database))
    tables = connection.execute(
        "SELECT name, strict FROM pragma_table_list"
        " WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()

    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2  # FULL: NORMAL loses acknowledged writes
    assert connection.pragma("trusted_schema") == 0
    assert connection.pragma("application_id") == 0x6D656D6F
    assert tables
    assert all(strict for _, strict in tables)
    connection.close()


def schema_of(path: Path) -> Sequence[object]:
    connection = apsw.Connection(str(path))
    found = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema"
        " UNION ALL SELECT 'migration', name, number, checksum FROM migrations ORDER BY 1, 2"
    ).fetchall()
    connection.close()
    return found


FOLLOWING = Migration(
    MIGRATIONS[-1].number + 1, "following", "CREATE TABLE following (x TEXT) STRICT", "checksum"
)


def test_a_schema_migrated_step_by_step_equals_a_fresh_one(tmp_path: Path) -> None:
    everything = (*MIGRATIONS, FOLLOWING)
    fresh, migrated = tmp_path / "fresh.db", tmp_path / "migrated.db"
    steps = [everything[:count] for count in range(1, len(everything) + 1)]
    for path, known_at_each_opening in ((fresh, [everything]), (migrated, steps)):
        for known in known_at_each_opening:
            connection = connect(str(path))
            migrate(connection, str(path), 0, known=known)
            connection.close()

    assert schema_of(migrated) == schema_of(fresh)
    assert "following" in str(schema_of(fresh))


async def test_a_migration_that_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    connection = connect(str(path))
    broken = [*MIGRATIONS, Migration(9, "broken", "CREATE TABLE a (x); NONSENSE", "checksum")]

    with pytest.raises(apsw.SQLError):
        migrate(connection, str(path), 0, known=broken)

    assert connection.execute("SELECT count(*) FROM sqlite_schema").fetchall() == [(0,)]
    connection.close()


WRITER = """
import asyncio, sys, memoranda
from memoranda.stores.sqlite import connection
async def main(url, name, patience_ms):
    connection.BUSY_MS = int(patience_ms)  # whoever waits for a file's lock may be the last
    async with memoranda.open(url, scope="shared") as memory:
        for n in range(40):
            await memory.records.create(memoranda.MemoryRecordInput(data={"by": name, "n": n}))
asyncio.run(main(*sys.argv[1:]))
"""


async def test_several_processes_may_use_one_file_even_while_it_is_made(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/memory.db"
    patience = f"{PATIENCE * 1_000:.0f}"
    processes = [
        await asyncio.create_subprocess_exec(sys.executable, "-c", WRITER, url, f"{n}", patience)
        for n in range(4)
    ]
    codes = [await process.wait() for process in processes]

    assert codes == [0, 0, 0, 0]
    async with memoranda.open(url, scope="shared") as memory:
        found = await memory.records.query(MemoryFilter())
    assert {(r.data["by"], r.data["n"]) for r in found} == {
        (str(by), n) for by in range(4) for n in range(40)
    }


async def test_a_file_that_another_process_keeps_writing_is_unavailable_not_broken(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.stores.sqlite.connection.BUSY_MS", 20)
    other = apsw.Connection(str(database))
    async with memoranda.open(f"sqlite:///{database}", scope="s") as memory:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable) as caught:
            await memory.records.create(MemoryRecordInput(id="late", data=1))
        assert await memory.records.get("late") is None, "reads don't wait behind a writer"
        other.execute("ROLLBACK")
        other.close()
        await memory.records.create(MemoryRecordInput(id="late", data=2))
        assert (await memory.records.get("late")) is not None

    assert caught.value.code == "store.unavailable"
    assert isinstance(caught.value, MemorandaError)
