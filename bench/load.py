"""What other processes did meanwhile: `oth`, in cores.

All busy time of the machine, less the time of this process and of its descendants (a PostgreSQL
server that was started here is part of what is measured).
"""

import os
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

BUSY = 0.5
"""From this many cores on, the machine counts as busy."""

_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds of CPU, of the whole machine and of us, at one point in time."""

    at: float
    machine: float
    ours: float

    @classmethod
    def now(cls) -> "Moment":
        """This moment; zero load where there is no /proc."""
        try:
            return cls(perf_counter(), _machine_seconds(), _our_seconds())
        except OSError:
            return cls(perf_counter(), 0.0, 0.0)

    def others_until(self, later: "Moment") -> float:
        """How many cores others kept busy between two moments."""
        elapsed = later.at - self.at
        others = (later.machine - self.machine) - (later.ours - self.ours)
        return max(0.0, others / elapsed) if elapsed > 0 else 0.0


def _machine_seconds() -> float:
    fields = [int(field) for field in (_PROC / "stat").read_text().split("\n", 1)[0].split()[1:]]
    user, nice, system, _idle, _iowait, irq, softirq, steal, *_ = fields
    return (user + nice + system + irq + softirq + steal) / _TICKS


def _our_seconds() -> float:
    processes: dict[int, tuple[int, int]] = {}
    for folder in _PROC.iterdir():
        if folder.name.isdecimal():
            try:
                stat = (folder / "stat").read_text()
            except OSError:
                continue  # it ended meanwhile
            # The name stands in brackets and may hold anything; what follows has fixed places.
            fields = stat.rpartition(")")[2].split()
            processes[int(folder.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    return sum(ticks for pid, (_, ticks) in processes.items() if _is_ours(pid, processes)) / _TICKS


def _is_ours(pid: int, processes: dict[int, tuple[int, int]]) -> bool:
    while pid in processes:
        if pid == os.getpid():
            return True
        pid = processes[pid][0]
    return False
