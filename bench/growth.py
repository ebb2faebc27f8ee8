"""How a query grows: one file for each size, all open at once, rounds in turn (`--million`)."""

import gc
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from bench.load import Moment
from bench.measure import Cycle, Figures, Plan, Round, one_by_one, quietest, summary
from bench.operations import QUERY
from bench.systems.memoranda import Memoranda, memoranda_on_sqlite
from bench.workload import TAGS, chunks

SIZES = (10_000, 100_000, 1_000_000)
CHUNK = 10_000
SYSTEM = "memoranda (growth)"


async def measured(folder: Path, plan: Plan, tick: Callable[[], None]) -> list[Figures]:
    """The query by tag at each size."""
    async with AsyncExitStack() as stack:
        files: dict[int, Memoranda] = {}
        for size in SIZES:
            path = folder / f"growth-{size}.db"
            files[size] = await stack.enter_async_context(memoranda_on_sqlite(path))
        for start, chunk in enumerate(chunks(max(SIZES), CHUNK)):
            for size, system in files.items():
                if start * CHUNK < size:
                    await system.create_many(chunk)
            tick()
        cycles: list[Cycle] = []
        for number in range(plan.retakes * plan.rounds):
            tags = [TAGS[(number + call) % len(TAGS)] for call in range(plan.operations)]
            before = Moment.now()
            done: dict[str, Round] = {}
            for size, system in files.items():
                gc.collect()
                calls = [partial(system.query, tag) for tag in tags]
                done[str(size)] = (await one_by_one(calls, plan))[0]
            cycles.append(Cycle(done, before.others_until(Moment.now())))
            tick()
        counted = quietest(cycles, plan.rounds)
        others = sum(cycle.others for cycle in counted) / len(counted)
        return [
            summary(
                SYSTEM,
                QUERY,
                size,
                [cycle.rounds[str(size)] for cycle in counted],
                others=others,
            )
            for size in SIZES
        ]


def ticks(plan: Plan) -> int:
    """How often `measured` reports progress."""
    return max(SIZES) // CHUNK + plan.retakes * plan.rounds
