"""The seven operations of one size, in an order that keeps the size.

1. get, query and update leave the number of records as it is
2. create adds some; delete takes the same ones away again
3. the bursts come last, because they add thousands: 64 tasks at once, then create_many
"""

import asyncio
import gc
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter_ns

from bench.measure import Figures, Plan, Round, interleaved, one_by_one
from bench.systems.port import Contender
from bench.workload import SEED, TAGS, Item, Numbers, chunks, item, items

GET, QUERY, UPDATE = "get", "query", "update"
CREATE, DELETE = "create", "delete"
TOGETHER, MANY = "64 at once", "create_many"
OPERATIONS = (CREATE, TOGETHER, MANY, GET, UPDATE, DELETE, QUERY)

TASKS = 64
CREATES_OF_A_TASK = 8
BATCH = 1_000


async def fill(contenders: Sequence[Contender], size: int, tick: Callable[[], None]) -> None:
    """Bring every contender to this many records."""
    for chunk in chunks(size, BATCH):
        for contender in contenders:
            contender.keys += await contender.system.create_many(chunk)
        tick()
    gc.collect()
    gc.freeze()  # what the bench itself keeps is no burden on the collections of the contenders


async def measured(
    contenders: Sequence[Contender], size: int, plan: Plan, tick: Callable[[], None]
) -> list[Figures]:
    """All operations of one size."""
    bench = _Size(size, plan)
    figures: list[Figures] = []
    cycles: dict[str, int] = {}
    for operation, rounds, run in (
        (GET, plan.rounds, bench.get),
        (QUERY, plan.rounds, bench.query),
        (UPDATE, plan.rounds, bench.update),
        (CREATE, plan.rounds, bench.create),
        (DELETE, plan.rounds, bench.delete),
        (TOGETHER, plan.burst_rounds, bench.together),
        (MANY, plan.burst_rounds, bench.many),
    ):
        # What was created can be deleted once.
        at_most = cycles[CREATE] if operation == DELETE else rounds * plan.retakes
        found, cycles[operation] = await interleaved(
            operation, size, contenders, rounds, run, tick, at_most
        )
        figures += found
    return figures


class _Size:
    """The operations at one size; every contender gets the same records in the same rounds."""

    def __init__(self, size: int, plan: Plan) -> None:
        self._size = size
        self._plan = plan
        self._created: dict[tuple[str, int], list[tuple[str, Item]]] = {}

    # 1. -------------------------------------------------------------- as many as before

    async def get(self, contender: Contender, number: int) -> Round:
        calls = [partial(contender.system.get, contender.keys[p]) for p in self._places(number)]
        done, found = await one_by_one(calls, self._plan)
        assert None not in found, contender.name
        return done

    async def query(self, contender: Contender, number: int) -> Round:
        tags = [TAGS[place % len(TAGS)] for place in self._places(number)]
        calls = [partial(contender.system.query, tag) for tag in tags]
        done, found = await one_by_one(calls, self._plan)
        assert all(isinstance(page, list) and len(page) == 10 for page in found), contender.name
        return done

    async def update(self, contender: Contender, number: int) -> Round:
        calls = [
            partial(contender.system.update, contender.keys[p], item(p).patched(number + 1))
            for p in self._places(number)
        ]
        return (await one_by_one(calls, self._plan))[0]

    # 2. ---------------------------------------------------------------- there and back

    async def create(self, contender: Contender, number: int) -> Round:
        operations = self._plan.operations
        given = items(self._size + number * operations, operations)
        calls = [partial(contender.system.create, each) for each in given]
        done, keys = await one_by_one(calls, self._plan)
        self._created[contender.name, number] = [
            (str(key), each) for key, each in zip(keys, given, strict=False)
        ]
        return done

    async def delete(self, contender: Contender, number: int) -> Round:
        made = self._created.pop((contender.name, number))
        calls = [partial(contender.system.delete, key, each) for key, each in made]
        return (await one_by_one(calls, self._plan))[0]

    # 3. ------------------------------------------------------------------------ bursts

    async def together(self, contender: Contender, number: int) -> Round:
        count = TASKS * CREATES_OF_A_TASK
        given = items(2 * self._size + 1_000_000 + number * count, count)
        latencies: list[int] = []

        async def creates(mine: Sequence[Item]) -> None:
            for each in mine:
                start = perf_counter_ns()
                await contender.system.create(each)
                latencies.append(perf_counter_ns() - start)

        start = perf_counter_ns()
        await asyncio.gather(*(creates(given[task::TASKS]) for task in range(TASKS)))
        return Round(latencies, count, perf_counter_ns() - start)

    async def many(self, contender: Contender, number: int) -> Round:
        given = items(2 * self._size + 2_000_000 + number * BATCH, BATCH)
        start = perf_counter_ns()
        await contender.system.create_many(given)
        elapsed = perf_counter_ns() - start
        return Round([elapsed], BATCH, elapsed)

    def _places(self, number: int) -> list[int]:
        """Which records this round is about: scattered, and the same for all contenders."""
        numbers = Numbers(SEED * 7 + number)
        return [numbers.below(self._size) for _ in range(self._plan.operations)]
