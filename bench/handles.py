"""`python -m bench.handles`: what handles, requests, `put` and `batch` cost, on both databases.

1. a handle: made and dropped, without I/O
2. a request: a handle is made for a scope that is known, remembers something and is dropped,
   beside the same write on a handle that is held; one after the other, and 200 at once
3. `put` of new and of existing ids, and `batch` of 1,000, beside LangGraph's `aput` and `abatch`

Contenders take turns in one process. A target that is missed is shown as missed; the exit code is
0.
"""

import argparse
import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter

import memoranda
from bench.aims import Aim, show
from bench.postgres import owned_database, server
from bench.systems.langgraph import LangGraph, langgraph_postgres, langgraph_sqlite_wal
from memoranda import Database

HANDLES = 10_000
ACTOR = "agent:bench"
TEXT = "The customer prefers email."
AT_ONCE = 200
MANY = 1_000


def aims() -> list[Aim]:
    """What is wanted, for each database."""
    return [
        Aim(f"{database}_{figure}", f"{database}: {what}", wanted, is_met, bound)
        for database in ("sqlite", "postgres")
        for figure, what, wanted, is_met, bound in (
            ("handle_us", "a handle, made and dropped, µs", "< 20", lambda f: f < 20, "CPU"),
            ("request", "request / write on a held handle", "≤ 1.3", lambda f: f <= 1.3, ""),
            ("held_per_s", f"{AT_ONCE} writes at once on held handles, a second", "",
             lambda _: True, ""),
            ("requests", f"{AT_ONCE} requests at once / held handles (throughput)", "≥ 0.8",
             lambda f: f >= 0.8, ""),
            ("put_new", "put of a new id / LangGraph's aput", "≤ 1", lambda f: f <= 1, "disk"),
            ("put_known", "put of an existing id / aput", "≤ 1", lambda f: f <= 1, "disk"),
            ("batch_new", f"batch of {MANY:,} new / abatch", "", lambda _: True, "CPU"),
            ("batch_known", f"batch of {MANY:,} existing / abatch", "", lambda _: True, "CPU"),
        )
    ]  # fmt: skip


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    """How long it takes, in seconds."""
    started = perf_counter()
    await work()
    return perf_counter() - started


def handle_us(database: Database) -> float:
    """The median over rounds of making and dropping handles."""
    rounds = []
    for _ in range(10):
        started = perf_counter()
        for _ in range(HANDLES // 10):
            database.scope("known", actor=ACTOR)
        rounds.append((perf_counter() - started) / (HANDLES // 10))
    return median(rounds) * 1e6


async def requests(database: Database, rounds: int) -> dict[str, float]:
    """Requests beside held handles, in turns."""
    held = database.scope("known", actor=ACTOR)
    await held.remember(TEXT)
    on_held, fresh = [], []
    for _ in range(rounds):
        on_held.append(await timed(lambda: held.remember(TEXT)))
        fresh.append(await timed(lambda: database.scope("known", actor=ACTOR).remember(TEXT)))
    scopes = [f"user-{number}" for number in range(AT_ONCE)]
    many = {scope: database.scope(scope, actor=ACTOR) for scope in scopes}
    await asyncio.gather(*(memory.remember(TEXT) for memory in many.values()))
    held_s, fresh_s = [], []

    async def on_held_handles() -> None:
        await asyncio.gather(*(one.remember(TEXT) for one in many.values()))

    async def by_requests() -> None:
        fresh = (database.scope(one, actor=ACTOR) for one in scopes)
        await asyncio.gather(*(one.remember(TEXT) for one in fresh))

    for number in range(max(rounds // 4, 4)):  # who is first meets what the other left to do
        for one in ("held", "fresh") if number % 2 else ("fresh", "held"):
            if one == "held":
                held_s.append(await timed(on_held_handles))
            else:
                fresh_s.append(await timed(by_requests))
    return {
        "request": median(fresh) / median(on_held),
        "held_per_s": AT_ONCE / median(held_s),
        "requests": median(held_s) / median(fresh_s),
    }


async def puts(database: Database, peer: LangGraph, rounds: int) -> dict[str, float]:
    """Our `put` and `batch` beside theirs, in turns."""
    memory = database.scope("puts", actor=ACTOR)
    await memory.put("first", {"text": TEXT})
    times: dict[str, list[float]] = {}

    async def both(
        name: str, ours: Callable[[], Awaitable[object]], theirs: Callable[[], Awaitable[object]]
    ) -> None:
        times.setdefault(f"{name}_ours", []).append(await timed(ours))
        times.setdefault(f"{name}_theirs", []).append(await timed(theirs))

    for number in range(rounds):
        for name, value in (("put_new", 1), ("put_known", 2)):
            data = {"text": TEXT, "n": number, "v": value}
            await both(
                name,
                partial(memory.put, f"one-{number}", data),
                partial(peer.put, f"one-{number}", data),
            )
    for number in range(max(rounds // 40, 3)):
        for name, value in (("batch_new", 1), ("batch_known", 2)):
            given = {f"{number}-{n}": {"text": TEXT, "n": n, "v": value} for n in range(MANY)}

            async def ours(given: dict[str, dict[str, object]] = given) -> None:
                async with memory.batch() as batch:
                    for id, data in given.items():
                        batch.put(id, data)

            await both(name, ours, partial(peer.put_many, given))
    return {
        name: median(times[f"{name}_ours"]) / median(times[f"{name}_theirs"])
        for name in ("put_new", "put_known", "batch_new", "batch_known")
    }


@asynccontextmanager
async def contenders(folder: Path) -> AsyncIterator[dict[str, tuple[str, LangGraph]]]:
    """Ours by URL, and theirs, for each database."""
    with server() as started:
        async with (
            langgraph_sqlite_wal(folder / "theirs.db") as on_sqlite,
            langgraph_postgres(owned_database(started)) as on_postgres,
        ):
            yield {
                "sqlite": (f"sqlite:///{folder}/ours.db", on_sqlite),
                "postgres": (owned_database(started), on_postgres),
            }


async def measured(folder: Path, rounds: int) -> dict[str, float]:
    """All figures."""
    figures: dict[str, float] = {}
    async with contenders(folder) as found:
        for name, (url, peer) in found.items():
            async with memoranda.connect(url) as database:
                one = {"handle_us": handle_us(database)}
                one |= await requests(database, rounds)
                one |= await puts(database, peer, rounds)
            figures |= {f"{name}_{figure}": value for figure, value in one.items()}
    return figures


def main() -> None:
    """Measure, show and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        figures = asyncio.run(measured(Path(folder), parser.parse_args().rounds))
    show("handles, put and batch", aims(), figures, "handles")


if __name__ == "__main__":
    main()
