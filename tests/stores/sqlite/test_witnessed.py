"""The memory of a witness: judged and replaced in one transaction, never back, never forgotten."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import apsw
import pytest

from memoranda.kernel.errors import (
    CheckpointConflict,
    ForeignDatabase,
    StoreClosed,
    StoreFailed,
    StoreUnavailable,
)
from memoranda.ledger.witness import Cosigned
from memoranda.stores.sqlite.witnessed import WitnessedFile

ONE, TWO = Cosigned(1, bytes(32), "one"), Cosigned(2, bytes(32), "two")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "witness.db"


@pytest.fixture
def memory(path: Path) -> Iterator[WitnessedFile]:
    opened = WitnessedFile(path)
    yield opened
    opened.close()


def agree(_: Cosigned | None) -> None:
    return


def refuse(_: Cosigned | None) -> None:
    raise CheckpointConflict("a", 1)


async def test_what_is_judged_is_what_is_remembered(memory: WitnessedFile, path: Path) -> None:
    shown: list[Cosigned | None] = []
    await memory.advance("a", ONE, shown.append)
    await memory.advance("a", TWO, shown.append)
    await memory.advance("b", ONE, shown.append)
    again = WitnessedFile(path)
    try:
        assert shown == [None, ONE, None]
        assert [await again.newest(origin) for origin in "abc"] == [TWO, ONE, None]
    finally:
        again.close()
    assert path.stat().st_mode & 0o777 == 0o600


async def test_what_is_refused_changes_nothing(memory: WitnessedFile) -> None:
    await memory.advance("a", ONE, agree)

    with pytest.raises(CheckpointConflict) as caught:
        await memory.advance("a", TWO, refuse)

    assert caught.value.code == "store.checkpoint_conflict"
    assert await memory.newest("a") == ONE


async def test_whatever_a_judge_agrees_to_nothing_goes_back(
    memory: WitnessedFile, path: Path
) -> None:
    await memory.advance("a", TWO, agree)

    with pytest.raises(StoreFailed) as caught:
        await memory.advance("a", ONE, agree)

    assert caught.value.code == "store.failed"
    await memory.advance("a", Cosigned(2, bytes([1] * 32), "other"), agree)
    assert await memory.newest("a") == TWO
    connection = apsw.Connection(str(path))
    with pytest.raises(apsw.ConstraintError):
        connection.execute("DELETE FROM cosigned")
    connection.close()


async def test_of_many_at_once_through_two_handles_each_sees_the_one_before(path: Path) -> None:
    handles = [WitnessedFile(path), WitnessedFile(path)]
    seen: list[int] = []

    def next_of(size: int, known: Cosigned | None) -> None:
        before = 0 if known is None else known.size
        if size != before + 1:
            raise CheckpointConflict("a", before)
        seen.append(size)

    async def climb(handle: WitnessedFile) -> None:
        while True:
            known = await handle.newest("a")
            size = 1 if known is None else known.size + 1
            if size > 40:
                return
            try:
                await handle.advance("a", Cosigned(size, bytes(32), ""), partial(next_of, size))
            except CheckpointConflict:
                continue

    await asyncio.gather(*(climb(handle) for handle in handles * 3))
    for handle in handles:
        handle.close()

    assert seen == list(range(1, 41)), "each size was agreed to once, in order"


def test_a_file_of_another_program_is_left_as_it_is(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(ForeignDatabase) as caught:
        WitnessedFile(path)

    assert caught.value.code == "store.foreign"
    assert path.read_bytes() == before


async def test_where_there_is_no_folder_or_it_is_closed_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        WitnessedFile(tmp_path / "nowhere" / "witness.db")
    assert caught.value.code == "store.unavailable"

    memory = WitnessedFile(tmp_path / "witness.db")
    memory.close()
    with pytest.raises(StoreClosed) as closed:
        await memory.newest("a")
    assert closed.value.code == "store.closed"
