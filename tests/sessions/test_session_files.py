"""Sessions as files: what is in them, what is refused before anything runs, who waits for whom."""

import asyncio
import errno
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from recollect.journeys.govern.table import FilteredLedger
from recollect.kernel.errors import FailFast, SessionDamaged, StoreFailed, WriteFailed
from recollect.ledger.unit import Committed, Unit
from recollect.outside.file_calls import SystemCalls
from recollect.outside.session_files import ASIDE, SessionFile
from recollect.plans.session import SessionState
from recollect.testkit.simulators import FrozenClock
from tests.sessions.cycles import AT, cold, end, ending

STATE = SessionState(
    session_id="6a2f41a3-c54c-4fcb-9a6d-0e1c5f1f7a10",
    memory_ref="ref-é",
    repo_scan_version="none",
    last_execution_plan_hash="a" * 64,
    updated_at="2026-11-16T08:00:00.000Z",
)
CONTENT = f"""\
{{
  "sessionId": "6a2f41a3-c54c-4fcb-9a6d-0e1c5f1f7a10",
  "memoryRef": "ref-é",
  "repoScanVersion": "none",
  "lastExecutionPlanHash": "{"a" * 64}",
  "updatedAt": "2026-11-16T08:00:00.000Z"
}}
"""


class ReadOnlyCalls(SystemCalls):
    """A file system that nobody may write."""

    def may_write(self, _folder: Path) -> bool:
        return False


class FullDisk(SystemCalls):
    """A file system with no room left."""

    def write_new(self, _path: Path, _content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")


class Stuck(SystemCalls):
    """A file system where no file gets another name any more."""

    def move(self, _path: Path, _target: Path) -> None:
        raise OSError(errno.EIO, "Input/output error")


@pytest.fixture
def make(ledger: FilteredLedger, tmp_path: Path) -> Callable[..., SessionFile]:
    def made(name: str = "default", calls: SystemCalls | None = None) -> SessionFile:
        folder = tmp_path / "runtime"
        return SessionFile(folder, ledger.beside, "origin", FrozenClock(AT), name, calls=calls)

    return made


def names(folder: Path) -> Sequence[str]:
    """Every file below a folder."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


async def test_the_file_has_its_members_in_their_order_indented_and_ends_with_a_newline(
    make: Callable[..., SessionFile], ledger: FilteredLedger, tmp_path: Path
) -> None:
    async with make().saving(STATE, None) as beside:
        await end(ledger, "c1", beside)

    assert names(tmp_path / "runtime") == ["session_state.json"]
    assert (tmp_path / "runtime" / "session_state.json").read_text("utf-8") == CONTENT
    assert (tmp_path / "runtime" / "session_state.json").stat().st_mode & 0o777 == 0o600


async def test_a_name_stands_in_the_name_of_the_file(make: Callable[..., SessionFile]) -> None:
    assert make("support-1").path.name == "session_state.support-1.json"


async def test_what_is_put_aside_has_the_time_in_its_name(
    make: Callable[..., SessionFile], ledger: FilteredLedger, tmp_path: Path
) -> None:
    for number in range(3):
        async with make().saving(cold().state(AT), None) as beside:
            await end(ledger, f"c{number}", beside)
        await make().rotate()

    stem = f"{ASIDE}/session_state.default.20231114_221320"
    found = names(tmp_path / "runtime")
    assert found == [f"{stem}.json.bak", f"{stem}_2.json.bak", f"{stem}_3.json.bak"]


async def test_what_others_put_beside_a_session_is_left_alone(
    make: Callable[..., SessionFile], ledger: FilteredLedger, tmp_path: Path
) -> None:
    folder = tmp_path / "runtime"
    folder.mkdir()
    draft = make()._draft
    others = [f"{draft}x", f"{draft}{'0' * 16}.json", "session_state.json.tmp-12345678-" + "0" * 16]
    for name in others:
        (folder / name).write_text("not ours")

    async with make().saving(STATE, None) as beside:
        await end(ledger, "c1", beside)
    assert names(folder) == sorted([*others, "session_state.json"])


@pytest.mark.rule("ING-FAILFAST")
async def test_a_folder_that_can_not_be_written_fails_fast_before_anything_runs(
    make: Callable[..., SessionFile], tmp_path: Path
) -> None:
    (tmp_path / "runtime").write_text("a file, where the folder should be")
    for store in (make(), make(calls=ReadOnlyCalls())):
        with pytest.raises(SessionDamaged) as caught:
            await store.load()
        assert isinstance(caught.value, FailFast)


@pytest.mark.rule("ING-FAILFAST")
async def test_a_disk_that_is_full_fails_fast_and_nothing_lands(
    make: Callable[..., SessionFile], ledger: FilteredLedger, tmp_path: Path
) -> None:
    with pytest.raises(WriteFailed) as caught:
        async with make(calls=FullDisk()).saving(STATE, None) as beside:
            await end(ledger, "c1", beside)

    assert caught.value.code == "plan.fail_fast.write"
    assert (await ledger.head()).size == 0
    assert names(tmp_path / "runtime") == []
    assert await make().load() is None


@pytest.mark.rule("ING-FAILFAST")
async def test_a_file_that_can_not_get_its_name_fails_fast_and_the_next_start_finishes_it(
    make: Callable[..., SessionFile], ledger: FilteredLedger, tmp_path: Path
) -> None:
    with pytest.raises(WriteFailed):
        async with make(calls=Stuck()).saving(STATE, None) as beside:
            await end(ledger, "c1", beside)

    assert (await ledger.head()).size == 1
    assert not (tmp_path / "runtime" / "session_state.json").exists()
    assert await make().load() == STATE
    assert names(tmp_path / "runtime") == ["session_state.json"]


async def test_a_session_that_can_not_be_put_aside_stays_and_that_is_an_error(
    make: Callable[..., SessionFile], ledger: FilteredLedger
) -> None:
    async with make().saving(STATE, None) as beside:
        await end(ledger, "c1", beside)

    with pytest.raises(SessionDamaged):
        await make(calls=Stuck()).rotate()
    assert await make().load() == STATE


async def test_a_commit_whose_outcome_is_unknown_leaves_the_file_that_agrees_with_it(
    make: Callable[..., SessionFile], ledger: FilteredLedger
) -> None:
    async def turn() -> None:
        async with make().saving(STATE, None) as beside:
            await end(ledger, "c1", beside)
            raise StoreFailed("the database", "the connection was lost after COMMIT")

    with pytest.raises(StoreFailed):
        await turn()
    assert make().path.read_text("utf-8") == CONTENT


async def test_an_error_of_the_block_is_its_own_and_never_one_of_the_files(
    make: Callable[..., SessionFile],
) -> None:
    with pytest.raises(ConnectionResetError):
        async with make().saving(STATE, None):
            raise ConnectionResetError


async def test_a_cancelled_commit_leaves_the_file_that_agrees_with_the_database(
    make: Callable[..., SessionFile], ledger: FilteredLedger, tmp_path: Path
) -> None:
    landed = asyncio.Event()

    async def turn() -> Committed:
        async with make().saving(STATE, None) as beside:
            committed = await ledger.commit(ending("c1", beside))
            landed.set()
            await asyncio.Event().wait()
            return committed

    task = asyncio.create_task(turn())
    await landed.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await make().load() == STATE
    assert names(tmp_path / "runtime") == ["session_state.json"]


async def test_sessions_of_a_folder_are_saved_one_at_a_time(
    make: Callable[..., SessionFile], ledger: FilteredLedger, tmp_path: Path
) -> None:
    inside = most = 0

    async def save(number: int) -> SessionState:
        nonlocal inside, most
        state = cold(f"s{number}").state(AT)
        async with make(f"s{number}").saving(state, None) as beside:
            inside += 1
            most = max(most, inside)
            await end(ledger, f"c{number}", beside)
            inside -= 1
        return state

    states = await asyncio.gather(*(save(number) for number in range(12)))

    assert most == 1
    assert [await make(f"s{number}").load() for number in range(12)] == states
    assert len(names(tmp_path / "runtime")) == 12


async def test_nobody_takes_away_the_temporary_file_of_a_cycle_that_is_under_way(
    make: Callable[..., SessionFile], ledger: FilteredLedger
) -> None:
    async with make().saving(STATE, None) as beside:
        other = asyncio.create_task(make().load())
        await asyncio.sleep(0)
        unit: Unit = ending("c1", beside)
        await ledger.commit(unit)

    assert await other == STATE
