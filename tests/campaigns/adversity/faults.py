"""The n-th call of the file system fails, for every n until a run has no fault.

Once it fails alone, once everything after it fails too until the disk is mended. Each run opens a
file, writes, reads and closes. Whatever fails, the error is one of ours; an acknowledged write is
there, a refused one is not, and only StoreFailed leaves the outcome open. When the disk is well
again the same handle works, without a hand's turn.
"""

import asyncio
import gc
import os
import shutil
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

import apsw

import memoranda
from memoranda import MemoryFilter
from memoranda.journeys.audit.verify import verify
from memoranda.kernel.errors import MemorandaError
from tests.campaigns.adversity.chance import CountedClock, Random, seeded_randomness
from tests.campaigns.adversity.client import Client
from tests.campaigns.adversity.counts import Counts
from tests.campaigns.adversity.history import History, recorded
from tests.campaigns.adversity.judge import SCOPE, judge, settle, tell
from tests.campaigns.adversity.vfs import Operation, WatchingVfs, as_default
from tests.handles import inside, opened

Lasting = Literal["transient", "persistent"]
Files = Literal["new file", "old file"]

DATABASE: Final = "faults.db"
WORKING: Final = frozenset(
    {"open", "delete", "access", "read", "write", "sync", "truncate", "size", "lock"}
)
_LASTING: Final = {"memoranda-writer"}
_ERRORS: Final = {
    "open": apsw.SQLITE_CANTOPEN,
    "delete": apsw.SQLITE_IOERR_DELETE,
    "access": apsw.SQLITE_IOERR_ACCESS,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "size": apsw.SQLITE_IOERR_FSTAT,
    "lock": apsw.SQLITE_IOERR_LOCK,
}


class Fault:
    """Fails the n-th call, and maybe all that follow, until it is mended."""

    def __init__(self, number: int, lasting: Lasting, *, is_full: bool = False) -> None:
        self._number = number
        self._lasting = lasting
        self._is_full = is_full
        self.is_mended = False
        self.calls = 0
        self.struck: str = ""

    def watch(self, operation: Operation) -> None:
        """Let a call pass, or fail it."""
        if operation.name not in WORKING or self.is_mended:
            return
        self.calls += 1
        if self.calls == self._number or (self._lasting == "persistent" and self.struck):
            self.struck = self.struck or f"{operation.name} of {_kind(operation.file)}"
            code = _ERRORS[operation.name]
            if self._is_full and operation.name == "write":
                code = apsw.SQLITE_FULL
            raise _error(code)

    def mend(self) -> None:
        """From now on everything works."""
        self.is_mended = True


def _error(code: int) -> Exception:
    error = apsw.exception_for(code)
    error.args = (f"{apsw.mapping_extended_result_codes.get(code, 'SQLITE_FULL')}, on purpose",)
    return error


def _kind(file: str) -> str:
    for kind in ("-wal", "-journal", "-shm"):
        if file.endswith(kind):
            return kind
    return "database"


@dataclass(slots=True)
class Faults:
    """Runs of the same work, each with another call that fails."""

    folder: Path
    seed: int
    counts: Counts = field(default_factory=Counts)

    def run(
        self,
        files: Files,
        lasting: Lasting,
        numbers: Iterable[int],
        tell_done: Callable[[], None] = lambda: None,
    ) -> Counts:
        """Fail each of these calls in turn; stop at the first run that came to its end before."""
        template = self.folder / "template"
        template.mkdir()
        if files == "old file":
            asyncio.run(_prepared(template))
        for number in numbers:
            fault = Fault(number, lasting, is_full=number % 2 == 0)
            asyncio.run(self._one(template, number, fault))
            tell_done()
            if not fault.struck:
                self.counts.add("runs to the end")
                break
        return self.counts

    async def _one(self, template: Path, number: int, fault: Fault) -> None:
        folder = self.folder / str(number)
        shutil.copytree(template, folder)
        url = f"sqlite:///{folder / DATABASE}"
        history, counts = History(), Counts()
        where = f"call {number}: "
        with as_default(WatchingVfs(f"faults-{os.getpid()}-{number}", fault.watch, syncs=False)):
            try:
                await self._work(url, fault, history, counts, is_mended=number % 3 > 0)
            except MemorandaError as error:
                counts.add(f"opening or closing refused as {error.code}")
            except apsw.Error as error:
                counts.wrong("untyped", f"{error!r} at {fault.struck}")
            fault.mend()
        for left in left_behind(folder):
            counts.wrong("stuck", f"{left} is still there after {fault.struck}")
        if fault.struck:
            counts.add("faults")
            counts.add(f"fault at {fault.struck}")
        history.merge([recorded(template / "history")])
        await judge(url, history, counts)
        tell(history, counts)
        self.counts.merge(counts, where)
        shutil.rmtree(folder)

    async def _work(
        self, url: str, fault: Fault, history: History, counts: Counts, *, is_mended: bool
    ) -> None:
        chance = Random(self.seed)
        async with opened(
            url, scope=SCOPE, clock=CountedClock(), randomness=seeded_randomness(chance)
        ) as memory:
            client = Client("f", memory, chance, history)
            await client.run(4)
            await client.run(2, lanes=3)
            try:
                await memory.records.query(MemoryFilter(tags=["t"]))
                await memory.list()
                await verify(inside(memory).ledger)
            except MemorandaError as error:
                counts.add(f"a read refused as {error.code}")
            if is_mended:  # else the disk is still broken when it is closed
                fault.mend()
                await settle(memory, history, counts)


async def _prepared(folder: Path) -> None:
    history = History()
    async with memoranda.open(f"sqlite:///{folder / DATABASE}", scope=SCOPE) as memory:
        await Client("old", memory, Random(0), history).run(10)
    (folder / "history").touch()
    file = os.open(folder / "history", os.O_WRONLY)
    again = History(file)
    for mark, call in history.calls.items():
        again.asks(call)
        again.told(mark, history.answers[mark])
    os.close(file)


def left_behind(folder: Path) -> list[str]:
    """Threads of ours that still run, and files of a folder that are still open."""
    gc.collect()
    threads = [thread.name for thread in threading.enumerate() if thread.name in _LASTING]
    links = [Path(link) for link in Path("/proc/self/fd").iterdir()]
    files = []
    for link in links:
        with suppress(OSError):
            if (file := link.readlink()).is_relative_to(folder):
                files.append(f"an open {_kind(str(file))} file")
    return threads + files
