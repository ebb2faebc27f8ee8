"""`python -m bench.ledger`: what a journal of many entries costs to open, to prove and to verify.

One file is filled; each figure is taken in a process of its own, so that its memory is its own.
A target that is missed is shown as missed; the exit code is 0 all the same.
"""

import argparse
import asyncio
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import orjson
from rich.progress import Progress

import memoranda
from bench.aims import Aim, show
from bench.systems.disk import sqlite_bytes
from bench.systems.memoranda import SCOPE, memoranda_on_sqlite
from bench.workload import SEED, Numbers, chunks
from memoranda.identity.merkle import verify_inclusion
from memoranda.journeys.audit.verify import verify
from memoranda.ledger import tree
from memoranda.ledger.damage import Damages
from memoranda.ledger.port import Ledger
from memoranda.ledger.snapshot import ENTRIES
from memoranda.ledger.walk import Walk

if TYPE_CHECKING:
    from memoranda.ledger.unit import StoredEntry

BATCH = 1_000
PROOFS = 200
IN_MEMORY = 100_000
"""How many entries are walked as bytes that were read before: reading left out."""


AIMS = (
    Aim("bytes", "bytes of file for each record, all indexes", "≤ 1,200", lambda f: f <= 1_200,
        "the object's text, twice its hashes, five indexes"),
    Aim("open_ms", "opening, ms", "< 1,000", lambda f: f < 1_000, "a root: three blocks of 256"),
    Aim("proof_ms", "an inclusion proof, ms", "< 10", lambda f: f < 10,
        "hashing the blocks beside the way"),
    Aim("proof_hashes", "hashes in it, at most", "≤ 20", lambda f: f <= 20, "log2 of the size"),
    Aim("walk_per_s", "entries/s, chain, tree and bodies, on bytes in memory", "≥ 100,000",
        lambda f: f >= 100_000, "four SHA-256 an entry, and Python around them"),
    Aim("first_pass_per_s", "entries/s of the first pass, reading included", "",
        lambda _: True, "SQLite rows and the shorthand"),
    Aim("all_per_s", "entries/s of all of it, rows and index derived", "", lambda _: True,
        "JSON and words of every object"),
    Aim("memory_mb", "memory at most while verifying, MB", "< 200", lambda f: f < 200,
        "chunks of a thousand; a byte for each entry"),
)  # fmt: skip


async def filled(path: Path, entries: int) -> dict[str, float]:
    """Fill a file; how long a record took, and how much room."""
    start = perf_counter()
    with Progress() as progress:
        task = progress.add_task(f"filling {entries:,}", total=entries)
        async with memoranda_on_sqlite(path) as system:
            for chunk in chunks(entries, BATCH):
                await system.create_many(chunk)
                progress.advance(task, len(chunk))
    elapsed = perf_counter() - start
    return {"bytes": sqlite_bytes(path) / entries, "filled_per_s": entries / elapsed}


async def opened(path: Path) -> dict[str, float]:
    """Opening, and proofs."""
    start = perf_counter()
    async with memoranda.open(f"sqlite:///{path}", scope=SCOPE) as memory:
        open_ms = (perf_counter() - start) * 1_000
        times, most = await _proofs(memory._handle.parts.ledger)
        return {"open_ms": open_ms, "proof_ms": median(times) * 1_000, "proof_hashes": most}


async def _proofs(ledger: Ledger) -> tuple[list[float], int]:
    size = (await ledger.head()).size
    root = tree.root(size, await ledger.hashes(tree.blocks_for_root(size)))
    numbers = Numbers(SEED)
    times, most = [], 0
    for _ in range(PROOFS):
        index = numbers.below(size)
        start = perf_counter()
        blocks = await ledger.hashes(tree.blocks_for_inclusion(index, size))
        proof = tree.inclusion(index, size, blocks)
        times.append(perf_counter() - start)
        leaf = tree.leaves([(await ledger.bytes_at([index]))[index]])[0]
        verify_inclusion(leaf=leaf, index=index, size=size, proof=proof, root=root)
        most = max(most, len(proof))
    return times, most


async def verified(path: Path) -> dict[str, float]:
    """Verification: the first pass alone, on bytes in memory; then all of it."""
    async with memoranda.open(f"sqlite:///{path}", scope=SCOPE) as memory:
        start = process_time()
        read = 0
        async with memory._handle.parts.ledger.snapshot() as snapshot:
            head = await snapshot.head()
            walk = Walk(head.origin, Damages())
            async for chunk in snapshot.rows(ENTRIES):
                walk.feed(chunk)
                read += len(chunk)
        first = process_time() - start
        start = process_time()
        report = await verify(memory._handle.parts.ledger)
        all_of_it = process_time() - start
        assert report.is_sound, report.damages
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "first_pass_per_s": read / first,
        "all_per_s": read / all_of_it,
        "memory_mb": peak,
    }


async def walked(path: Path) -> dict[str, float]:
    """The first pass on bytes that are in memory already."""
    async with memoranda.open(f"sqlite:///{path}", scope=SCOPE) as memory:
        kept: list[StoredEntry] = []
        async with memory._handle.parts.ledger.snapshot() as snapshot:
            origin = (await snapshot.head()).origin
            async for chunk in snapshot.rows(ENTRIES):
                kept += chunk
                if len(kept) >= IN_MEMORY:
                    break
    rates = []
    for _ in range(5):
        walk = Walk(origin, Damages())
        start = process_time()
        walk.feed(kept)
        rates.append(len(kept) / (process_time() - start))
    return {"walk_per_s": median(rates)}


STEPS: dict[str, Callable[[Path], Any]] = {
    "opened": opened,
    "walked": walked,
    "verified": verified,
}


def main() -> None:
    """Fill, take each figure in its own process, show and write them."""
    parser = argparse.ArgumentParser(prog="python -m bench.ledger", description=__doc__)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        print(orjson.dumps(asyncio.run(STEPS[given.step](given.file))).decode())
        return
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        path = Path(folder) / "ledger.db"
        figures = asyncio.run(filled(path, given.entries))
        for step in STEPS:
            command = [sys.executable, "-m", "bench.ledger", "--step", step, "--file", str(path)]
            done = subprocess.run(command, check=True, capture_output=True)  # noqa: S603
            figures |= orjson.loads(done.stdout.splitlines()[-1])
    title = f"A journal of {given.entries:,} entries"
    show(title, AIMS, figures, f"ledger-{given.entries}")


if __name__ == "__main__":
    main()
