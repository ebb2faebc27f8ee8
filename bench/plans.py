"""`python -m bench.plans`: what the engine adds to the steps of a plan, and what a turn costs.

The same steps run through the engine and by hand, one after another in turns; the difference, for
each step, is the engine's: handing over, freezing, the table. What one step does is nothing, so
nothing else is measured. Then whole turns are taken on a SQLite file, with a model that answers at
once; their durable commits are counted in the write-ahead log. A target that is missed is shown as
missed; the exit code is 0.
"""

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator, Coroutine, Mapping
from itertools import pairwise
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import memoranda
from bench.aims import Aim, show
from memoranda.journeys.records.foreign import within
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import WireModel
from memoranda.plans.engine import Engine, Output
from memoranda.plans.models import Prompt, Settings
from memoranda.plans.plan import ExecutionPlan, Fails, Limit
from memoranda.plans.policy import Profile
from memoranda.plans.validation import Source, StepContract, StepRule

STEPS = 8
ROUNDS = 2_000
TEXT = "The customer prefers email; 고객은 이메일을 선호한다. " * 20
"""About a kilobyte, handed from step to step."""

TURNS = 50
_WAL_HEADER = 32
_FRAME_HEADER = 24
MODE = {
    "id": "default",
    "metadata": {"topK": 3},
    "plan": [
        {"type": "RetrieveMemory"},
        {"type": "ContextSelect"},
        {"type": "PromptAssemble", "payload": {"template": "{context} {text}"}},
        {"type": "LLMCall"},
        {"type": "SummarizeMemory"},
        {"type": "PersistMemory"},
        {"type": "PersistSession"},
    ],
}

AIMS = (
    Aim("step_us", "the engine's share of a step, µs", "< 50", lambda f: f < 50,
        "thawing an input, freezing an output: canonical JSON and a SHA-256"),
    Aim("limited_us", "the same with a time limit, µs", "", lambda _: True,
        "a task of its own for each step"),
    Aim("made_us", "checking a plan and making its engine, µs a step", "", lambda _: True,
        "every rule of the contract, once for all cycles"),
    Aim("commits", "durable commits of a turn", "1", lambda f: f == 1,
        "the fact of the cycle, the item and the session in one transaction"),
    Aim("turn_ms", "a turn on a file, ms at the median", "", lambda _: True,
        "one fsync, and the summary"),
    Aim("disk_ms", "a write and fsync on the same disk, ms at the median", "", lambda _: True, ""),
)  # fmt: skip


class Nothing(WireModel):
    """An empty payload."""


class HandOn:
    """A type of step that hands on what it got."""

    stage = "Bench"
    payload: type[WireModel] = Nothing
    fails: Fails = "cycle"
    limit: Limit = "ioMs"

    def __init__(self, place: int) -> None:
        self.name = f"Step{place}"
        self.takes = {"text": (f"Step{place - 1}" if place else "$turn",)}
        self.gives = ("text",)

    async def run(self, payload: Any, inputs: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
        """Hand it on."""
        _ = payload
        return {"text": inputs["text"]}


TYPES = [HandOn(place) for place in range(STEPS)]
FORMS: Mapping[str, type[WireModel]] = {one.name: Nothing for one in TYPES}
CONTRACT = StepContract(
    "bench",
    ("text",),
    [StepRule(one.name, "Bench", {"text": Source(one.takes["text"][0], "text")}, ("text",))
     for one in TYPES],
)  # fmt: skip


def plan(timeouts: dict[str, int] | None = None) -> ExecutionPlan:
    metadata: dict[str, Any] = {"policyProfile": "bench", "mode": "bench"}
    if timeouts is not None:
        metadata["timeouts"] = timeouts
    steps = [
        {
            "id": one.name,
            "type": one.name,
            "stage": "Bench",
            "payload": {},
            "inputs": {"text": {"from": one.takes["text"][0], "output": "text"}},
        }
        for one in TYPES
    ]
    return ExecutionPlan.from_wire(
        {"step_contract_version": "bench", "extensions": [], "metadata": metadata, "steps": steps}
    )


async def limited(seconds: float, work: Coroutine[Any, Any, Output]) -> Output:
    return await within(seconds, work, "a step")


def engine(timeouts: dict[str, int] | None = None) -> Engine:
    return Engine(plan(timeouts), CONTRACT, FORMS, within=limited)


async def by_hand() -> None:
    value: Mapping[str, Any] = {"text": TEXT}
    for one in TYPES:
        value = await one.run(Nothing(), value)


async def measure() -> dict[str, float]:
    plain, timed = engine(), engine({"ioMs": 60_000})
    turn = {"text": TEXT}
    costs: dict[str, list[float]] = {"hand": [], "plain": [], "timed": [], "made": []}
    for _ in range(ROUNDS):
        began = perf_counter()
        await by_hand()
        hand = perf_counter()
        await plain.run(turn, TYPES)
        ran = perf_counter()
        await timed.run(turn, TYPES)
        limits = perf_counter()
        engine()
        made = perf_counter()
        for name, cost in zip(
            costs, (hand - began, ran - hand, limits - ran, made - limits), strict=True
        ):
            costs[name].append(cost)
    us = {name: median(found) * 1e6 / STEPS for name, found in costs.items()}
    return {
        "step_us": us["plain"] - us["hand"],
        "limited_us": us["timed"] - us["hand"],
        "made_us": us["made"],
    }


# ------------------------------------------------------------------------ whole turns


class Echo:
    """A model that answers at once."""

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        """The same as always."""
        _ = prompt, settings
        return "The parcel left on Monday. It will be there by Friday. Somebody has to sign for it."

    async def stream(self, prompt: Prompt, settings: Settings) -> AsyncGenerator[str]:
        """The same."""
        yield await self.complete(prompt, settings)


def commits(database: Path) -> int:
    """How many transactions the write-ahead log of a SQLite file has: frames that end one."""
    log = Path(f"{database}-wal").read_bytes()
    page, salt = int.from_bytes(log[8:12], "big"), log[16:24]
    starts = range(_WAL_HEADER, len(log) - _FRAME_HEADER - page + 1, _FRAME_HEADER + page)
    frames = (log[start : start + _FRAME_HEADER] for start in starts)
    return sum(1 for frame in frames if frame[8:16] == salt and any(frame[4:8]))


async def measure_turns(folder: Path) -> dict[str, float]:
    """Take turns, after one that begins the session."""
    database = folder / "turns.db"
    steps = Profile.from_wire({"id": "bench", "modes": [MODE]})
    async with memoranda.open(f"sqlite:///{database}", scope="bench") as memory:
        turns = await memory.turns.open(steps, model=Echo())
        await turns.take("Where is my parcel?")
        counts, costs = [commits(database)], []
        for number in range(TURNS):
            began = perf_counter()
            await turns.take(f"Where is parcel {number}?")
            costs.append(perf_counter() - began)
            counts.append(commits(database))
        return {
            # Where the log began anew, it has fewer than before.
            "commits": median(after - before for before, after in pairwise(counts)),
            "turn_ms": median(costs) * 1e3,
            "disk_ms": median(_fsyncs(folder / "raw")) * 1e3,
        }


def _fsyncs(path: Path) -> list[float]:
    costs = []
    with path.open("wb") as file:
        for _ in range(TURNS):
            began = perf_counter()
            file.write(b"x" * 4096)
            file.flush()
            os.fsync(file.fileno())
            costs.append(perf_counter() - began)
    return costs


def main() -> None:
    """Measure and show."""
    figures = asyncio.run(measure())
    with tempfile.TemporaryDirectory() as folder:
        figures |= asyncio.run(measure_turns(Path(folder)))
    show("Execution plans", AIMS, figures, "plans")


if __name__ == "__main__":
    main()
