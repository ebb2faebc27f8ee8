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


async def all_are_queued() -> None:
    await asyncio.sleep(0)  # they are called, and gathered for one turn of the loop
    await asyncio.sleep(0)


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
    await all_are_queued()
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
    await all_are_queued()
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


# ------------------------------------------------------------------ on the loop's own thread


def threads_of(
    _: apsw.Connection, units: Sequence[Callable[[apsw.Connection], object]]
) -> list[int]:
    for unit in units:
        unit(_)
    return [get_ident()] * len(units)


async def test_a_short_unit_that_is_alone_runs_on_the_loops_own_thread(
    writer: SqliteWriter, path: str
) -> None:
    assert await writer.join(threads_of, inserting(1), is_short=True) == get_ident()
    assert await writer.join(threads_of, inserting(2)) != get_ident()
    assert rows(path) == [1, 2]


async def test_short_units_of_one_turn_share_a_commit_on_the_writers_thread(path: str) -> None:
    connection = connect(path)
    commits = Commits(connection)
    writer = SqliteWriter(connection, path, reconnect=lambda: connect(path))

    ran = await asyncio.gather(
        *(writer.join(threads_of, inserting(x), is_short=True) for x in range(20))
    )
    await asyncio.to_thread(writer.close)

    assert get_ident() not in ran
    assert commits.count == 1
    assert rows(path) == list(range(20))


async def test_a_short_unit_waits_on_the_thread_while_another_process_writes(path: str) -> None:
    writer = SqliteWriter(connect(path), path, reconnect=lambda: connect(path))
    other = connect(path)
    other.execute("BEGIN IMMEDIATE")

    waiting = asyncio.ensure_future(writer.join(threads_of, inserting(1), is_short=True))
    for _ in range(20):
        await asyncio.sleep(0)  # the loop goes on meanwhile
    assert not waiting.done()
    other.execute("ROLLBACK")
    other.close()

    assert await waiting != get_ident()
    assert rows(path) == [1]
    await asyncio.to_thread(writer.close)


async def test_after_a_slow_commit_units_leave_the_loop_alone_for_a_while(
    writer: SqliteWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await writer.join(threads_of, inserting(1), is_short=True) == get_ident()

    monkeypatch.setattr("memoranda.stores.sqlite.writer.SLOW_S", 0.0)
    await writer.join(threads_of, inserting(2), is_short=True)

    assert await writer.join(threads_of, inserting(3), is_short=True) != get_ident()


async def test_a_short_unit_that_fails_leaves_nothing_open_and_the_next_one_lands(
    writer: SqliteWriter, path: str
) -> None:
    def failing(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO t (x) VALUES (50)")
        raise LookupError("refused")

    with pytest.raises(LookupError):
        await writer.join(threads_of, failing, is_short=True)
    await writer.join(threads_of, inserting(1), is_short=True)

    assert rows(path) == [1]


async def test_a_short_unit_that_came_just_before_closing_has_landed(path: str) -> None:
    writer = SqliteWriter(connect(path), path, reconnect=lambda: connect(path))
    coming = writer.join(threads_of, inserting(1), is_short=True)
    coming.send(None)  # it is gathered, and its turn of the loop is still to come
    writer.close()

    assert rows(path) == [1]
    with pytest.raises(StoreClosed):
        await writer.join(threads_of, inserting(2), is_short=True)
    coming.close()


def test_units_of_a_loop_that_ended_hold_up_no_other_loop(path: str) -> None:
    writer = SqliteWriter(connect(path), path, reconnect=lambda: connect(path))

    async def leave_at_once() -> None:
        coming = writer.join(threads_of, inserting(1), is_short=True)
        coming.send(None)
        asyncio.get_running_loop().stop()
        coming.close()

    first = asyncio.new_event_loop()
    leaving = first.create_task(leave_at_once())
    first.run_forever()
    first.close()
    assert leaving.done()

    assert asyncio.run(asyncio.wait_for(writer.join(_threads, 2, is_short=True), 5)) > 0
    writer.close()
    assert rows(path) == [1, 2]


def _threads(connection: apsw.Connection, numbers: Sequence[int]) -> list[int]:
    return threads_of(connection, [inserting(x) for x in numbers])


async def test_what_is_left_to_spare_time_is_done_after_short_units_too(path: str) -> None:
    class Counting:
        """Spare time that is due once something was written."""

        is_pressing = False

        def __init__(self) -> None:
            self.is_due = False
            self.done = 0

        def use(self, _: apsw.Connection, __: Callable[[], bool]) -> None:
            self.is_due = False
            self.done += 1

        catch_up = use

        def finish(self, _: apsw.Connection) -> None:
            """Nothing is left."""

        def give_up(self) -> None:
            """Nothing is lost."""

    spare = Counting()
    writer = SqliteWriter(connect(path), path, reconnect=lambda: connect(path), spare_time=spare)

    def insert(connection: apsw.Connection, numbers: Sequence[int]) -> list[int]:
        spare.is_due = True
        return _threads(connection, numbers)

    assert await writer.join(insert, 1, is_short=True) == get_ident()
    await eventually(lambda: spare.done == 1)

    await asyncio.to_thread(writer.close)
