"""kill -9 of processes that write one SQLite file, two at a time.

Half of them are killed at a random time, half kill themselves at a named point of the product's
own work, which they watch from the outside: statements through a subclass of apsw's connection,
reads and writes through a VFS. While one is dead and the other still writes, and again when both
are dead, the file is held against what the dead were told.
"""

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, Final
from unittest import mock

import apsw

import memoranda
from tests.campaigns.adversity.chance import Random
from tests.campaigns.adversity.client import Client, perform
from tests.campaigns.adversity.counts import Counts
from tests.campaigns.adversity.history import Call, History, recorded
from tests.campaigns.adversity.judge import SCOPE, check_strangers, judge, look, tell
from tests.campaigns.adversity.vfs import Operation, WatchingVfs, as_default
from tests.patience import PATIENCE

LONGEST_LIFE: Final = 0.25
MOST_CALLS: Final = 500
"""What a lane does at most: no point is so far away."""

RESTART_GOAL: Final = 2.0
SMALL_WAL: Final = 40
"""Pages after which the file is checkpointed: often enough to be killed in the middle of it."""

SHARED: Final = "shared"


@dataclass(frozen=True, slots=True)
class Statement:
    """The point before or after a statement that begins like this."""

    begins: str
    before: bool = False


@dataclass(frozen=True, slots=True)
class FileCall:
    """The point before a call of the file system on a file that ends like this."""

    name: str
    ends: str


Point = Statement | FileCall

POINTS: Final[dict[str, Point]] = {
    "before BEGIN": Statement("BEGIN IMMEDIATE", before=True),
    "after BEGIN": Statement("BEGIN IMMEDIATE"),
    "after the entries": Statement("INSERT INTO entries"),
    "after the bodies": Statement("INSERT INTO bodies"),
    "after the rows": Statement("INSERT INTO versions"),
    "after the head": Statement("UPDATE journals"),
    "after the retry key": Statement("\nINSERT INTO retries"),
    "before COMMIT": Statement("COMMIT", before=True),
    "after COMMIT, before the answer": Statement("COMMIT"),
    "between two frames of a commit": FileCall("write", "-wal"),
    "before the sync of a commit": FileCall("sync", "-wal"),
    "in a checkpoint": FileCall("write", ".db"),
    "before the sync of a checkpoint": FileCall("sync", ".db"),
}
RARE: Final = {"before the sync of a checkpoint": 4}
RANDOM: Final = "at a random time"


# ------------------------------------------------------------------------- the one who dies


def write_until_killed(
    url: str,
    name: str,
    seed: int,
    lanes: int,
    shared: str,
    history: str,
    point: str,
    count: int,
) -> None:
    """Write on and on; at the count-th passing of the point, die."""
    end, stack = _Countdown(count), ExitStack()
    apsw.connection_hooks.append(lambda connection: connection.wal_autocheckpoint(SMALL_WAL))
    match POINTS.get(point):
        case Statement() as statement:
            stack.enter_context(mock.patch.object(apsw, "Connection", _dying_at(statement, end)))
        case FileCall(name=call, ends=ends):

            def watch(operation: Operation) -> None:
                if operation.name == call and operation.file.endswith(ends):
                    end.passed()

            stack.enter_context(as_default(WatchingVfs("dying", watch)))
    file = os.open(history, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        with stack:
            asyncio.run(_write(url, name, Random(seed), lanes, shared, History(file)))
    except Exception as error:
        _last_words(history).write_text(repr(error))
        raise


async def _write(
    url: str, name: str, chance: Random, lanes: int, shared: str, history: History
) -> None:
    async with memoranda.open(url, scope=SCOPE, actor=f"agent:{name}") as memory:
        await Client(name, memory, chance, history).run(MOST_CALLS, lanes=lanes, shared=shared)


def _last_words(history: str | Path) -> Path:
    """Where a writer says why it ended, if it was not killed."""
    return Path(f"{history}.error")


class _Countdown:
    def __init__(self, count: int) -> None:
        self._left = count

    def passed(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


def _dying_at(point: Statement, end: _Countdown) -> type[apsw.Connection]:
    class Dying(apsw.Connection):
        def execute(self, statements: str, *args: Any, **kwargs: Any) -> apsw.Cursor:
            is_it = statements.startswith(point.begins)
            if is_it and point.before:
                end.passed()
            cursor = super().execute(statements, *args, **kwargs)
            if is_it and not point.before:
                end.passed()
            return cursor

    return Dying


# --------------------------------------------------------------------------- the campaign


@dataclass(slots=True)
class _Life:
    process: BaseProcess
    history: Path
    point: str
    dies_after: float


@dataclass(slots=True)
class Kills:
    """Rounds of two writers on one file, all of them killed."""

    folder: Path
    chance: Random
    points: list[str] = field(default_factory=list)
    """The ends of the first writers; those of the others are drawn."""

    counts: Counts = field(default_factory=Counts)
    _rounds: int = 0
    _shared: str = ""

    def run(self, rounds: int, tell_done: Callable[[], None] = lambda: None) -> Counts:
        """Let two writers be killed in each round, all on one file."""
        url = f"sqlite:///{self.folder}/kills.db"
        history = asyncio.run(_prepared(url))
        self._shared = history.answers[SHARED][0].id
        for _ in range(rounds):
            self._round(url, history)
            tell_done()
        tell(history, self.counts)
        return self.counts

    def _round(self, url: str, history: History) -> None:
        self._rounds += 1
        lives = [self._born(url, number, self._end()) for number in range(2)]
        first, second = lives
        self._ended(first)
        partial = history.copy()
        partial.merge([recorded(first.history)])
        asyncio.run(_look_meanwhile(url, partial, second.history, self.counts))
        self._ended(second)
        history.merge(recorded(life.history) for life in lives)
        started = time.monotonic()
        asyncio.run(judge(url, history, self.counts))
        if time.monotonic() - started > RESTART_GOAL:
            self.counts.add("slow restarts")

    def _end(self) -> str:
        if self.points:
            return self.points.pop(0)
        return self.chance.choice(list(POINTS)) if self.chance.random() < 0.6 else RANDOM

    def _born(self, url: str, number: int, point: str) -> _Life:
        chance = self.chance
        name = f"r{self._rounds}w{number}"
        history = self.folder / f"{name}.history"
        passing = chance.randint(1, RARE.get(point, 60))
        seed, lanes = chance.getrandbits(32), chance.choice((1, 1, 4))
        arguments = (url, name, seed, lanes, self._shared, str(history), point, passing)
        process = servers().Process(target=write_until_killed, args=arguments, daemon=True)
        process.start()
        return _Life(process, history, point, chance.uniform(0, LONGEST_LIFE))

    def _ended(self, life: _Life) -> None:
        process = life.process
        process.join(life.dies_after if life.point == RANDOM else PATIENCE)
        if process.exitcode is None:
            process.kill()
            process.join()
            if life.point != RANDOM:
                self.counts.wrong("stuck", f"a writer did not come to its end {life.point}")
        if process.exitcode == 0:
            # It made all its calls, and did not pass its point as often as was drawn.
            self.counts.add("ended by themselves")
            process.close()
            return
        if process.exitcode != -signal.SIGKILL:
            words = _last_words(life.history)
            why = words.read_text() if words.exists() else f"exit code {process.exitcode}"
            self.counts.wrong("untyped", f"a writer ended with {why}")
        process.close()
        self.counts.add("kills")
        self.counts.add(f"killed {life.point}")


async def _prepared(url: str) -> History:
    """A file with one record that all writers change."""
    history = History()
    async with memoranda.open(url, scope=SCOPE) as memory:
        await perform(memory, Call(SHARED, "remember"), history)
    return history


async def _look_meanwhile(url: str, dead: History, alive: Path, counts: Counts) -> None:
    """One is dead, and the other may still be writing: what the dead was told is there."""
    async with memoranda.open(url, scope=SCOPE) as memory:
        journal = await look(memory, dead, counts)
        both = dead.copy()
        both.merge([recorded(alive)])  # it says more by now than was there a moment ago
        check_strangers(journal, both, counts)
        counts.add("looks beside a writer")


def servers() -> multiprocessing.context.ForkServerContext:
    """Processes that have imported everything already: a new one is there in milliseconds."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.campaigns.adversity.kills"])
    return context
