"""`python -m bench.adapters`: our LangGraph store beside LangGraph's own, called in the same way.

The same items in both, and the same calls of `BaseStore` in turns, in one process: CPU time of this
process, and the time that passed, the best round of each. Of PostgreSQL the server's own CPU is in
the time that passed alone. Ours governs, journals and indexes each put; theirs keeps a table.

A target that is missed is shown as missed; the exit code is 0 all the same.
"""

import argparse
import asyncio
import gc
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Final, NamedTuple

from langgraph.store.base import BaseStore, GetOp, PutOp
from langgraph.store.postgres.aio import AsyncPostgresStore
from langgraph.store.sqlite.aio import AsyncSqliteStore

import memoranda
from bench.aims import Aim, show
from bench.postgres import owned_database, server
from bench.workload import chunks
from memoranda.integrations import MemorandaStore

ROOT: Final = "all"
ROUNDS, FEW, MANY = 7, 50, 1_000
Work = Callable[[BaseStore, int], Awaitable[Any]]


class Case(NamedTuple):
    """What is measured, and how often it is done in a round."""

    what: str
    most: float
    """How many times theirs it may take."""
    times: int
    work: Work


def value(number: int) -> dict[str, Any]:
    """An item: a hundred sessions, a thousand turns."""
    return {
        "session": f"session-{number % 100:03}", "turn": number % 1_000, "speaker": "user",
        "text": f"The customer said, for the {number}th time, that email is the way to reach them",
    }  # fmt: skip


def place(number: int) -> tuple[tuple[str, ...], str]:
    """Its namespace and key."""
    return (ROOT, f"session-{number % 100:03}"), f"k{number}"


async def put(store: BaseStore, start: int) -> None:
    for number in range(start, start + FEW):
        await store.aput(*place(number), value(number))


async def put_many(store: BaseStore, start: int) -> None:
    await store.abatch([PutOp(*place(n), value(n)) for n in range(start, start + MANY)])


async def get_many(store: BaseStore, _: int) -> None:
    await store.abatch([GetOp(*place(number)) for number in range(FEW)])


async def get(store: BaseStore, _: int) -> None:
    for number in range(FEW):
        await store.aget(*place(number))


def search(prefix: tuple[str, ...], filter: dict[str, Any] | None = None) -> Work:
    async def work(store: BaseStore, _: int) -> None:
        for _ in range(FEW // 10):
            await store.asearch(prefix, filter=filter, limit=10)

    return work


async def list_namespaces(store: BaseStore, _: int) -> None:
    for _ in range(FEW // 10):
        await store.alist_namespaces()


NEW = 10**6
CASES: Final[Mapping[str, Case]] = {
    "put_new": Case("put, new", 1, FEW, lambda s, n: put(s, NEW + n * FEW)),
    "put_known": Case("put, known", 1, FEW, lambda s, n: put(s, n * FEW)),
    "get": Case("get", 1, FEW, get),
    "get_many": Case("batch of 50 gets", 2, 1, get_many),
    "batch_new": Case("batch of 1,000, new", 2, 1, lambda s, n: put_many(s, 2 * NEW + n * MANY)),
    "batch_known": Case("batch of 1,000, known", 2, 1, lambda s, _: put_many(s, 0)),
    "search": Case("search a namespace", 2, FEW // 10, search((ROOT, "session-042"))),
    "filter": Case("filter, 1 % fits", 2, FEW // 10, search((ROOT,), {"session": "session-042"})),
    "filter_range": Case(
        "filter by a range, 1 % fits", 2, FEW // 10, search((ROOT,), {"turn": {"$gte": 990}})
    ),
    "filter_none": Case(
        "filter, none fits", 2, FEW // 10, search((ROOT,), {"session": "session-999"})
    ),
    "namespaces": Case("list namespaces", 2, FEW // 10, list_namespaces),
}


def aims(systems: list[str]) -> list[Aim]:
    """What is wanted: how long each takes in times of LangGraph's."""

    def at_most(most: float) -> Callable[[float], bool]:
        return lambda reached: reached <= most

    return [
        Aim(
            f"{system}_{name}{unit}", f"{system}, {case.what}, {said}",
            f"≤ {case.most:g}" if counts else "", at_most(case.most), "",
        )
        for system in systems
        for name, case in CASES.items()
        for unit, said, counts in (
            ("", "times LangGraph's CPU", system == "SQLite"),
            ("_wall", "times LangGraph's time", system != "SQLite"),
            ("_ms", "ms of CPU", False),
        )
    ]  # fmt: skip


async def measured(system: str, ours: BaseStore, theirs: BaseStore, size: int) -> dict[str, float]:
    """The figures of one database."""
    for some in chunks(size, MANY):
        for store in (ours, theirs):
            numbers = [one.number for one in some]
            await store.abatch([PutOp(*place(number), value(number)) for number in numbers])
    figures = {}
    gc.disable()
    for name, case in CASES.items():
        best = [(float("inf"), float("inf"))] * 2
        for turn in range(ROUNDS + 1):
            for which, store in enumerate((ours, theirs)):
                cpu, wall = process_time(), perf_counter()
                await case.work(store, turn)
                taken = process_time() - cpu, perf_counter() - wall
                if turn:  # the first is for warming up
                    best[which] = min(best[which][0], taken[0]), min(best[which][1], taken[1])
        figures[f"{system}_{name}"] = best[0][0] / best[1][0]
        figures[f"{system}_{name}_wall"] = best[0][1] / best[1][1]
        figures[f"{system}_{name}_ms"] = best[0][0] / case.times * 1e3
    gc.enable()
    return figures


async def on_sqlite(folder: Path, size: int) -> dict[str, float]:
    """Both as they are opened: theirs keeps a rollback journal, synchronous=FULL."""
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(memoranda.open(folder / "memoranda.db"))
        opened = AsyncSqliteStore.from_conn_string(str(folder / "langgraph.db"))
        theirs = await stack.enter_async_context(opened)
        await theirs.setup()
        return await measured("SQLite", MemorandaStore(memory), theirs, size)


async def on_postgres(url: str, other: str, size: int) -> dict[str, float]:
    """Both on a database of the same server."""
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(memoranda.open(url))
        opened = AsyncPostgresStore.from_conn_string(other)
        theirs = await stack.enter_async_context(opened)
        await theirs.setup()
        return await measured("PostgreSQL", MemorandaStore(memory), theirs, size)


def main() -> None:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(prog="python -m bench.adapters", description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    size = parser.parse_args().records
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        figures = asyncio.run(on_sqlite(Path(folder), size))
    with server() as started:
        urls = owned_database(started), owned_database(started)
        figures |= asyncio.run(on_postgres(*urls, size))
    show(f"LangGraph's store over {size:,} items", aims(["SQLite", "PostgreSQL"]), figures,
         f"adapters-{size}")  # fmt: skip


if __name__ == "__main__":
    main()
