"""How many statements SQLite is given: a batch takes few, whatever its size."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

import memoranda
from memoranda import Memory, MemoryRecordInput
from memoranda.kernel.errors import RecordExists
from memoranda.records.store import MemoryUpdate
from memoranda.stores.sqlite.units import SqliteUnits

COUNT = 640
"""Ten times as many rows as an INSERT has."""


@contextmanager
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The statements of units of work, as they are run."""
    found: list[str] = []
    commit: Callable[..., Any] = SqliteUnits.commit

    def noted(_cursor: Any, sql: str, _bindings: Any) -> bool:
        found.append(sql)
        return True

    def traced(units: SqliteUnits, connection: apsw.Connection, jobs: Any) -> Any:
        connection.exec_trace = noted
        try:
            return commit(units, connection, jobs)
        finally:
            connection.exec_trace = None

    with monkeypatch.context() as patched:
        patched.setattr(SqliteUnits, "commit", traced)
        yield found


@pytest.fixture
async def memory(tmp_path: Path) -> Any:
    async with memoranda.open(f"sqlite:///{tmp_path}/a.db", scope="s") as memory:
        await memory.records.create(MemoryRecordInput(data="the journal has begun"))
        yield memory


def given(word: str) -> list[MemoryRecordInput[Any]]:
    return [
        MemoryRecordInput(id=f"{word}-{number}", data={"n": number}, tags=("a",))
        for number in range(COUNT)
    ]


async def test_records_with_ids_of_their_own_are_looked_up_in_one_statement(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with statements(monkeypatch) as found:
        await memory.records.create_many(given("own"))

    assert sum(sql.lstrip().startswith("SELECT") for sql in found) < 10
    assert len(found) < COUNT / 4


async def test_updates_read_what_they_change_in_one_statement_and_leave_tags_alone(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.records.create_many(given("own"))

    with statements(monkeypatch) as found:
        await memory.records.update_many(
            [MemoryUpdate(one.id or "", {"m": 1}) for one in given("own")]
        )

    assert sum(sql.lstrip().startswith("SELECT") for sql in found) < 10
    assert not [sql for sql in found if "tags" in sql]
    assert (await memory.records.tags())["a"] == COUNT


async def test_an_id_that_is_in_use_is_refused_and_named_in_a_batch(memory: Memory[Any]) -> None:
    await memory.records.create(MemoryRecordInput(id="own-7", data=1))

    with pytest.raises(RecordExists) as caught:
        await memory.records.create_many(given("own"))

    assert caught.value.code == "record.exists"
    assert await memory.records.get("own-6") is None
