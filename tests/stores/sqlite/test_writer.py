"""The writer thread: whole transactions, shared commits, and nothing left open."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Event, get_ident

import apsw
import pytest

from memoranda.kernel.errors import StoreClosed, StoreFailed, StoreUnavailable
from memoranda.stores.sqlite.connection import LOG_BYTES, connect
from memoranda.stores.sqlite.writer import SqliteWriter
from tests.patience import eventually


class Commits:
    """Counts the commits of a connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.count = 0
        connection.set_commit_hook(self._counted)

    def _counted(self) -> bool:
        self.count += 1
        return False


@pytest.fixture
def path(tmp_path: Path) -> str:
    name = str(tmp_path / "writer.db")
    connection = connect(name)
    connection.execute(
        "PRAGMA journal_mode = WAL; CREATE TABLE t (x INTEGER PRIMARY KEY, y TEXT)"
    ).fetchall()
    connection.close()
    return name


@pytest.fixture
async def writer(path: str) -> AsyncIterator[SqliteWriter]:
    made = SqliteWriter(connect(path), path, reconnect=lambda: connect(path))
    yield made
    await asyncio.to_thread(made.close)


def rows(path: str) -> list[int]:
    connection = connect(path)
    found = [x for (x,) in connection.execute("SELECT x FROM t ORDER BY x")]
    connection.close()
    return found


def inserting(x: int) -> Callable[[apsw.Connection], Sequence[object]]:
    return lambda connection: connection.execute("INSERT INTO t (x) VALUES (?)", (x,)).fetchall()


def filling(x: int, size: int) -> Callable[[apsw.Connection], Sequence[object]]:
    return lambda connection: connection.execute(
        "INSERT INTO t (x, y) VALUES (?, ?)", (x, "y" * size)
    ).fetchall()


async def test_units_that_wait_share_one_commit(path: str) -> None:
    connection = connect(path)
    commits = Commits(connection)
    writer = SqliteWriter(connection, path, reconnect=lambda: connect(path))
    held, go = Event(), Event()

    def holding(_: apsw.Connection) -> None:
        held.set()
        go.wait()

    first = asyncio.ensure_future(writer.run(holding))
    await asyncio.to_thread(held.wait)
    others = [asyncio.ensure_future(writer.run(inserting(x))) for x in range(100)]
    await asyncio.sleep(0)
    go.set()
    await asyncio.gather(first, *others)
    await asyncio.to_thread(writer.close)

    assert rows(path) == list(range(100))
    assert commits.count == 1


async def test_units_of_one_work_that_wait_are_run_in_one_call(
    writer: SqliteWriter, path: str
) -> None:
    calls: list[int] = []

    def insert_all(connection: apsw.Connection, numbers: Sequence[int]) -> list[int]:
        calls.append(len(numbers))
        for number in numbers:
            connection.execute("INSERT INTO t (x) VALUES (?)", (number,))
        return [number * 10 for number in numbers]

    held, go = Event(), Event()

    def holding(_: apsw.Connection) -> None:
        held.set()
        go.wait()

    first = asyncio.ensure_future(writer.run(holding))
    await asyncio.to_thread(held.wait)
    joined = [asyncio.ensure_future(writer.join(insert_all, x)) for x in range(20)]
    await asyncio.sleep(0)
    go.set()
    await first

    assert await asyncio.gather(*joined) == [x * 10 for x in range(20)]
    assert calls == [20]
    assert rows(path) == list(range(20))


async def test_a_unit_that_fails_fails_alone(writer: SqliteWriter, path: str) -> None:
    def failing(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO t (x) VALUES (50)")
        raise LookupError("refused")

    done = await asyncio.gather(
        writer.run(inserting(1)),
        writer.run(failing),
        writer.run(inserting(2)),
        writer.run(inserting(2)),
        writer.run(inserting(3)),
        return_exceptions=True,
    )

    assert [type(result) for result in done] == [list, LookupError, list, StoreFailed, list]
    assert rows(path) == [1, 2, 3]


async def test_a_unit_that_would_end_the_program_fails_alone_and_the_thread_lives(
    writer: SqliteWriter, path: str
) -> None:
    def leaving(_: apsw.Connection) -> None:
        raise SystemExit

    done = await asyncio.gather(
        writer.run(inserting(1)),
        writer.run(leaving),
        writer.run(inserting(2)),
        return_exceptions=True,
    )
    await writer.run(inserting(3))

    assert [type(result) for result in done] == [list, StoreFailed, list]
    assert rows(path) == [1, 2, 3]


async def test_a_cancelled_caller_strands_no_transaction(writer: SqliteWriter, path: str) -> None:
    held, go = Event(), Event()

    def slow(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO t (x) VALUES (1)")
        held.set()
        go.wait()
        connection.execute("INSERT INTO t (x) VALUES (2)")

    task = asyncio.ensure_future(writer.run(slow))
    await asyncio.to_thread(held.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    await writer.run(inserting(3))

    assert rows(path) == [1, 2, 3], "the unit of the cancelled caller landed whole"
    other = connect(path, busy_ms=0)
    other.execute("BEGIN IMMEDIATE; ROLLBACK")  # would be busy if a transaction were left open
    other.close()


async def test_a_full_disk_is_told_and_the_next_write_works(path: str) -> None:
    small = connect(path)
    small.pragma("max_page_count", 8)
    writer = SqliteWriter(small, path, reconnect=lambda: connect(path))
    big = "x" * 100_000

    def filling(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO t (x, y) VALUES (1, ?)", (big,))

    with pytest.raises(StoreFailed) as caught:
        await writer.run(filling)
    await writer.run(filling)
    await asyncio.to_thread(writer.close)

    assert caught.value.code == "store.failed"
    assert "full" in caught.value.why
    assert rows(path) == [1]


async def test_a_database_that_can_not_be_reopened_fails_each_write_and_hangs_none(
    path: str,
) -> None:
    small = connect(path)
    small.pragma("max_page_count", 8)

    def gone() -> apsw.Connection:
        raise apsw.CantOpenError("gone")

    writer = SqliteWriter(small, path, reconnect=gone)
    done = await asyncio.gather(
        *(
            writer.run(lambda c: c.execute("INSERT INTO t (y) VALUES (?)", ("x" * 100_000,)))
            for _ in range(3)
        ),
        return_exceptions=True,
    )
    await asyncio.to_thread(writer.close)

    assert all(isinstance(result, Exception) for result in done)


async def test_a_closed_writer_refuses_and_what_was_queued_has_landed(path: str) -> None:
    writer = SqliteWriter(connect(path), path, reconnect=lambda: connect(path))
    pending = [asyncio.ensure_future(writer.run(inserting(x))) for x in range(20)]
    await asyncio.sleep(0)
    await asyncio.to_thread(writer.close)

    await asyncio.gather(*pending)
    assert rows(path) == list(range(20))
    with pytest.raises(StoreClosed):
        await writer.run(inserting(99))


async def test_while_another_process_writes_all_who_wait_are_told_together(path: str) -> None:
    begun: list[str] = []

    def traced(_cursor: apsw.Cursor, sql: str, _bindings: object) -> bool:
        begun.append(sql)
        return True

    connection = connect(path, busy_ms=200)
    connection.exec_trace = traced
    writer = SqliteWriter(connection, path, reconnect=lambda: connect(path))
    other = connect(path)
    other.execute("BEGIN IMMEDIATE")
    try:
        waiting = [asyncio.ensure_future(writer.run(inserting(x))) for x in range(40)]
        told = await asyncio.gather(*waiting, return_exceptions=True)
    finally:
        other.execute("ROLLBACK")

    assert {type(one) for one in told} == {StoreUnavailable}
    assert sum(sql.startswith("BEGIN") for sql in begun) <= 2
    await writer.run(inserting(1))
    assert rows(path) == [1]
    await asyncio.to_thread(writer.close)


async def test_after_a_long_read_the_log_is_shortened_in_spare_time(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.stores.sqlite.writer.AGAIN_S", 0.02)
    writer = SqliteWriter(connect(path), path, reconnect=lambda: connect(path))
    log = Path(f"{path}-wal")
    reader = connect(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM t").fetchall()
    for x in range(12):
        await writer.run(filling(x, LOG_BYTES // 8))
    assert log.stat().st_size > LOG_BYTES

    reader.execute("ROLLBACK")
    await eventually(lambda: log.stat().st_size <= LOG_BYTES)

    assert rows(path) == list(range(12))
    reader.close()
    await asyncio.to_thread(writer.close)


# ------------------------------------------------------------------ the write-ahead log


async def test_the_log_is_written_back_beside_the_writer_and_stays_short(path: str) -> None:
    longest = 0
    written_by: set[int] = set()
    private = partial(connect, path, is_private=True)

    def watched() -> apsw.Connection:
        connection = private()
        connection.set_exec_trace(_noting(written_by))
        return connection

    writer = SqliteWriter(private(), path, reconnect=watched)
    try:
        for number in range(600):
            await writer.run(filling(number, 100_000))
            longest = max(longest, Path(f"{path}-wal").stat().st_size)
    finally:
        await asyncio.to_thread(writer.close)

    assert written_by  # nobody else has that connection
    assert longest < LOG_BYTES  # of 60 MB
    assert rows(path) == list(range(600))


async def test_a_log_that_can_not_be_written_back_beside_the_writer_is_no_failure_of_a_write(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    def refused() -> apsw.Connection:
        raise apsw.CantOpenError("no more files")

    writer = SqliteWriter(connect(path, is_private=True), path, reconnect=refused)
    try:
        for number in range(60):
            await writer.run(filling(number, 100_000))
    finally:
        await asyncio.to_thread(writer.close)

    assert "no more files" in caplog.text
    assert rows(path) == list(range(60))


def _noting(threads: set[int]) -> Callable[[object, str, object], bool]:
    def note(_cursor: object, sql: str, _bindings: object) -> bool:
        if "wal_checkpoint" in sql:
            threads.add(get_ident())
        return True

    return note
