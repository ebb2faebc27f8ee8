"""`python -m bench.recall`: what a recall costs that is traced, verified and journaled.

Beside it, in turns: a raw commit on the same disk, and the ranking alone; so that one can see what
the journal's commit is of it. First of all the one right after the load, before anybody had time to
merge words. Where the model of the extra `meaning` is there, a recall is also made with it, at the
smallest size; and vectors of 100,000 records are compared with a question, whatever is installed.
On SQLite, and on PostgreSQL where ``--postgres`` names a server.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time
from typing import Any

import apsw
import numpy as np
from rich.progress import Progress

import memoranda
from bench.aims import Aim, show
from bench.search import RANKS
from bench.workload import SEED, Numbers, item, vocabulary
from memoranda import Memory
from memoranda.outside.static_model import has_static_model
from memoranda.recall.columns import Columns
from memoranda.recall.question import asked
from memoranda.recall.ranking import RankingMode
from memoranda.stores.scope_vectors import ScopeVectors

SCOPE = "bench"
RECALLS = 200
WARM = 50
BATCH = 1_000
TOP_K = 10
WORDS = 3


def aims(size: str) -> tuple[Aim, ...]:
    """What is wanted at a size."""
    bound = "Python: ranking, ten originals, the trace; one commit with its fsync"
    most = {"10k": 3, "100k": 4, "1000k": 8}.get(size, 8)
    return (
        Aim(f"{size}_ms", f"a recall of {TOP_K} by words at {size}, ms at the median", f"≤ {most}",
            lambda f: f <= most, bound),
        Aim(f"{size}_p99_ms", "the same, at the 99th percentile", "≤ 15", lambda f: f <= 15,
            "merging, checkpoints, the garbage collector"),
        Aim(f"{size}_cpu_ms", "the same, ms of CPU at the median", "", lambda _: True, ""),
        Aim(f"{size}_first_ms", "the first one after the load, ms", "≤ 50", lambda f: f <= 50,
            "reading what is not merged: finding its words"),
        Aim(f"{size}_full_text_ms", "the same by full text", "", lambda _: True, ""),
        Aim(f"{size}_rank_ms", "of it, the ranking in context alone", "", lambda _: True,
            "postings; 64 seeds with their neighbours"),
        Aim(f"{size}_commits", "the recall, in raw commits on the same disk", "", lambda _: True,
            ""),
    )  # fmt: skip


VECTORS = 100_000
OF_VECTORS = Aim("vectors_ms", f"{VECTORS:,} vectors of 256 compared with a question, ms", "≤ 15",
                 lambda f: f <= 15, "100 MB of memory are read")  # fmt: skip
OF_MEANING = Aim("meaning_ratio", "a recall with a model, by words = 1", "≤ 1.5",
                 lambda f: f <= 1.5, "near words of a vocabulary; vectors")  # fmt: skip


async def filled(memory: Memory[Any], size: int) -> float:
    """Remember as many records as that: conversations of twenty, each of one source.

    What the first recall takes, in seconds; then words are merged to the end.
    """
    with Progress() as progress:
        task = progress.add_task(f"remembering {size:,}", total=size)
        for start in range(0, size, BATCH):
            for one in range(start, min(start + BATCH, size), 20):
                texts = [item(number).data["text"] for number in range(one, one + 20)]
                await memory.remember_many(texts, source=f"conversation/{one}")
            progress.advance(task, BATCH)
    start = perf_counter()
    await memory.recall(questions()[0], top_k=TOP_K, selector="words")
    first = perf_counter() - start
    await _settled(memory)
    return first


async def _settled(memory: Memory[Any]) -> None:
    """Wait until the index has all of it, as it has soon after whoever writes pauses."""
    ledger: Any = memory._handle.parts.ledger
    ledger = await ledger.begun()
    while await ledger.words.merge():
        await ledger.words.merge_segments()


def questions() -> list[str]:
    """Three words each, neither the rarest nor such as every record has (`bench.search`: mixed)."""
    words, (lowest, highest) = vocabulary(), RANKS["mixed"]
    numbers = Numbers(SEED)
    return [
        " ".join(words[lowest + numbers.below(highest - lowest)] for _ in range(WORDS))
        for _ in range(RECALLS + WARM)
    ]


async def measured(memory: Memory[Any], size: int, folder: Path) -> dict[str, float]:
    """Recalls, rankings and raw commits in turns."""
    raw = apsw.Connection(str(folder / "raw.db"))
    for sql in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", "CREATE TABLE t (b)"):
        raw.execute(sql).fetchall()
    times: dict[str, list[float]] = {"recall": [], "full": [], "rank": [], "raw": [], "cpu": []}
    for number, question in enumerate(questions()):
        clock = _Clock(times, is_warm=number >= WARM)
        cpu = process_time()
        with clock("recall"):
            found = await memory.recall(question, top_k=TOP_K, selector="words")
        if number >= WARM:
            times["cpu"].append(process_time() - cpu)
        assert found.outcome in ("found", "empty"), found
        assert all(one.verified for one in found)
        with clock("full"):
            await memory.recall(question, top_k=TOP_K, selector="full-text")
        with clock("rank"):
            await memory._handle.parts.ledger.rank(
                RankingMode.CONTEXT, asked(question, at=0), lambda current, _: current, limit=TOP_K
            )
        with clock("raw"), raw:
            raw.execute("INSERT INTO t VALUES (zeroblob(4000))")
    raw.close()
    name = f"{size // 1000}k"
    return {
        f"{name}_ms": median(times["recall"]) * 1e3,
        f"{name}_cpu_ms": median(times["cpu"]) * 1e3,
        f"{name}_p99_ms": quantiles(times["recall"], n=100)[98] * 1e3,
        f"{name}_full_text_ms": median(times["full"]) * 1e3,
        f"{name}_rank_ms": median(times["rank"]) * 1e3,
        f"{name}_commits": median(times["recall"]) / median(times["raw"]),
    }


async def with_model(memory: Memory[Any]) -> float:
    """What a recall with a model takes, times one by words; in turns, once all have vectors."""
    await memory.maintain.embed()
    times: dict[str, list[float]] = {"context": [], "words": []}
    for number, question in enumerate(questions()):
        clock = _Clock(times, is_warm=number >= WARM)
        for selector in times:
            with clock(selector):
                await memory.recall(question, top_k=TOP_K, selector=selector)
    return median(times["context"]) / median(times["words"])


def vectors() -> float:
    """What it takes to compare many vectors with a question, ms at the median."""
    zeros = np.zeros(VECTORS, np.int64)
    columns = Columns()
    numbers = np.arange(VECTORS)
    names = ([""], zeros)
    columns.add_all(numbers, numbers, names, names, zeros.astype(np.uint8), zeros != 0)
    known, drawn = ScopeVectors(256), np.random.default_rng(SEED)
    some = np.zeros((0, 256))
    for first in range(0, VECTORS, BATCH):
        some = drawn.standard_normal((BATCH, 256))
        some /= np.sqrt(np.square(some).sum(axis=1, keepdims=True))
        known.add([(first + n, row.tobytes()) for n, row in enumerate(some.astype("<f4"))])
    asked_for = some[0].astype("<f4").tobytes()
    times = []
    for _ in range(WARM):
        start = perf_counter()
        known.alike(asked_for, columns)
        times.append(perf_counter() - start)
    return median(times) * 1e3


class _Clock:
    def __init__(self, times: dict[str, list[float]], *, is_warm: bool) -> None:
        self._times = times
        self._is_warm = is_warm
        self._what = ""
        self._start = 0.0

    def __call__(self, what: str) -> "_Clock":
        self._what = what
        return self

    def __enter__(self) -> None:
        self._start = perf_counter()

    def __exit__(self, *_: object) -> None:
        if self._is_warm:
            self._times[self._what].append(perf_counter() - self._start)


async def run(sizes: Sequence[int], postgres: str | None) -> None:
    """Measure each size on each database."""
    for place in ("sqlite", *(["postgres"] if postgres else [])):
        figures: dict[str, float] = {}
        for size in sizes:
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                url = postgres if place == "postgres" else f"sqlite:///{folder}/recall.db"
                scope = f"{SCOPE}-{size}"
                async with memoranda.open(url, scope=scope, actor="agent:bench") as memory:
                    first = await filled(memory, size)
                figures[f"{size // 1000}k_first_ms"] = first * 1e3
                async with memoranda.open(url, scope=scope, actor="agent:bench") as memory:
                    figures |= await measured(memory, size, folder)
                    if size == min(sizes) and has_static_model():
                        figures["meaning_ratio"] = await with_model(memory)
        figures["vectors_ms"] = vectors()
        wanted = [aim for size in sizes for aim in aims(f"{size // 1000}k")]
        wanted += [aim for aim in (OF_MEANING, OF_VECTORS) if aim.figure in figures]
        show(f"recall on {place}", wanted, figures, f"recall-{place}")


def main() -> None:
    """Measure, and show it."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="also 1,000,000 records")
    parser.add_argument("--postgres", metavar="URL", help="an empty database of a server")
    options = parser.parse_args()
    sizes = [*options.sizes, 1_000_000] if options.million else options.sizes
    asyncio.run(run(sizes, options.postgres))


if __name__ == "__main__":
    main()
