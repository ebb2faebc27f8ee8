"""`python -m bench.maintenance`: a day of a busy scope on a frozen clock, maintained and not.

Every quarter of an hour an agent writes, some of it twice, some of it for a short while, acts on a
large state and recalls; then the clock moves, and a worker runs what is due while the agent goes on
recalling. What is told: how large it all becomes, and how long recalls take beside jobs.
"""

import argparse
import asyncio
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

import memoranda
from bench.postgres import owned_database, server
from memoranda import App, Clockwork, Domain, Set
from memoranda.policies import MemoryMaintenanceConfig, MemoryRetentionPolicy
from memoranda.testkit.strategies import FrozenClock

QUARTER_MS: Final = 900_000
HOUR_MS: Final = 4 * QUARTER_MS
SCOPE: Final = "busy"

domain = Domain("day", "1")


@domain.action
def shuffle(ctx: Any) -> Set:
    """Another large state: its snapshot is kept whole."""
    rows = [{"row": n, "seed": f"{ctx.random_seed}-{n}"} for n in range(100)]
    return Set("rows", rows)


@dataclass(slots=True)
class Day:
    """What a day came to."""

    active: list[int] = field(default_factory=list)
    """How many records were active at the end of each hour."""
    jobs: Counter[str] = field(default_factory=Counter)
    """How often each job was run."""
    did: Counter[str] = field(default_factory=Counter)
    """What the jobs did, by job and name."""
    outcomes: Counter[str] = field(default_factory=Counter)
    entries: int = 0
    bytes: int = 0
    """The size of the file, if it is one."""
    recall_s: list[float] = field(default_factory=list)
    """How long each recall took that came while a worker was at work, or might have been."""
    job_s: float = 0.0


def policy(most: int) -> MemoryMaintenanceConfig:
    """Six hours, so many records, and no notes to self."""
    retention = MemoryRetentionPolicy(
        max_age=6 * HOUR_MS, max_records=most, ephemeral_tags=["scratch"]
    )
    return MemoryMaintenanceConfig(enabled=True, retention=retention)


async def day(url: str, *, quarters: int, writes: int, most: int, maintained: bool) -> Day:
    """Live through so many quarters of an hour."""
    came_to, clock = Day(), FrozenClock(1_763_000_000_000)
    async with memoranda.connect(url, clockwork=Clockwork(clock)) as db:
        memory = db.scope(SCOPE, actor="agent:busy", app=App(domain=domain))
        if maintained:
            await memory.remember("the day begins")
            await memory.maintain.configure(policy(most), reason="a day of work")
        for quarter in range(quarters):
            for n in range(writes):
                text = f"At {quarter} the customer {n % 7} asked about order {n} for the {n // 2}"
                tags = ["scratch"] if n % 5 == 0 else None
                expires = clock.now_ms() + HOUR_MS if n % 9 == 0 else None
                await memory.remember(text, tags=tags, expires=expires)
                if n % 4 == 0:
                    await memory.remember(text, tags=tags, expires=expires)
            await memory.act("shuffle")
            clock.advance(QUARTER_MS)
            work = asyncio.create_task(_worked(db, came_to)) if maintained else None
            for n in range(5):
                started = perf_counter()
                await memory.recall(f"what did customer {n} ask about?", top_k=3)
                came_to.recall_s.append(perf_counter() - started)
            if work is not None:
                await work
            if quarter % 4 == 3:
                came_to.active.append(await memory.records.count(memoranda.MemoryFilter()))
        came_to.entries = (await memory.journal.head()).size
        assert (await memory.verify()).report.is_sound
    came_to.bytes = _size_of(Path(url.removeprefix("sqlite:///")))
    return came_to


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


async def _worked(db: memoranda.Database, came_to: Day) -> None:
    for run in await db._worker().run_due():
        came_to.jobs[run.job] += 1
        came_to.outcomes[run.outcome] += 1
        came_to.job_s += run.took_ms / 1000
        came_to.did.update({f"{run.job} {name}": count for name, count in run.counts.items()})


async def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.maintenance", description=__doc__)
    parser.add_argument("--writes", type=int, default=200, help="in each quarter of an hour")
    parser.add_argument("--quarters", type=int, default=96)
    parser.add_argument("--most", type=int, default=2_000, help="records that are kept")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server() as started:
        for where in ("SQLite", "PostgreSQL"):
            print(
                f"{where:12} {'active':>8} {'entries':>8} {'MB':>7} {'recall p50':>11} {'p95':>8}"
            )
            for maintained in (False, True):
                url = f"sqlite:///{folder}/{maintained}.db"
                await _told(
                    given, owned_database(started) if where != "SQLite" else url, maintained
                )


async def _told(given: argparse.Namespace, url: str, maintained: bool) -> None:
    found = await day(
        url, quarters=given.quarters, writes=given.writes, most=given.most, maintained=maintained
    )
    recalls = sorted(found.recall_s)
    print(
        f"{'maintained' if maintained else 'left alone':12} {found.active[-1]:8,}"
        f" {found.entries:8,} {found.bytes / 1e6:7.1f} {median(recalls) * 1e3:8.2f} ms"
        f" {recalls[int(len(recalls) * 0.95)] * 1e3:5.2f} ms"
    )
    for name, count in sorted(found.did.items()):
        print(f"  {name}: {count:,}")
    if maintained:
        print(f"  {sum(found.jobs.values())} runs, {found.job_s:.1f} s: {dict(found.jobs)}")


if __name__ == "__main__":
    asyncio.run(_main())
