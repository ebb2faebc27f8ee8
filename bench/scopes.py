"""`python -m bench.scopes`: one process with thousands of scopes, on both databases.

1. 1,000 scopes are written to once each, and all are closed: their checkpoints are made together
2. 10,000 scopes are held open and written to. Then all checkpoints come due at once, while one
   caller writes on and on to another scope: how long its writes take, beside how long they took
   before
3. all 10,000 are written to again, and closed

Checkpoints are signed, where the extra `sign` is there, and kept by an anchor that is a file. A
target that is missed is shown as missed; the exit code is 0.
"""

import argparse
import asyncio
import multiprocessing
import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import psycopg

import memoranda
from bench.aims import Aim, show
from bench.load import Moment
from bench.postgres import owned_database, server
from memoranda import Database, Memory
from memoranda.journeys.audit.checkpoints import Seal
from memoranda.kernel.errors import DependencyMissing
from memoranda.outside.anchors import FileAnchor
from memoranda.outside.keys import Ed25519Signer

FEW = 1_000
MANY = 10_000
AT_ONCE = 50
BEFORE_S = 3.0
"""How long the caller writes before the checkpoints come due."""

_PAGE = os.sysconf("SC_PAGE_SIZE")


def aims(few: int, many: int) -> list[Aim]:
    """What is wanted, for each database."""
    return [
        Aim(f"{database}_{figure}", f"{database}: {what}", wanted, is_met, bound)
        for database in ("sqlite", "postgres")
        for figure, what, wanted, is_met, bound in (
            ("close_few_s", f"{few:,} used scopes closed, s", "< 1", lambda f: f < 1,
             "three waits for the disk, for 250"),
            ("close_few_cpu_s", "the same, s of this process's CPU", "", lambda _: True,
             "a root, a signature and two canonical texts each"),
            ("open_us", f"a new scope opened and written to, µs each of {many:,}", "",
             lambda _: True, f"{AT_ONCE} at once"),
            ("kib", "memory, KiB a held handle", "", lambda _: True, ""),
            ("connections", "connections, or files open", "", lambda _: True, ""),
            ("batch_s", f"{many:,} checkpoints come due, s until all are made", "",
             lambda _: True, ""),
            ("p50_before_ms", "a write elsewhere before, ms at the median", "", lambda _: True, ""),
            ("p50_during_ms", "the same meanwhile", "", lambda _: True, ""),
            ("p99_before_ms", "a write elsewhere before, p99 ms", "", lambda _: True, ""),
            ("p99_during_ms", "the same meanwhile", "", lambda _: True, ""),
            ("worst_before_ms", "the worst before, ms", "", lambda _: True, ""),
            ("worst_during_ms", "the worst meanwhile, ms", "< 100", lambda f: f < 100,
             "one portion of the batch"),
            ("close_many_s", f"{many:,} used scopes closed, s", "", lambda _: True, ""),
            ("others", "what other processes did meanwhile, cores", "", lambda _: True, ""),
        )
    ]  # fmt: skip


def seal_in(folder: Path) -> Seal:
    """One that signs and keeps, and makes no checkpoint before it is told to."""
    signers: list[Ed25519Signer] = []
    with suppress(DependencyMissing):
        signers = [Ed25519Signer.generate("example.org/bench")]
    anchors = [FileAnchor(folder / "anchor")]
    return Seal(signers, anchors, every_entries=1_000_000, every_seconds=100_000)


async def each(scopes: Sequence[Memory[Any]], text: str) -> None:
    """Write to each of these once, several at a time."""
    for start in range(0, len(scopes), AT_ONCE):
        await asyncio.gather(*(one.remember(text) for one in scopes[start : start + AT_ONCE]))


async def filled(database: Database, number: int) -> list[Memory[Any]]:
    """So many scopes of a database, each written to once."""
    scopes = [database.scope(f"user-{n:05}", actor="agent:bench") for n in range(number)]
    await each(scopes, "The customer prefers email.")
    return scopes


async def closed(url: str, number: int, folder: Path) -> dict[str, float]:
    """How long it takes to close scopes that were written to."""
    database = await memoranda.connect(url, seal=seal_in(folder))
    await filled(database, number)
    started, used = perf_counter(), process_time()
    await database.close()
    taken = perf_counter() - started
    return {"close_few_s": taken, "close_few_cpu_s": process_time() - used}


async def crowded(url: str, number: int, folder: Path) -> dict[str, float]:
    """A caller writes while the checkpoints of many scopes come due."""
    before = rss_kib()
    database = await memoranda.connect(url, seal=seal_in(folder))
    caller = database.scope("caller", actor="agent:bench")
    await caller.remember("first")
    started = perf_counter()
    scopes = await filled(database, number)
    opened = perf_counter() - started
    figures = {
        "open_us": opened / number * 1e6,
        "kib": (rss_kib() - before) / number,
        "connections": connections(url),
    }
    calm: list[float] = []
    started = perf_counter()
    while perf_counter() - started < BEFORE_S:
        calm.append(await timed(caller))
    checkpointer = database._connected.checkpointer
    assert checkpointer is not None
    started = perf_counter()
    checkpointer._all_are_due()
    crowd: list[float] = []
    while checkpointer._making is not None:
        crowd.append(await timed(caller))
    figures["batch_s"] = perf_counter() - started
    for what, found in (("before", calm), ("during", crowd)):
        found.sort()
        figures[f"p50_{what}_ms"] = found[len(found) // 2]
        figures[f"p99_{what}_ms"] = found[len(found) * 99 // 100]
        figures[f"worst_{what}_ms"] = found[-1]
    await each(scopes, "And calls on Mondays.")
    started = perf_counter()
    await database.close()
    return {**figures, "close_many_s": perf_counter() - started}


async def timed(memory: Memory[Any]) -> float:
    """How long a write takes, in milliseconds."""
    started = perf_counter()
    await memory.remember("The caller writes on.")
    return (perf_counter() - started) * 1e3


def rss_kib() -> float:
    """The memory that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE / 1024


def connections(url: str) -> int:
    """How many connections to PostgreSQL are open, or how many files."""
    if url.startswith("sqlite"):
        place = url.removeprefix("sqlite:///")
        files = os.listdir("/proc/self/fd")  # noqa: PTH208 - all of them, before any is read
        links = (f"/proc/self/fd/{one}" for one in files)
        return sum(os.path.realpath(one).startswith(place) for one in links)
    with psycopg.connect(url) as connection:
        asked = "SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()"
        ((count,),) = connection.execute(asked).fetchall()
    return int(count)


def measured(urls: tuple[str, str], few: int, many: int, folder: Path) -> dict[str, float]:
    """All figures of one database, with a fresh one for each part."""
    began = Moment.now()
    places = [folder / "few", folder / "many"]
    for place in places:
        place.mkdir(parents=True)
    figures = asyncio.run(closed(urls[0], few, places[0]))
    figures |= asyncio.run(crowded(urls[1], many, places[1]))
    return {**figures, "others": began.others_until(Moment.now())}


def main() -> None:
    """Measure, show, and write the results."""
    parser = argparse.ArgumentParser(prog="python -m bench.scopes", description=__doc__)
    parser.add_argument("--few", type=int, default=FEW)
    parser.add_argument("--many", type=int, default=MANY)
    options = parser.parse_args()
    few, many = options.few, options.many
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name, server() as started:
        folder = Path(name)
        urls = {
            "sqlite": (f"sqlite:///{folder}/few.db", f"sqlite:///{folder}/many.db"),
            "postgres": (owned_database(started), owned_database(started)),
        }
        for database, places in urls.items():
            # In a process of its own: what was freed before would hide what it takes.
            with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
                found = process.submit(measured, places, few, many, folder / database).result()
            figures |= {f"{database}_{key}": value for key, value in found.items()}
    show("Many scopes in one process", aims(few, many), figures, "scopes")


if __name__ == "__main__":
    main()
