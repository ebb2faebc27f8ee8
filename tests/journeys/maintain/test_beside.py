"""Maintenance never holds up execution: turns, recalls, runs and writes go on beside slow jobs."""

import asyncio
from time import perf_counter
from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.maintain import jobs
from memoranda.journeys.maintain.jobs import Done, Job, Work
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain
from tests.fixtures import Opens
from tests.journeys.maintain.conftest import keeping
from tests.journeys.maintain.test_worker import url, worker_of
from tests.journeys.turn.talking import Answering, talk

__all__ = ["url"]  # a fixture

pytestmark = pytest.mark.rule("MEM-MAINT-4")


@pytest.fixture
def domain() -> Domain:
    """One action that asks the outside."""
    made = Domain("asking", "1")

    @made.action
    async def ask(ctx: ActionContext[None]) -> Patch:
        async def call() -> int:
            return 7

        return Set("found", await ctx.effect("call", call))

    return made


async def test_turns_recalls_runs_and_writes_end_while_every_job_hangs(
    opens: Opens, domain: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end, order = asyncio.Event(), asyncio.Event(), list[str]()

    async def hang(_: Work) -> Done:
        order.append("job begun")
        begun.set()
        await may_end.wait()
        order.append("job ended")
        return Done({})

    for name in ("expiry", "retention", "consolidate"):
        monkeypatch.setitem(jobs.JOBS, name, Job(name, hang))
    async with opens(domain=domain) as memory:
        await memory.remember("Kim prefers email")
        every = {"expiry": 60, "retention": 60, "consolidate": 60}
        await memory.maintain.configure(keeping(), every=every, reason="tidy")  # type: ignore[arg-type]
        working = asyncio.create_task(worker_of(memory).run_due())
        await begun.wait()

        await memory.remember("Lee prefers letters")
        assert (await memory.recall("what does Kim prefer?", top_k=1)).items
        assert (await memory.act("ask")).status == "completed"
        session = await memory.turns.open(talk(), model=Answering())
        await session.take("what does Kim prefer?")
        assert order == ["job begun"]
        order.append("all of it was done")

        may_end.set()
        await working
        assert order[:3] == ["job begun", "all of it was done", "job ended"]


async def test_recalls_and_writes_take_turns_with_a_job_that_archives_thousands(
    memory: Memory[Any],
) -> None:
    """Between two calls of a busy agent the job makes some progress, and never all of it."""
    for first in range(0, 2_000, 500):
        texts = [f"note {n} about mail" for n in range(first, first + 500)]
        await memory.remember_many(texts, tags=["scratch"])
    await memory.remember("Kim prefers email")
    await memory.maintain.configure(keeping(ephemeralTags=["scratch"]), reason="tidy")

    async def busy() -> float:
        """One round of what an agent does, in seconds."""
        started = perf_counter()
        await memory.recall("what does Kim prefer?", top_k=1)
        await memory.remember("Lee prefers letters")
        return perf_counter() - started

    await busy()
    alone = sorted([await busy() for _ in range(15)])
    job = asyncio.create_task(memory.maintain.run("retention"))
    beside = []
    while not job.done():
        beside.append(await busy())

    (run,) = await job
    assert run.counts["ephemeral"] == 2_000
    assert len(beside) >= 10  # it came to its turn again and again
    # Half of the rounds, at least, take no more than a few times as long as alone.
    assert sorted(beside)[len(beside) // 2] < 20 * alone[len(alone) // 2]
