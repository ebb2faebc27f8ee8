"""Power cuts, simulated: what was not synced is dropped, torn and reordered.

Below the real SQLite store lies a file system that remembers, for every file, the bytes that are
safe and the writes that are not yet. At a cut it makes the image of a disk on which any of the
unsynced sectors may have arrived, in any order. Each image is opened by memoranda as after a real
cut, and held against what clients had been told by then.

Two control arms show that the simulator bites: with synchronous=NORMAL acknowledged writes are
lost, and with an fsync that lies files are damaged.
"""

import asyncio
import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Final, Literal
from unittest import mock

import apsw

from memoranda.stores.sqlite import connection
from tests.campaigns.adversity.chance import CountedClock, Random, seeded_randomness
from tests.campaigns.adversity.client import Client
from tests.campaigns.adversity.counts import Counts
from tests.campaigns.adversity.history import History
from tests.campaigns.adversity.judge import SCOPE, judge, tell
from tests.campaigns.adversity.vfs import Operation, WatchingVfs, as_default, files_in
from tests.handles import opened

SECTOR: Final = 512
SMALL_WAL: Final = 60
"""Pages after which the file is checkpointed, so that cuts fall into checkpoints too."""

DATABASE: Final = "power.db"
ARRIVING: Final = (0.0, 0.1, 0.5, 0.9, 1.0)
"""How likely it is that an unsynced sector has arrived; one of these for each cut."""

_JOURNALS: Final = ("-wal", "-journal")

Arm = Literal["FULL", "NORMAL", "lying fsync"]


# ------------------------------------------------------------------------------ the disk


@dataclass(slots=True)
class _File:
    """A file: what is safe of it (None: not even its name), and what was done to it since."""

    safe: bytearray | None = None
    since: list[Operation] = field(default_factory=list)


class Disk:
    """The files of a folder as a power cut would leave them."""

    def __init__(self, folder: Path, *, lies: bool = False) -> None:
        self._folder = folder
        self._lies = lies
        self._lock = Lock()
        self._files = {
            name: _File(bytearray(content)) for name, content in files_in(folder).items()
        }
        self._opened: set[str] = set()
        self.operations = 0
        self.at_operation: Callable[[int], None] = lambda _number: None

    def watch(self, operation: Operation) -> None:
        """Follow what SQLite does; a cut falls when it is under way."""
        if operation.name == "open" and operation.file.endswith(_JOURNALS):
            self._opened.add(operation.file)
        if operation.name not in {"write", "sync", "truncate", "delete"}:
            return
        with self._lock:
            file = self._files.setdefault(operation.file, _File())
            if operation.name != "sync":
                file.since.append(operation)
            self.operations += 1
            self.at_operation(self.operations)
            if self._lies:
                return
            if operation.name == "sync":
                file.safe = _applied(file.safe, file.since) or bytearray()
                file.since.clear()
            if operation.place if operation.name == "delete" else operation.file in self._opened:
                self._sync_names()

    def _sync_names(self) -> None:
        """The folder itself is synced: what was deleted in it stays away, what is new stays.

        SQLite's own file system does so at the first sync of a journal that it has opened.
        """
        self._opened.clear()
        for file in self._files.values():
            deleted = [n for n, operation in enumerate(file.since) if operation.name == "delete"]
            if deleted:
                file.safe, file.since = None, file.since[deleted[-1] + 1 :]
            if file.since and file.safe is None:
                file.safe = bytearray()

    def image(self, chance: Random) -> dict[str, bytes]:
        """A disk after a cut at this moment: one of the many that may be."""
        arrives = chance.choice(ARRIVING)
        contents = {
            name: _torn(file, chance, arrives)
            for name, file in self._files.items()
            if not name.endswith("-shm")
        }
        return {name: bytes(content) for name, content in contents.items() if content is not None}


def _applied(safe: bytearray | None, operations: list[Operation]) -> bytearray | None:
    content = safe
    for operation in operations:
        content = _after(content, operation)
    return content


def _after(content: bytearray | None, operation: Operation) -> bytearray | None:
    if operation.name == "delete":
        return None
    content = bytearray() if content is None else content
    if operation.name == "truncate":
        del content[operation.place :]
        return content
    end = operation.place + len(operation.data)
    content.extend(bytes(max(0, end - len(content))))
    content[operation.place : end] = operation.data
    return content


def _torn(file: _File, chance: Random, arrives: float) -> bytearray | None:
    pieces = [
        piece
        for operation in file.since
        for piece in _sectors(operation)
        if chance.random() < arrives
    ]
    if chance.random() < 0.5:
        chance.shuffle(pieces)
    content = None if file.safe is None else bytearray(file.safe)
    for piece in pieces:
        content = _after(content, piece)
    return content


def _sectors(operation: Operation) -> list[Operation]:
    if operation.name != "write":
        return [operation]
    pieces, start, end = [], operation.place, operation.place + len(operation.data)
    while start < end:
        stop = min(end, (start // SECTOR + 1) * SECTOR)
        data = operation.data[start - operation.place : stop - operation.place]
        pieces.append(Operation("write", operation.file, data, start))
        start = stop
    return pieces


# --------------------------------------------------------------------------- the campaign


@dataclass(frozen=True, slots=True)
class _Cut:
    image: dict[str, bytes]
    history: History


@dataclass(slots=True)
class PowerCuts:
    """Lives of one database, each ended by a cut; the next begins with what that one left."""

    folder: Path
    chance: Random
    arm: Arm = "FULL"
    calls: int = 12
    cuts_in_a_life: int = 10
    counts: Counts = field(default_factory=Counts)
    _lives: int = 0

    def run(self, lives: int, tell_done: Callable[[], None] = lambda: None) -> Counts:
        """Go through some lives; every cut of each is judged, one of them is lived on from."""
        start = self.folder / "0"
        start.mkdir()
        history = History()
        for _ in range(lives):
            cuts = asyncio.run(self._life(start, history))
            judged = [self._judge(cut, number) for number, cut in enumerate(cuts)]
            whole = [left for left in judged if left is not None]
            if whole and self.arm == "FULL":
                start, history = self.chance.choice(whole)
            else:
                start, history = self.folder / f"new-{self._lives}", History()
                start.mkdir()
            tell_done()
        return self.counts

    async def _life(self, folder: Path, history: History) -> list[_Cut]:
        """Write under a disk that may be cut at some of its operations, drawn beforehand."""
        self._lives += 1
        chance, before = self.chance, history.copy()
        disk = Disk(folder, lies=self.arm == "lying fsync")
        due = {chance.randint(1, 25 * self.calls) for _ in range(self.cuts_in_a_life)}
        cuts: list[_Cut] = []

        def cut_when_due(number: int) -> None:
            if number in due:
                cuts.append(_Cut(disk.image(chance), history.copy()))

        disk.at_operation = cut_when_due
        name = f"power-{os.getpid()}-{id(self)}-{self._lives}"
        with (
            as_default(WatchingVfs(name, disk.watch, syncs=False)),
            mock.patch.object(apsw, "connection_hooks", [_checkpointing]),
            _settings(self.arm),
        ):
            async with opened(
                f"sqlite:///{folder / DATABASE}",
                scope=SCOPE,
                clock=CountedClock(),
                randomness=seeded_randomness(chance),
            ) as memory:
                client = Client(f"l{self._lives}", memory, chance, history)
                await client.run(self.calls // 2)
                await client.run(self.calls // 6, lanes=3)
        tell(history, self.counts, since=before)
        return cuts

    def _judge(self, cut: _Cut, number: int) -> tuple[Path, History] | None:
        """Plug the disk in again; what is left, if it is whole."""
        folder = self.folder / f"{self._lives}-{number}"
        folder.mkdir()
        for name, content in cut.image.items():
            (folder / Path(name).name).write_bytes(content)
        counts = Counts()
        asyncio.run(judge(f"sqlite:///{folder / DATABASE}", cut.history, counts))
        self.counts.merge(counts, f"life {self._lives}, cut {number}: ")
        self.counts.add("cuts")
        self.counts.add("cuts that lost a write", bool(counts["lost"]))
        self.counts.add("cuts that damaged a file", bool(counts["damaged"]))
        return None if counts.broken else (folder, cut.history)


def _checkpointing(connection_: apsw.Connection) -> None:
    connection_.wal_autocheckpoint(SMALL_WAL)


def _settings(arm: Arm) -> "mock._patch[tuple[str, ...]] | nullcontext[None]":
    if arm != "NORMAL":
        return nullcontext()
    weaker = tuple(
        "PRAGMA synchronous = NORMAL" if "synchronous" in setting else setting
        for setting in connection._SETTINGS
    )
    return mock.patch.object(connection, "_SETTINGS", weaker)
