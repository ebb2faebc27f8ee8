"""`python -m bench.cost`: what a scope, a memory and a recall cost, for docs/growing.md.

Bytes are those of the closed file, or of the database as PostgreSQL counts it; time is CPU time of
this process, so that other work on the machine hardly counts. Each is a difference between two
sizes: what every database costs once is no part of it. Written to `bench/results/cost.json`.
"""

import argparse
import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import orjson
import psycopg

import memoranda
from bench.aims import RESULTS
from bench.postgres import owned_database, server
from bench.workload import item

FEW_SCOPES, MANY_SCOPES = 50, 550
FEW, MANY = 1_000, 11_000
RECALLS = 200
WRITES = 300
WORDS = 6
BATCH = 1_000
_MILLI = 1_000


def texts(first: int, last: int) -> list[str]:
    """Texts of 22 words, no two alike."""
    return [str(item(number).data["text"]) for number in range(first, last)]


async def scopes(url: str, first: int, last: int) -> None:
    """Scopes with one memory each."""
    async with memoranda.connect(url) as database:
        for number in range(first, last):
            await database.scope(f"tenant-{number}", actor="agent:a").remember("prefers email")


async def memories(url: str, first: int, last: int) -> None:
    """So many memories in one scope, in batches."""
    async with memoranda.open(url, scope="one", actor="agent:a") as memory:
        for start in range(first, last, BATCH):
            await memory.remember_many(texts(start, min(start + BATCH, last)))


async def one_by_one(url: str, first: int) -> float:
    """CPU milliseconds of one write that is alone, its words indexed with it."""
    async with memoranda.open(url, scope="one", actor="agent:a") as memory:
        start = process_time()
        for text in texts(first, first + WRITES):
            await memory.remember(text)
    return (process_time() - start) / WRITES * _MILLI


async def recalls(url: str) -> float:
    """CPU milliseconds of a recall of ten."""
    async with memoranda.open(url, scope="one", actor="agent:a") as memory:
        asked = texts(10**6, 10**6 + RECALLS)
        questions = [" ".join(text.split()[:WORDS]) for text in asked]
        await memory.recall(questions[0], top_k=10)
        start = process_time()
        for question in questions:
            await memory.recall(question, top_k=10)
        return (process_time() - start) / RECALLS * _MILLI


async def measured(url: str, size: Callable[[], int]) -> dict[str, float]:
    """What each thing costs on one database."""
    found: dict[str, float] = {}
    await scopes(url, 0, FEW_SCOPES)
    before = size()
    await scopes(url, FEW_SCOPES, MANY_SCOPES)
    found["scope_bytes"] = (size() - before) / (MANY_SCOPES - FEW_SCOPES)
    await memories(url, 0, FEW)
    found["recall_ms_few"] = await recalls(url)
    before = size()
    await memories(url, FEW, MANY)
    found["memory_bytes"] = (size() - before) / (MANY - FEW)
    before = size()
    found["recall_ms_many"] = await recalls(url)
    found["recall_bytes"] = (size() - before) / (RECALLS + 1)
    found["remember_ms"] = await one_by_one(url, MANY)
    return found


def postgres_size(url: str) -> int:
    """Bytes of the tables, after what can be freed is free."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM")
        row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row is not None
    return int(row[0])


def main() -> None:
    """Measure both databases, and write it down."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cost.db"
        sqlite = asyncio.run(measured(str(file), lambda: file.stat().st_size))
    with server() as started:
        url = owned_database(started)
        postgres = asyncio.run(measured(url, lambda: postgres_size(url)))
    document = {"few": FEW, "many": MANY, "sqlite": sqlite, "postgresql": postgres}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "cost.json").write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n")
    print(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


if __name__ == "__main__":
    main()
