"""Interleaved rounds: every contender in turn, in one process, and medians in the end.

Only ratios of figures taken this way are worth anything on a shared machine: what disturbs one
contender for a moment disturbs the next one as well.
"""

import gc
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from time import perf_counter_ns

from bench.load import BUSY, Moment
from bench.systems.port import Contender, Settles


@dataclass(frozen=True, slots=True)
class Plan:
    """How long to measure: rounds, single operations in each, and when a round ends early.

    `retakes` is how many times as many rounds may be taken, to find as many quiet ones.
    """

    rounds: int
    operations: int
    burst_rounds: int
    retakes: int
    round_ns: int = 250_000_000


@dataclass(frozen=True, slots=True)
class Round:
    """What one round found: the latency of each call, and what was done in which time."""

    latencies_ns: list[int]
    records: int
    elapsed_ns: int


@dataclass(frozen=True, slots=True)
class Figures:
    """One operation on one system at one size."""

    system: str
    operation: str
    size: int
    p50_us: float
    p99_us: float
    per_second: float
    rounds: int
    calls: int
    others: float

    def to_json(self) -> dict[str, object]:
        """As it stands in the file of results."""
        return asdict(self)


Runs = Callable[[Contender, int], Awaitable[Round]]
"""One round of an operation on a contender; the number is the round's."""


@dataclass(frozen=True, slots=True)
class Cycle:
    """A round of every contender, taken one after the other, and the load of others meanwhile."""

    rounds: dict[str, Round]
    others: float


async def interleaved(
    operation: str,
    size: int,
    contenders: Sequence[Contender],
    rounds: int,
    run: Runs,
    tick: Callable[[], None],
    at_most: int,
) -> tuple[list[Figures], int]:
    """Measure all contenders, a round of each in turn; also how many cycles it took.

    1. who begins changes from cycle to cycle; nobody's spare time falls into another's turn
    2. a cycle in which other processes were busy is taken again, `at_most` so many in all
    3. the quietest cycles count, for all contenders alike
    """
    cycles: list[Cycle] = []
    quiet = 0
    while quiet < rounds and len(cycles) < at_most:
        # 1.
        number = len(cycles)
        shift = number % len(contenders)
        done: dict[str, Round] = {}
        before = Moment.now()
        for contender in [*contenders[shift:], *contenders[:shift]]:
            await settled(contenders)
            gc.collect()  # then on, as for any user: who makes more garbage pays for it
            done[contender.name] = await run(contender, number)
        # 2.
        cycles.append(Cycle(done, before.others_until(Moment.now())))
        quiet += cycles[-1].others < BUSY
        if number < rounds:
            tick()
    # 3.
    counted = quietest(cycles, rounds)
    others = sum(cycle.others for cycle in counted) / len(counted)
    figures = [
        summary(
            contender.name,
            operation,
            size,
            [cycle.rounds[contender.name] for cycle in counted],
            others=others,
        )
        for contender in contenders
    ]
    return figures, len(cycles)


async def settled(contenders: Sequence[Contender]) -> None:
    """Wait until no contender has anything left to do."""
    for contender in contenders:
        if isinstance(contender.system, Settles):
            await contender.system.settle()


def quietest(cycles: Sequence[Cycle], count: int) -> list[Cycle]:
    """The cycles in which others did least."""
    return sorted(cycles, key=lambda cycle: cycle.others)[:count]


def summary(
    system: str, operation: str, size: int, rounds: Sequence[Round], *, others: float
) -> Figures:
    """The median of the rounds' medians; p99 over all calls; the median round's rate."""
    every = sorted(latency for done in rounds for latency in done.latencies_ns)
    return Figures(
        system=system,
        operation=operation,
        size=size,
        p50_us=median(median(done.latencies_ns) for done in rounds) / 1_000,
        p99_us=every[min(len(every) - 1, len(every) * 99 // 100)] / 1_000,
        per_second=median(done.records / done.elapsed_ns for done in rounds) * 1_000_000_000,
        rounds=len(rounds),
        calls=len(every),
        others=round(others, 2),
    )


async def one_by_one(
    calls: Sequence[Callable[[], Awaitable[object]]], plan: Plan
) -> tuple[Round, list[object]]:
    """Make calls one after the other, until the round's time is over; also their results."""
    latencies: list[int] = []
    results: list[object] = []
    spent = 0
    for call in calls:
        start = perf_counter_ns()
        result = await call()
        latency = perf_counter_ns() - start
        latencies.append(latency)
        results.append(result)
        spent += latency
        if spent > plan.round_ns:
            break
    return Round(latencies, len(latencies), spent), results
