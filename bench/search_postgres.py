"""`python -m bench.search_postgres`: the ranking of one scope on PostgreSQL, against its own.

The same records in the same server: memoranda's index of words with row-level security, and a table
of one scope with the words as a `tsvector` under GIN, ranked by `ts_rank`. Ten results of each, in
turns. `ts_rank` reads every row that has a word, and knows no statistics of a scope: it is what
one would write by hand, not the same ranking.
"""

import argparse
import asyncio
from collections.abc import Awaitable, Callable, Sequence
from statistics import median
from time import perf_counter
from typing import Any

import psycopg
from rich.progress import track

import memoranda
from bench.aims import Aim, show
from bench.postgres import owned_database, server
from bench.systems.memoranda import SCOPE
from bench.workload import SEED, Numbers
from memoranda.app.memory import Memory
from memoranda.ledger.unit import Current
from memoranda.recall.bm25 import Scored
from memoranda.recall.question import asked
from memoranda.recall.ranking import RankingMode
from memoranda.stores.postgres.ledger import PostgresLedger

WORDS = 29
VOCABULARY = 50_000
TOP_K = 10
ROUNDS = 40
WARM = 5
AT_ONCE = 1_000

QUESTIONS = {
    "rare": ((20_000, 1), (21_000, 1), (33_333, 1)),
    "mixed": ((3_000, 50), (100, 20), (7, 5)),
    "common": ((0, 2), (2, 2), (4, 2)),
}
"""Words by their place among the most frequent, and from how many beside it one is taken."""

INDEX_BYTES = """
SELECT sum(pg_total_relation_size('memoranda.' || name))
FROM unnest(ARRAY['postings', 'segments', 'threads']) AS n (name)
"""
RAW_BYTES = "SELECT pg_relation_size('raw_tsv'), pg_column_size(tsv) FROM raw LIMIT 1"
RANKED = """
SELECT seq FROM raw, to_tsquery('simple', %s) q WHERE tsv @@ q
ORDER BY ts_rank(tsv, q) DESC LIMIT 10
"""


def aims(size: int) -> list[Aim]:
    """What is wanted."""
    found = [
        Aim(f"{kind}_{what}", f"{kind} words, {told}", wanted, is_met, bound)
        for kind in QUESTIONS
        for what, told, wanted, is_met, bound in (
            ("ratio", "times ts_rank", "≤ 2", lambda f: f <= 2, "postings added up in Python"),
            ("ms", "ms at the median", "", lambda _: True, "five trips to the server"),
            ("raw_ms", "ts_rank, ms", "", lambda _: True, "a row read for each hit"),
        )
    ]
    return [
        *found,
        Aim("merge_us", "merging, µs for each record", "", lambda _: True, "finding its words"),
        Aim("bytes", f"bytes of index for each of {size:,}", "", lambda _: True,
            "four bytes a posting, a row for each rare word"),
        Aim("raw_bytes", "of the tsvector and its GIN", "", lambda _: True, ""),
    ]  # fmt: skip


def text(number: int) -> str:
    """What a record says: words by their frequency in ordinary texts."""
    numbers = Numbers(SEED + number)
    words = (int((VOCABULARY + 1) ** (numbers.below(10**9) / 10**9)) - 1 for _ in range(WORDS))
    return " ".join(f"w{word}" for word in words)


def questions(kind: str) -> list[str]:
    """Some questions of a kind."""
    numbers = Numbers(SEED)
    return [
        " ".join(f"w{at + numbers.below(beside)}" for at, beside in QUESTIONS[kind])
        for _ in range(ROUNDS + WARM)
    ]


async def filled(memory: Memory[Any], raw: psycopg.Connection[Any], size: int) -> float:
    """Fill both; how many seconds the merging took."""
    index = (await _ledger(memory)).words
    raw.execute("CREATE TABLE raw (seq bigint PRIMARY KEY, tsv tsvector NOT NULL)")
    raw.execute("CREATE INDEX raw_tsv ON raw USING gin (tsv)")
    merging = 0.0
    for first in track(range(0, size, AT_ONCE), "writing"):
        said = [text(number) for number in range(first, min(size, first + AT_ONCE))]
        await memory.remember_many(said)
        start = perf_counter()
        while await index.merge():
            await index.merge_segments()
        while await index.merge_segments():
            pass
        merging += perf_counter() - start
        with raw.cursor() as cursor:
            rows = [(first + number, one) for number, one in enumerate(said)]
            cursor.executemany("INSERT INTO raw VALUES (%s, to_tsvector('simple', %s))", rows)
    raw.execute("VACUUM ANALYZE raw")
    return merging


async def measured(
    memory: Memory[Any], raw: psycopg.Connection[Any], size: int
) -> dict[str, float]:
    """Rankings of both in turns."""
    ledger, figures = await _ledger(memory), dict[str, float]()

    async def ours(question: str) -> int:
        ranking = await ledger.rank(RankingMode.FULL_TEXT, asked(question), _id, limit=TOP_K)
        return len(ranking.made)

    async def theirs(question: str) -> int:
        return len(raw.execute(RANKED, (question.replace(" ", " | "),), prepare=True).fetchall())

    for kind in QUESTIONS:
        mine, plain = await _in_turns(questions(kind), (ours, theirs))
        figures |= {
            f"{kind}_ratio": mine / plain,
            f"{kind}_ms": mine * 1e3,
            f"{kind}_raw_ms": plain * 1e3,
        }
    ((index_bytes,),) = raw.execute(INDEX_BYTES).fetchall()
    ((gin, column),) = raw.execute(RAW_BYTES).fetchall()
    return figures | {"bytes": float(index_bytes) / size, "raw_bytes": gin / size + column}


async def _in_turns(
    asked_for: Sequence[str], searches: Sequence[Callable[[str], Awaitable[int]]]
) -> list[float]:
    times: list[list[float]] = [[] for _ in searches]
    for number, question in enumerate(asked_for):
        for search, taken in zip(searches, times, strict=True):
            start = perf_counter()
            await search(question)
            if number >= WARM:
                taken.append(perf_counter() - start)
    return [median(taken) for taken in times]


async def _ledger(memory: Memory[Any]) -> PostgresLedger:
    ledger: Any = memory._handle.parts.ledger
    if not isinstance(ledger, PostgresLedger):
        ledger = await ledger.begun()  # the scope is new
    assert isinstance(ledger, PostgresLedger)
    return ledger


def _id(current: Current, _: Scored) -> str:
    return current.id


async def run(size: int) -> None:
    """Fill, measure and show."""
    with server() as started:
        url = owned_database(started)
        with psycopg.connect(url, autocommit=True) as raw:
            async with memoranda.open(url, scope=SCOPE, actor="agent:bench") as memory:
                merging = await filled(memory, raw, size)
                figures = await measured(memory, raw, size)
    figures["merge_us"] = merging / size * 1e6
    title = f"ranking {size:,} records on PostgreSQL"
    show(title, aims(size), figures, f"search-postgres-{size}")


def main() -> None:
    """Measure, and show it."""
    parser = argparse.ArgumentParser(prog="python -m bench.search_postgres", description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    asyncio.run(run(parser.parse_args().size))


if __name__ == "__main__":
    main()
