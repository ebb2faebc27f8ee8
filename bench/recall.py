"""`python -m bench.recall`: what a recall costs that is traced, verified and journaled.

Beside it, in turns: a raw commit on the same disk, and the ranking alone; so that one can see what
the journal's commit is of it. On SQLite, and on PostgreSQL where ``--postgres`` names a server.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from typing import Any

import apsw
from rich.progress import Progress

import memoranda
from bench.aims import Aim, show
from bench.search import RANKS
from bench.workload import SEED, Numbers, item, vocabulary
from memoranda import Memory
from memoranda.recall.question import asked
from memoranda.recall.ranking import RankingMode

SCOPE = "bench"
RECALLS = 200
WARM = 50
BATCH = 1_000
TOP_K = 10
WORDS = 3


def aims(size: str) -> tuple[Aim, ...]:
    """What is wanted at a size."""
    bound = "one commit with its fsync; ten inclusion proofs; ranking"
    return (
        Aim(f"{size}_ms", f"a recall of {TOP_K} at {size}, ms at the median", "< 5",
            lambda f: f < 5, bound),
        Aim(f"{size}_p99_ms", "the same, at the 99th percentile", "", lambda _: True, ""),
        Aim(f"{size}_full_text_ms", "the same by full text", "", lambda _: True, ""),
        Aim(f"{size}_rank_ms", "of it, the ranking in context alone", "", lambda _: True,
            "postings; 64 seeds with their neighbours"),
        Aim(f"{size}_commits", "the recall, in raw commits on the same disk", "", lambda _: True,
            ""),
    )  # fmt: skip


async def filled(memory: Memory[Any], size: int) -> None:
    """Remember as many records as that: conversations of twenty, each of one source; and settle."""
    with Progress() as progress:
        task = progress.add_task(f"remembering {size:,}", total=size)
        for start in range(0, size, BATCH):
            for first in range(start, min(start + BATCH, size), 20):
                texts = [item(number).data["text"] for number in range(first, first + 20)]
                await memory.remember_many(texts, source=f"conversation/{first}")
            progress.advance(task, BATCH)
    await _settled(memory)


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
    times: dict[str, list[float]] = {"recall": [], "full": [], "rank": [], "raw": []}
    for number, question in enumerate(questions()):
        clock = _Clock(times, is_warm=number >= WARM)
        with clock("recall"):
            found = await memory.recall(question, top_k=TOP_K)
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
        f"{name}_p99_ms": quantiles(times["recall"], n=100)[98] * 1e3,
        f"{name}_full_text_ms": median(times["full"]) * 1e3,
        f"{name}_rank_ms": median(times["rank"]) * 1e3,
        f"{name}_commits": median(times["recall"]) / median(times["raw"]),
    }


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
                    await filled(memory, size)
                async with memoranda.open(url, scope=scope, actor="agent:bench") as memory:
                    figures |= await measured(memory, size, folder)
        wanted = [aim for size in sizes for aim in aims(f"{size // 1000}k")]
        show(f"recall on {place}", wanted, figures, f"recall-{place}")


def main() -> None:
    """Measure, and show it."""
    parser = argparse.ArgumentParser(prog="python -m bench.recall", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--postgres", metavar="URL", help="an empty database of a server")
    options = parser.parse_args()
    asyncio.run(run(options.sizes, options.postgres))


if __name__ == "__main__":
    main()
