"""`python -m bench.filters`: filters over data and over tags by prefix, against LangGraph's stores.

The same records in both, asked the same questions in turns, in one process: ten results of each,
newest first, and the shortest time of each. LangGraph has no tags, so a record's tag is its
namespace there. What fits is one in a hundred, or nothing: then each store has to look at all.

A target that is missed is shown as missed; the exit code is 0 all the same.
"""

import argparse
import asyncio
import gc
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import memoranda
from bench.aims import Aim, show
from bench.postgres import owned_database, server
from bench.systems.langgraph import LangGraph, langgraph_postgres, langgraph_sqlite_wal
from bench.systems.memoranda import SCOPE
from bench.workload import Item, chunks
from memoranda import Memory, MemoryFilter, MemoryRecordInput

LIMIT: Final = 10
AT_ONCE: Final = 1_000
ROUNDS: Final = 15
ALL: Final = "all"

QUESTIONS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "equal": ("one value, 1 % fits", {"session": "session-042"}),
    "equal_none": ("one value, none fits", {"session": "session-999"}),
    "two": ("two values, 0.5 % fits", {"session": "session-042", "speaker": "user"}),
    "range": ("a range, 1 % fits", {"turn": {"$gte": 100, "$lt": 200}}),
    "range_none": ("a range, none fits", {"turn": {"$lt": -1}}),
}
"""Filters of data, as LangGraph writes them."""
PREFIXES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "tags": ("tags by prefix, 1 % fits", (ALL, "session-042")),
    "tags_all": ("tags by prefix, all fit", (ALL,)),
    "tags_none": ("tags by prefix, none fits", (ALL, "session-999")),
}
Ask = Callable[[], Awaitable[Any]]


def aims(systems: list[str]) -> list[Aim]:
    """What is wanted: of each question, how long it takes in times of LangGraph's."""
    return [
        Aim(f"{system}_{name}{unit}", f"{system}, {what}, {measured}", wanted, is_met, "")
        for system in systems
        for name, (what, _) in {**QUESTIONS, **PREFIXES}.items()
        for unit, measured, wanted, is_met in (
            ("", "times LangGraph", "≤ 2", lambda f: f <= 2),
            ("_ms", "ms", "", lambda _: True),
        )
    ]


def _namespace(item: Item) -> tuple[str, str, str]:
    return (ALL, item.data["session"], item.data["speaker"])


async def _fill(memory: Memory[Any], other: LangGraph, size: int) -> None:
    for some in chunks(size, AT_ONCE):
        await memory.records.create_many(
            [
                MemoryRecordInput(
                    data=item.data, created_at=item.created_at, tags=("/".join(_namespace(item)),)
                )
                for item in some
            ]
        )
        await other.put_all([(_namespace(item), item.id, item.data) for item in some])


def _questions(memory: Memory[Any], other: LangGraph) -> dict[str, tuple[Ask, Ask]]:
    def by_data(wanted: Mapping[str, Any]) -> tuple[Ask, Ask]:
        where = {f"data.{name}": value for name, value in wanted.items()}
        return (
            lambda: memory.records.query(MemoryFilter(where=where, limit=LIMIT)),
            lambda: other.search((ALL,), dict(wanted), LIMIT),
        )

    def by_prefix(names: tuple[str, ...]) -> tuple[Ask, Ask]:
        prefix = "/".join(names) + "/"
        return (
            lambda: memory.records.query(MemoryFilter(tag_prefix=prefix, limit=LIMIT)),
            lambda: other.search(names, {}, LIMIT),
        )

    return {
        **{name: by_data(wanted) for name, (_, wanted) in QUESTIONS.items()},
        **{name: by_prefix(names) for name, (_, names) in PREFIXES.items()},
    }


async def _measured(
    system: str, memory: Memory[Any], other: LangGraph, size: int
) -> dict[str, float]:
    await _fill(memory, other, size)
    figures = {}
    gc.disable()
    for name, asks in _questions(memory, other).items():
        times: tuple[list[float], list[float]] = ([], [])
        for turn in range(ROUNDS + 1):
            for ask, taken in zip(asks, times, strict=True):
                start = perf_counter()
                await ask()
                if turn:  # the first is for warming up
                    taken.append(perf_counter() - start)
        ours, theirs = map(min, times)
        figures[f"{system}_{name}"] = ours / theirs
        figures[f"{system}_{name}_ms"] = ours * 1e3
    gc.enable()
    return figures


async def _on_sqlite(folder: Path, size: int) -> dict[str, float]:
    async with AsyncExitStack() as stack:
        opened = memoranda.open(f"sqlite:///{folder / 'memoranda.db'}", scope=SCOPE)
        memory = await stack.enter_async_context(opened)
        other = await stack.enter_async_context(langgraph_sqlite_wal(folder / "langgraph.db"))
        return await _measured("SQLite", memory, other, size)


async def _on_postgres(ours: str, theirs: str, size: int) -> dict[str, float]:
    async with AsyncExitStack() as stack:
        memory = await stack.enter_async_context(memoranda.open(ours, scope=SCOPE))
        other = await stack.enter_async_context(langgraph_postgres(theirs))
        return await _measured("PostgreSQL", memory, other, size)


def main() -> None:
    """Measure, show and write."""
    parser = argparse.ArgumentParser(prog="python -m bench.filters", description=__doc__)
    parser.add_argument("--records", type=int, default=10_000)
    size = parser.parse_args().records
    with tempfile.TemporaryDirectory(prefix="memoranda-bench-") as folder:
        figures = asyncio.run(_on_sqlite(Path(folder), size))
    with server() as started:
        urls = owned_database(started), owned_database(started)
        figures |= asyncio.run(_on_postgres(*urls, size))
    systems = ["SQLite", "PostgreSQL"]
    show(f"filters over {size:,} records", aims(systems), figures, f"filters-{size}")


if __name__ == "__main__":
    main()
