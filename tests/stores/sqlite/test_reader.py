"""Short reads run on the loop's thread; long ones must not hold it up."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from threading import get_ident
from typing import Any

import apsw
import pytest

import memoranda
from memoranda import MemoryFilter, MemoryRecordInput
from memoranda.kernel.errors import StoreClosed, StoreFailed
from memoranda.stores.sqlite.connection import connect
from memoranda.stores.sqlite.reader import LOOP_BYTES, LOOP_STEPS, Notes, Reader

COUNT = """
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ?)
SELECT CAST(count(*) AS BLOB) FROM n
"""


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[Reader]:
    path = str(tmp_path / "reader.db")
    connection = connect(path)
    connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (x)").fetchall()
    connection.close()

    made = Reader(partial(connect, path), path)
    yield made
    await asyncio.to_thread(made.close)


async def count(reader: Reader, upto: int) -> tuple[int, object]:
    """The thread that answered, and the answer."""
    ((thread, answer),) = await reader.rows(COUNT, (upto,), lambda row: (get_ident(), int(row[0])))
    return thread, answer


async def test_a_short_read_runs_on_the_loops_own_thread(reader: Reader) -> None:
    thread, found = await count(reader, 10)

    assert thread == get_ident()
    assert found == 10


async def test_a_short_read_stays_on_the_loops_thread_however_often_it_runs(
    reader: Reader,
) -> None:
    threads = {(await count(reader, 100))[0] for _ in range(200)}

    assert threads == {get_ident()}


async def test_a_long_read_is_broken_off_and_runs_on_a_thread_of_its_own(reader: Reader) -> None:
    thread, found = await count(reader, 200_000)

    assert thread != get_ident()
    assert found == 200_000


async def test_what_is_long_to_decode_is_decoded_on_a_thread_of_its_own(reader: Reader) -> None:
    size = (LOOP_BYTES + 1,)

    assert await reader.rows("SELECT zeroblob(?)", size, lambda _: get_ident()) != [get_ident()]


async def test_many_long_reads_at_once_all_answer(reader: Reader) -> None:
    answers = await asyncio.gather(*(count(reader, 50_000 + n) for n in range(20)))

    assert [found for _, found in answers] == [50_000 + n for n in range(20)]


# --------------------------------------------------------------------------------- glances


def there(cursor: apsw.Cursor, _: Notes) -> list[Any]:
    return cursor.execute("SELECT x, '' FROM t").fetchall()


async def test_a_glance_is_on_the_loops_own_thread(reader: Reader) -> None:
    def look(cursor: apsw.Cursor, notes: Notes) -> list[Any]:
        del cursor, notes
        return [(get_ident(), "")]

    for _ in range(2 * LOOP_STEPS // 3):  # the steps of BEGIN and ROLLBACK are counted by SQLite
        assert await reader.glance(look, lambda row: row[0]) == [get_ident()]


async def test_all_reads_of_a_glance_see_the_same_moment(reader: Reader, tmp_path: Path) -> None:
    other = connect(str(tmp_path / "reader.db"))

    def look(cursor: apsw.Cursor, notes: Notes) -> list[Any]:
        before = there(cursor, notes)
        other.execute("INSERT INTO t VALUES (1)")
        assert there(cursor, notes) == before
        return before

    assert await reader.glance(look, tuple) == []
    assert await reader.glance(there, tuple) == [(1, "")]
    other.close()


async def test_a_long_glance_is_broken_off_and_runs_on_a_thread_of_its_own(reader: Reader) -> None:
    def look(cursor: apsw.Cursor, notes: Notes) -> list[Any]:
        del notes
        return [(get_ident(), *row) for row in cursor.execute(COUNT, (200_000,))]

    ((thread, found),) = await reader.glance(look, tuple)

    assert thread != get_ident()
    assert int(found) == 200_000


async def test_a_glance_that_is_broken_off_is_ended_however_often(reader: Reader) -> None:
    def look(cursor: apsw.Cursor, notes: Notes) -> list[Any]:
        del notes
        return cursor.execute(COUNT, (1_500,)).fetchall()

    for _ in range(600):  # the steps of the end are counted over all of them
        assert await reader.glance(look, lambda row: int(row[0])) == [1_500]
        assert await reader.glance(there, tuple) == []


async def test_what_a_glance_finds_is_decoded_elsewhere_if_it_is_long(reader: Reader) -> None:
    def look(cursor: apsw.Cursor, notes: Notes) -> list[Any]:
        del notes
        return cursor.execute("SELECT zeroblob(?)", (LOOP_BYTES + 1,)).fetchall()

    assert await reader.glance(look, lambda _: get_ident()) != [get_ident()]


async def test_a_glance_that_fails_says_so_and_leaves_nothing_open(reader: Reader) -> None:
    def missing(cursor: apsw.Cursor, notes: Notes) -> list[Any]:
        del notes
        return cursor.execute("SELECT nowhere(1)").fetchall()

    def wrong(cursor: apsw.Cursor, notes: Notes) -> list[Any]:
        del cursor
        return [notes["nothing"]]

    with pytest.raises(StoreFailed):
        await reader.glance(missing, tuple)
    with pytest.raises(KeyError):
        await reader.glance(wrong, tuple)
    assert await reader.glance(there, tuple) == []


async def test_a_text_that_is_not_utf_8_is_a_damaged_file_however_it_is_read(
    reader: Reader,
) -> None:
    """SQLite lets any bytes pass for a text."""
    damaged = "SELECT CAST(x'ff' AS TEXT), ''"

    with pytest.raises(StoreFailed):
        await reader.rows(damaged, (), tuple)
    with pytest.raises(StoreFailed):
        await reader.glance(lambda cursor, _: cursor.execute(damaged).fetchall(), tuple)
    with pytest.raises(StoreFailed):
        await reader.run(lambda connection: connection.execute(damaged).fetchall())
    assert await reader.glance(there, tuple) == []


async def test_what_a_glance_notes_is_there_until_somebody_changes_the_database(
    reader: Reader, tmp_path: Path
) -> None:
    def look(cursor: apsw.Cursor, notes: Notes) -> list[Any]:
        there(cursor, notes)
        notes["times"] = notes.get("times", 0) + 1
        return [(notes["times"], "")]

    async def times() -> list[Any]:
        return await reader.glance(look, lambda row: row[0])

    assert [await times() for _ in range(3)] == [[1], [2], [3]]
    other = connect(str(tmp_path / "reader.db"))
    other.execute("INSERT INTO t VALUES (1)")
    assert [await times() for _ in range(2)] == [[1], [2]]
    other.execute("DELETE FROM t")
    other.close()
    assert await times() == [1]


async def test_notes_do_not_grow_for_ever(reader: Reader) -> None:
    sizes = []

    def look(cursor: apsw.Cursor, notes: Notes) -> list[Any]:
        del cursor
        notes[object()] = "something"
        sizes.append(len(notes))
        return []

    for _ in range(500):
        await reader.glance(look, tuple)

    assert 10 < max(sizes) < 100


async def test_a_stream_left_early_lets_go_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    async with memoranda.open(f"sqlite:///{path}", scope="s") as memory:
        await memory.records.create_many([MemoryRecordInput(data=n) for n in range(1_000)])
        stream = memory.records.stream(MemoryFilter())
        async for _ in stream:
            break
        await stream.aclose()

    assert [file.name for file in tmp_path.iterdir()] == ["memory.db"], "no -wal, no -shm is left"


async def test_a_stream_that_outlives_its_handle_is_told_so(tmp_path: Path) -> None:
    async with memoranda.open(f"sqlite:///{tmp_path}/memory.db", scope="s") as memory:
        await memory.records.create_many([MemoryRecordInput(data=n) for n in range(1_000)])
        stream = memory.records.stream(MemoryFilter())
        await anext(stream)

    with pytest.raises(StoreClosed):
        async for _ in stream:
            pass


async def test_a_closed_handle_refuses_everything(tmp_path: Path) -> None:
    for url in ("dict://", "sqlite://:memory:", f"sqlite:///{tmp_path}/memory.db"):
        async with memoranda.open(url, scope="s") as memory:
            records = memory.records
        with pytest.raises(StoreClosed):
            await records.get("a")
        with pytest.raises(StoreClosed):
            await records.create(MemoryRecordInput(data=1))
        with pytest.raises(StoreClosed):
            await records.update("a", {})
        with pytest.raises(StoreClosed):
            await records.delete("a")
        with pytest.raises(StoreClosed):
            await records.query(MemoryFilter())
