"""A whole run: which parts, in which order, with the progress shown."""

import asyncio
import gc
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from bench import canonical, growth, operations
from bench.measure import Figures, Plan
from bench.names import (
    LANGGRAPH,
    LANGGRAPH_PG,
    LANGGRAPH_WAL,
    MEMORANDA,
    MEMORANDA_PG,
    RAW,
    RAW_PG,
)
from bench.postgres import owned_database, server
from bench.systems.langgraph import langgraph_postgres, langgraph_sqlite, langgraph_sqlite_wal
from bench.systems.memoranda import memoranda_on_postgres, memoranda_on_sqlite
from bench.systems.port import Contender, System
from bench.systems.raw_postgres import raw_postgres
from bench.systems.raw_sqlite import raw_sqlite
from memoranda import MemorandaError
from tests.stores.postgres.server import ServerError

Place = TypeVar("Place")
Opens = Callable[[Place], AbstractAsyncContextManager[System]]

PARTS = ("sqlite", "postgres", "canonical")
FULL = Plan(rounds=30, operations=40, burst_rounds=20, retakes=2)
QUICK = Plan(rounds=20, operations=20, burst_rounds=8, retakes=1, round_ns=60_000_000)

_ON_SQLITE: tuple[tuple[str, Opens[Path]], ...] = (
    (RAW, raw_sqlite),
    (MEMORANDA, memoranda_on_sqlite),
    (LANGGRAPH_WAL, langgraph_sqlite_wal),
    (LANGGRAPH, langgraph_sqlite),
)
_ON_POSTGRES: tuple[tuple[str, Opens[str]], ...] = (
    (RAW_PG, raw_postgres),
    (MEMORANDA_PG, memoranda_on_postgres),
    (LANGGRAPH_PG, langgraph_postgres),
)


@dataclass(frozen=True, slots=True)
class Options:
    """What to run."""

    sizes: Sequence[int]
    parts: Sequence[str]
    plan: Plan
    million: bool = False


@dataclass(slots=True)
class Results:
    """What a run found."""

    figures: list[Figures] = field(default_factory=list)
    bytes_per_record: dict[int, dict[str, float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def run(options: Options) -> Results:
    """Run the parts one after the other, in files that are gone afterwards."""
    results = Results()
    columns = (TextColumn("{task.description:34}"), BarColumn(), TimeElapsedColumn())
    with (
        Progress(*columns) as progress,
        tempfile.TemporaryDirectory(prefix="memoranda-bench-") as made,
    ):
        bench = _Run(options, results, progress, Path(made))
        if "canonical" in options.parts:
            bench.canonical()
        for size in options.sizes:
            if "sqlite" in options.parts:
                asyncio.run(bench.sqlite(size))
        if "postgres" in options.parts:
            bench.postgres()
        if options.million:
            asyncio.run(bench.growth())
    return results


class _Run:
    def __init__(
        self, options: Options, results: Results, progress: Progress, folder: Path
    ) -> None:
        self._options = options
        self._plan = options.plan
        self._results = results
        self._progress = progress
        self._folder = folder

    def canonical(self) -> None:
        ticks = self._plan.rounds * len(canonical.documents())
        self._results.figures += canonical.measured(
            self._plan.rounds, self._shown("canonical JSON", ticks)
        )

    async def sqlite(self, size: int) -> None:
        folder = self._folder / f"sqlite-{size}"
        folder.mkdir()
        async with AsyncExitStack() as stack:
            contenders = []
            for name, opened in _ON_SQLITE:
                path = folder / f"{name.replace(' ', '-')}.db"
                system = await stack.enter_async_context(opened(path))
                contenders.append(Contender(name, system, []))
            await self._measure("SQLite", contenders, size)

    def postgres(self) -> None:
        try:
            with server() as started:
                for size in self._options.sizes:
                    urls = {name: owned_database(started) for name, _ in _ON_POSTGRES}
                    asyncio.run(self._on_postgres(size, urls))
        except ServerError as error:
            self._results.notes.append(f"PostgreSQL was not measured: {error}")

    async def _on_postgres(self, size: int, urls: dict[str, str]) -> None:
        async with AsyncExitStack() as stack:
            contenders = []
            for name, opened in _ON_POSTGRES:
                try:
                    system = await stack.enter_async_context(opened(urls[name]))
                except MemorandaError as error:
                    self._results.notes.append(f"{name} was not measured: {error}")
                else:
                    contenders.append(Contender(name, system, []))
            await self._measure("PostgreSQL", contenders, size)

    async def growth(self) -> None:
        folder = self._folder / "growth"
        folder.mkdir()
        tick = self._shown("SQLite, 10k to 1M records", growth.ticks(self._plan))
        self._results.figures += await growth.measured(folder, self._plan, tick)

    async def _measure(self, where: str, contenders: Sequence[Contender], size: int) -> None:
        tick = self._shown(f"{where}, filling {size:,}", -(-size // operations.BATCH))
        await operations.fill(contenders, size, tick)
        taken = self._results.bytes_per_record.setdefault(size, {})
        for contender in contenders:
            taken[contender.name] = await contender.system.bytes_on_disk() / size
        ticks = 5 * self._plan.rounds + 2 * self._plan.burst_rounds
        tick = self._shown(f"{where}, {size:,} records", ticks)
        self._results.figures += await operations.measured(contenders, size, self._plan, tick)
        gc.unfreeze()

    def _shown(self, what: str, ticks: int) -> Callable[[], None]:
        task = self._progress.add_task(what, total=ticks)
        return lambda: self._progress.advance(task)
