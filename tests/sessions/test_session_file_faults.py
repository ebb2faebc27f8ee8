"""Whatever fails between the temporary file and its name, file and database agree afterwards.

The process dies before or after each call of the file system and each COMMIT; the power goes, with
whatever was not on disk lost or not; each call fails. In every case the next start finds the
session as it was before the turn or as it is after it, the same as the database has it.
"""

import errno
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from recollect.journeys.govern.table import FilteredLedger
from recollect.kernel.errors import FailFast, SessionDamaged, WriteFailed
from recollect.ledger.beside import CYCLE
from recollect.outside.session_files import ASIDE, SessionFile, file_content
from recollect.plans.session import SessionState, read_session
from recollect.testkit.simulators import FrozenClock
from tests.sessions.cycles import AT, cold, end
from tests.sessions.disks import Died, Disk, Watched

CALLS = 40
"""More than a turn makes: a run in which nothing happens is the last one."""


class Run:
    """One session with a turn behind it, and what happens in the next one."""

    def __init__(self, ledger: FilteredLedger, folder: Path, number: int) -> None:
        self.ledger = ledger
        self.folder = folder / str(number)
        self.name = f"run-{number}"
        self.disk = Disk()
        self.before = cold(self.name).state(AT)
        self.after = self.before.model_copy(update={"repo_scan_version": "version-2"})

    def store(self, calls: Any) -> SessionFile:
        """The session, as a process has it."""
        beside, clock = self.ledger.beside, FrozenClock(AT)
        return SessionFile(self.folder, beside, "origin", clock, self.name, calls=calls)

    async def prepare(self) -> None:
        """The first turn: nothing happens in it."""
        async with self.store(self.disk).saving(self.before, None) as beside:
            await end(self.ledger, f"{self.name}-1", beside)

    async def turn(self, calls: Any, commits: Callable[[str], None] = lambda _: None) -> None:
        """The next turn, from its start."""
        store = self.store(calls)
        assert await store.load() == self.before
        async with store.saving(self.after, self.before) as beside:
            commits("before")
            await end(self.ledger, f"{self.name}-2", beside)
            commits("after")

    async def check(self) -> bool:
        """What the next start finds; whether the turn had landed."""
        landed = bool(await self.ledger.marked(f"{CYCLE}{self.name}-2"))
        expected = self.after if landed else self.before
        assert await self.store(self.disk).load() == expected
        assert self.disk.names(self.folder) == [f"session_state.{self.name}.json"]
        another = expected.model_copy(update={"repo_scan_version": "version-3"})
        async with self.store(self.disk).saving(another, expected) as beside:
            await end(self.ledger, f"{self.name}-3", beside)
        assert await self.store(self.disk).load() == another
        return landed


@pytest.mark.rule("ING-PERSIST")
@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
async def test_wherever_the_process_dies_the_session_is_as_before_or_as_after(
    ledger: FilteredLedger, tmp_path: Path, *, is_after: bool
) -> None:
    outcomes, calls = [], Watched(Disk())
    for number in range(CALLS):
        run = Run(ledger, tmp_path, number)
        await run.prepare()
        calls = Watched(run.disk, number=number, is_after=is_after)
        calls.strike = calls.die
        with suppress(Died):
            await run.turn(calls)
        outcomes.append(await run.check())
        if not calls.is_dead:
            break

    assert not calls.is_dead, "the last run came to its end"
    assert outcomes == sorted(outcomes), "once it has landed, it has landed"
    assert outcomes.count(False) > 5
    assert outcomes.count(True) > 2, "some died between COMMIT and the end"


@pytest.mark.rule("ING-PERSIST")
@pytest.mark.parametrize("torn", [0, 1, 2], ids=["whole", "torn", "empty"])
async def test_wherever_the_power_goes_the_session_is_as_before_or_as_after(
    ledger: FilteredLedger, tmp_path: Path, torn: int
) -> None:
    outcomes, calls = [], Watched(Disk())
    for number in range(3 * CALLS):
        run = Run(ledger, tmp_path, number)
        await run.prepare()
        calls = Watched(run.disk, number=number // 3, is_after=True)
        calls.strike = calls.die
        with suppress(Died):
            await run.turn(calls)
        run.disk.cut(kept=number % 3, torn=torn)
        outcomes.append(await run.check())
        if not calls.is_dead:
            break

    assert not calls.is_dead, "the last run came to its end"
    assert set(outcomes) == {False, True}


async def test_once_a_turn_has_returned_its_file_is_on_disk(
    ledger: FilteredLedger, tmp_path: Path
) -> None:
    run = Run(ledger, tmp_path, 0)
    await run.prepare()
    await run.turn(run.disk)

    run.disk.cut(kept=0, torn=2)

    assert run.disk.read(run.store(run.disk).path) == file_content(run.after)
    assert len(run.disk.names(run.folder)) == 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("is_cut", [False, True], ids=["killed", "power cut"])
async def test_a_process_that_dies_at_its_commit_leaves_what_the_database_says(
    ledger: FilteredLedger, tmp_path: Path, when: str, *, is_cut: bool
) -> None:
    run = Run(ledger, tmp_path, 0)
    await run.prepare()
    calls = Watched(run.disk)

    def commits(at: str) -> None:
        if at == when:
            calls.die()

    with pytest.raises(Died):
        await run.turn(calls, commits)
    if is_cut:
        run.disk.cut(kept=0, torn=2)

    assert await run.check() == (when == "after")


@pytest.mark.rule("ING-FAILFAST")
async def test_whichever_call_fails_the_turn_fails_fast_and_the_next_start_finishes(
    ledger: FilteredLedger, tmp_path: Path
) -> None:
    def fail() -> None:
        raise OSError(errno.EIO, "Input/output error")

    whole = Watched((counted := Run(ledger, tmp_path, CALLS)).disk)
    await counted.prepare()
    await counted.turn(whole)
    outcomes = []
    for number in range(whole.made):
        run = Run(ledger, tmp_path, number)
        await run.prepare()
        with pytest.raises(FailFast) as caught:
            await run.turn(Watched(run.disk, fail, number))
        assert isinstance(caught.value, SessionDamaged | WriteFailed)
        outcomes.append(await run.check())

    assert set(outcomes) == {False, True}


@pytest.mark.parametrize("torn", [0, 2], ids=["whole", "empty"])
async def test_wherever_rotating_ends_the_session_is_there_or_put_aside(
    ledger: FilteredLedger, tmp_path: Path, torn: int
) -> None:
    calls = Watched(Disk())
    for number in range(2 * CALLS):
        run = Run(ledger, tmp_path, number)
        await run.prepare()
        calls = Watched(run.disk, number=number // 2, is_after=True)
        calls.strike = calls.die
        with suppress(Died):
            await run.store(calls).rotate()
        run.disk.cut(kept=number % 2, torn=torn)

        found = [*await _loaded(run), *_aside(run)]
        assert run.before in found
        await run.store(run.disk).rotate()
        assert await run.store(run.disk).load() is None
        assert run.before in _aside(run)
        if not calls.is_dead:
            break
    assert not calls.is_dead


async def _loaded(run: Run) -> list[SessionState]:
    found = await run.store(run.disk).load()
    return [] if found is None else [found]


def _aside(run: Run) -> list[SessionState]:
    folder = run.folder / ASIDE
    raw = (run.disk.read(folder / name) for name in run.disk.names(folder))
    return [read_session("", one) for one in raw if one]
