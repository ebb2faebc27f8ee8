"""`python -m bench.soak`: 64 writers at once for three minutes, and how the event loop fares.

With ``--recallers 16``, so many tasks recall one after the other beside them.

Beside the writers a task sleeps for a millisecond again and again: what it sleeps too long is how
long the loop was held up. The log of SQLite is looked at once a second.
"""

import argparse
import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.aims import Aim, show
from bench.recall import questions
from bench.workload import Item, items
from memoranda import Memory, MemoryRecordInput, open

WRITERS = 64
TICK_S = 0.001

AIMS = (
    Aim("stall_ms", "longest stall of the event loop, ms", "≤ 50", lambda ms: ms <= 50, "Python"),
    Aim("p99_ms", "p99 of one write, ms", "≤ 25", lambda ms: ms <= 25, "64 share each commit"),
    Aim("wal_mb", "largest log of SQLite, MB", "≤ 64", lambda mb: mb <= 64, "checkpoints"),
    Aim("per_second", "writes per second", "", lambda _: True, "Python and SQL for each row"),
)


BESIDE = (
    Aim("per_second", "writes per second", "≥ 2,500", lambda n: n >= 2_500, "one interpreter lock"),
    Aim("recall_p99_ms", "p99 of one recall, ms", "≤ 150", lambda ms: ms <= 150, "likewise"),
    Aim("recall_ms", "a recall at the median, ms", "", lambda _: True, ""),
    Aim("recalls", "recalls per second", "", lambda _: True, ""),
)


async def soak(seconds: float, folder: Path, recallers: int = 0) -> dict[str, float]:
    """Write for so long; the figures of it."""
    file = folder / "soak.db"
    times: list[float] = []
    recalls: list[float] = []
    worst = {"stall": 0.0, "wal": 0}
    async with open(file, scope="soak", actor="agent:soak") as memory:
        await memory.remember("the scope is there")
        given = items(0, 200)
        until = time.perf_counter() + seconds
        watching = asyncio.create_task(_watch(file, until, worst))
        await asyncio.gather(
            *(_write(memory, given, until, times) for _ in range(WRITERS)),
            *(_recall(memory, n, until, recalls) for n in range(recallers)),
            watching,
        )
    times.sort()
    recalls.sort()
    beside = (
        {
            "recall_p99_ms": recalls[int(len(recalls) * 0.99)] * 1_000,
            "recall_ms": recalls[len(recalls) // 2] * 1_000,
            "recalls": len(recalls) / seconds,
        }
        if recalls
        else {}
    )
    return beside | {
        "stall_ms": worst["stall"] * 1_000,
        "p99_ms": times[int(len(times) * 0.99)] * 1_000,
        "wal_mb": worst["wal"] / 1e6,
        "per_second": len(times) / seconds,
    }


async def _recall(memory: Memory[Any], first: int, until: float, times: list[float]) -> None:
    asked = questions()
    while time.perf_counter() < until:
        for question in asked[first:] + asked[:first]:
            began = time.perf_counter()
            await memory.recall(question, top_k=10, selector="words")
            times.append(time.perf_counter() - began)
            if time.perf_counter() >= until:
                return


async def _write(
    memory: Memory[Any], given: Sequence[Item], until: float, times: list[float]
) -> None:
    while time.perf_counter() < until:
        for item in given:
            began = time.perf_counter()
            await memory.records.create(MemoryRecordInput(data=item.data, tags=list(item.tags)))
            times.append(time.perf_counter() - began)
            if time.perf_counter() >= until:
                return


async def _watch(file: Path, until: float, worst: dict[str, float]) -> None:
    log = file.with_name(f"{file.name}-wal")
    looked = 0.0
    while (began := time.perf_counter()) < until:
        await asyncio.sleep(TICK_S)
        worst["stall"] = max(worst["stall"], time.perf_counter() - began - TICK_S)
        if began - looked > 1:
            looked = began
            worst["wal"] = max(worst["wal"], log.stat().st_size if log.exists() else 0)


def main() -> None:
    """Run, show, write down."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--recallers", type=int, default=0)
    given = parser.parse_args()
    seconds, recallers = given.seconds, given.recallers
    with TemporaryDirectory() as folder:
        figures = asyncio.run(soak(seconds, Path(folder), recallers))
    title = f"{WRITERS} writers at once for {seconds:g} s"
    if recallers:
        show(f"{title}, and {recallers} who recall", BESIDE, figures, "soak-recalls")
    else:
        show(title, AIMS, figures, "soak")


if __name__ == "__main__":
    main()
