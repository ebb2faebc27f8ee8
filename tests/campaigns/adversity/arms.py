"""The arms of the long form: what is tried, how often, and how it must come out."""

import itertools
import logging
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from tests.campaigns.adversity.cancels import Cancels
from tests.campaigns.adversity.chance import Random
from tests.campaigns.adversity.counts import Counts
from tests.campaigns.adversity.faults import Faults, Files, Lasting
from tests.campaigns.adversity.full import NOT_POSSIBLE, Kind, fill
from tests.campaigns.adversity.kills import Kills
from tests.campaigns.adversity.power import Arm as PowerArm
from tests.campaigns.adversity.power import PowerCuts
from tests.campaigns.adversity.servers import ServerKills
from tests.stores.postgres.server import running_server

FAULT_PARTS: Final = 8
_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - where no disk slows a simulated one down

Job = Callable[[int], Counts]
"""A part of an arm, which a process of its own can do, from its seed."""


@dataclass(frozen=True, slots=True)
class Arm:
    """One way to make things go wrong. A control arm must break the promise that it names."""

    name: str
    tried: tuple[str, ...]
    jobs: tuple[Job, ...]
    must_break: str = ""

    def verdict(self, counts: Counts) -> str:
        """How it came out, in a few words; `is_expected` says whether it should have."""
        if counts[NOT_POSSIBLE] and not self.trials(counts):
            return NOT_POSSIBLE
        if self.must_break:
            return "fails, as it must" if counts[self.must_break] else "DOES NOT FAIL"
        if not self.trials(counts):
            return "NOTHING TRIED"
        return "BROKEN" if counts.broken else "holds"

    def is_expected(self, counts: Counts) -> bool:
        """Whether it came out as it must."""
        return not self.verdict(counts).isupper()

    def trials(self, counts: Counts) -> int:
        """How many things went wrong on purpose."""
        return sum(counts[what] for what in self.tried)


def long_form(scale: float = 1.0) -> list[Arm]:
    """All arms; at scale 1 they take some ten minutes on two cores."""

    def many(count: int) -> range:
        return range(max(1, round(count * scale)))

    faults = [
        partial(_faults, files, lasting, part)
        for files in ("old file", "new file")
        for lasting in ("transient", "persistent")
        for part in range(1, FAULT_PARTS + 1)
    ]
    return [
        Arm("kill -9 of writers", ("kills",), tuple(_kills for _ in many(100))),
        Arm("power cut", ("cuts",), tuple(partial(_power, "FULL", 10) for _ in many(50))),
        Arm(
            "power cut, synchronous=NORMAL",
            ("cuts",),
            tuple(partial(_power, "NORMAL", 10) for _ in many(4)),
            "lost",
        ),
        Arm(
            "power cut, fsync lies",
            ("cuts",),
            tuple(partial(_power, "lying fsync", 10) for _ in many(2)),
            "damaged",
        ),
        Arm("the n-th I/O call fails", ("faults",), tuple(faults)),
        Arm(
            "disk full, by a limit",
            ("disks filled",),
            tuple(partial(_full, "limit") for _ in many(20)),
        ),
        Arm(
            "disk full, a tmpfs",
            ("disks filled",),
            tuple(partial(_full, "tmpfs") for _ in many(20)),
        ),
        Arm(
            "callers give up",
            ("timeouts", "cancellations"),
            tuple(partial(_cancels, 1_000) for _ in many(10)),
        ),
        Arm(
            "callers give up, PostgreSQL",
            ("timeouts", "cancellations"),
            tuple(partial(_cancels_postgres, 500) for _ in many(4)),
        ),
        Arm(
            "kill -9 of the PostgreSQL server",
            ("server kills", "connections cut"),
            tuple(partial(_servers, 10) for _ in many(10)),
        ),
    ]


# ------------------------------------------------------------------------------- the jobs


@contextmanager
def folder(*, in_memory: bool = False) -> Iterator[Path]:
    """A folder for a job, gone afterwards."""
    place = _MEMORY if in_memory and _MEMORY.is_dir() else None
    made = Path(tempfile.mkdtemp(prefix="memoranda-adversity-", dir=place))
    try:
        yield made
    finally:
        shutil.rmtree(made)


def quietly(job: Job, seed: int) -> Counts:
    """Do a job. memoranda logs every disaster, as it should: here they are many."""
    logging.disable()
    return job(seed)


def _kills(seed: int) -> Counts:
    with folder() as place:
        return Kills(place, Random(seed)).run(5)


def _power(arm: PowerArm, lives: int, seed: int) -> Counts:
    with folder(in_memory=True) as place:
        return PowerCuts(place, Random(seed), arm).run(lives)


def _faults(files: Files, lasting: Lasting, part: int, seed: int) -> Counts:
    # Every part does the same work, or "every n" would mean nothing: the seed is not used.
    del seed
    with folder(in_memory=True) as place:
        return Faults(place, 1).run(files, lasting, itertools.count(part, FAULT_PARTS))


def _full(kind: Kind, seed: int) -> Counts:
    with folder() as place:
        return fill(place, seed, kind)


def _cancels(stops: int, seed: int) -> Counts:
    with folder() as place:
        return Cancels(f"sqlite:///{place}/cancels.db", Random(seed)).run(stops)


def _cancels_postgres(stops: int, seed: int) -> Counts:
    with running_server(own=True) as server:
        return Cancels(server.create_database(), Random(seed)).run(stops)


def _servers(rounds: int, seed: int) -> Counts:
    with running_server(own=True) as server:
        return ServerKills(server, Random(seed)).run(rounds)
