"""`python -m bench.worlds`: what a run, its replay and its snapshots cost.

A run is measured against raw commits on the same disk, in turns; everything else stands by
itself. A target that is missed is shown as missed; the exit code is 0 all the same.
"""

import argparse
import asyncio
import copy
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import apsw
import orjson
from rich.progress import Progress

import memoranda
from bench.aims import Aim, show
from bench.systems.disk import sqlite_bytes
from bench.workload import SEED, Numbers
from memoranda.identity import freeze
from memoranda.recall.provider import MemoryExperience, MemoryQuery
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain

SCOPE = "bench"
RUNS = 200
RESTORES = 300
FIELDS = 1_000
"""Members of the large state, of about a hundred bytes each: 100 KB."""

AIMS = (
    Aim("commits", "a whole run, in raw commits on the same disk", "≤ 4", lambda f: f <= 4,
        "one commit, and what Python does around it"),
    Aim("freeze", "freezing and hashing a context, times copy.deepcopy", "< 1", lambda f: f < 1,
        "canonical JSON, once"),
    Aim("mb", "MB of file for the worlds of a 100 KB state", "< 100", lambda f: f < 100,
        "a whole snapshot in every 64, changes between"),
    Aim("restore_ms", "restoring a world, ms at the median", "< 5", lambda f: f < 5,
        "reading 100 KB of JSON, and writing it to compare its digest"),
    Aim("restore_p99_ms", "the same, at the 99th percentile", "", lambda _: True, ""),
    Aim("run_ms", "a run on that state, ms", "", lambda _: True,
        "canonical JSON of 100 KB, several times"),
    Aim("replayed_per_s", "worlds replayed, each s", "", lambda _: True, "the same"),
    Aim("growth_mb", "memory that a replay of all of them takes more than of a tenth, MB", "< 16",
        lambda f: f < 16, "one snapshot at a time"),
)  # fmt: skip

small = Domain("bench-small", "1", initial={"count": 0})
large = Domain(
    "bench-large",
    "1",
    initial={f"field-{n:04}": {"text": "x" * 70, "count": 0} for n in range(FIELDS)},
)


@small.action
def count(ctx: ActionContext[None]) -> list[Patch]:
    """One more."""
    return [Set("count", ctx.state["count"] + 1)]


@large.action
def touch(ctx: ActionContext[None]) -> list[Patch]:
    """Change one of a thousand members, which one is random."""
    name = f"field-{ctx.random.randrange(FIELDS):04}"
    return [Set(f"{name}.count", ctx.now)]


class Provider:
    """Recalls a context of a few memories."""

    async def recall(self, query: MemoryQuery) -> object:
        """The same each time."""
        return {"actor": query.actor_id, "memories": ["prefers email", "calls on Mondays"] * 5}

    async def remember(self, experience: MemoryExperience) -> None:
        """Nothing is learned."""


# ------------------------------------------------------------------------------- figures


async def runs(folder: Path) -> dict[str, float]:
    """Whole runs and raw commits, in turns, on one disk."""
    raw = apsw.Connection(str(folder / "raw.db"))
    for sql in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "CREATE TABLE t (b)"):
        raw.execute(sql).fetchall()
    ours, theirs = [], []
    url = f"sqlite:///{folder}/runs.db"
    async with memoranda.open(
        url, scope=SCOPE, actor="agent:bench", app=memoranda.App(domain=small, provider=Provider())
    ) as memory:
        await memory.act("count")
        for _ in range(RUNS):
            start = perf_counter()
            run = await memory.act("count")
            ours.append(perf_counter() - start)
            assert run.is_completed, run
            start = perf_counter()
            with raw:
                raw.execute("INSERT INTO t VALUES (zeroblob(1000))")
            theirs.append(perf_counter() - start)
    raw.close()
    return {"commits": median(ours) / median(theirs)}


async def filled(folder: Path, worlds: int) -> dict[str, float]:
    """Many worlds of a large state with small changes."""
    path = folder / "worlds.db"
    times = []
    with Progress() as progress:
        task = progress.add_task(f"running {worlds:,}", total=worlds)
        async with memoranda.open(
            f"sqlite:///{path}", scope=SCOPE, actor="agent:bench", app=memoranda.App(domain=large)
        ) as memory:
            for _ in range(worlds):
                start = perf_counter()
                assert (await memory.act("touch")).is_completed
                times.append(perf_counter() - start)
                progress.advance(task)
    return {"mb": sqlite_bytes(path) / 1e6, "run_ms": median(times) * 1_000}


async def restored(folder: Path) -> dict[str, float]:
    """Restoring any of them."""
    async with memoranda.open(f"sqlite:///{folder}/worlds.db", scope=SCOPE) as memory:
        marks = await memory._handle.parts.ledger.marks("world/")
        numbers, times = Numbers(SEED), []
        for _ in range(RESTORES):
            world = marks[numbers.below(len(marks))].name.removeprefix("world/")
            start = perf_counter()
            await memory.worlds.restore(world)
            times.append(perf_counter() - start)
    times.sort()
    return {
        "restore_ms": median(times) * 1_000,
        "restore_p99_ms": times[int(len(times) * 0.99)] * 1_000,
    }


async def replayed(folder: Path) -> dict[str, float]:
    """Replaying all of them, and the memory that takes: measured after a tenth, and at the end."""
    url = f"sqlite:///{folder}/worlds.db"
    async with memoranda.open(url, scope=SCOPE, app=memoranda.App(domain=large)) as memory:
        total = len(await memory._handle.parts.ledger.marks("execution/"))
        start, done, after_a_tenth = perf_counter(), 0, 0
        async for replay in memory.worlds.replay_branch():
            assert replay.is_same, replay
            done += 1
            if done == max(total // 10, 1):
                after_a_tenth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        elapsed = perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"replayed_per_s": done / elapsed, "growth_mb": (peak - after_a_tenth) / 1024}


async def frozen(_folder: Path) -> dict[str, float]:
    """Freezing a context against copying it."""
    context = [{"id": f"m{n}", "text": "The customer prefers email", "n": n} for n in range(1_000)]
    ours, theirs = [], []
    for _ in range(50):
        start = perf_counter()
        freeze(context)
        ours.append(perf_counter() - start)
        start = perf_counter()
        copy.deepcopy(context)
        theirs.append(perf_counter() - start)
    return {"freeze": median(ours) / median(theirs)}


STEPS: dict[str, Callable[[Path], Any]] = {
    "runs": runs,
    "frozen": frozen,
    "restored": restored,
    "replayed": replayed,
}


def main() -> None:
    """Fill, take each figure in its own process, show and write them."""
    parser = argparse.ArgumentParser(prog="python -m bench.worlds", description=__doc__)
    parser.add_argument("--worlds", type=int, default=10_000)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        print(orjson.dumps(asyncio.run(STEPS[given.step](given.folder))).decode())
        return
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        figures = asyncio.run(filled(Path(folder), given.worlds))
        for step in STEPS:
            command = [sys.executable, "-m", "bench.worlds", "--step", step, "--folder", folder]
            done = subprocess.run(command, check=True, capture_output=True)  # noqa: S603
            figures |= orjson.loads(done.stdout.splitlines()[-1])
    show(f"{given.worlds:,} worlds", AIMS, figures, f"worlds-{given.worlds}")


if __name__ == "__main__":
    main()
