"""No way leads around a reasoning phase: what was read in it is in its proposal, or refused."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import ReasoningClosed, TraceMissing
from memoranda.recall.selector import Chosen, Request, Selection, Sources
from tests.fixtures import Opens
from tests.handles import inside, verb
from tests.journeys.recall.simulators import Waiting

pytestmark = pytest.mark.anyio


@pytest.mark.rule("M-2", "C-1")
async def test_what_an_inner_phase_recalled_was_used_in_the_outer_one(memory: Memory[Any]) -> None:
    await memory.remember("count by three")
    async with memory.reasoning() as outer:
        async with memory.reasoning() as inner:
            await inner.recall("count", top_k=1)
        with pytest.raises(TraceMissing):
            await outer.propose("nothing")
        with pytest.raises(TraceMissing):
            await memory.worlds.propose("nothing")


@pytest.mark.rule("M-2", "C-1")
async def test_an_inner_phase_does_not_propose_past_the_outer_one(memory: Memory[Any]) -> None:
    await memory.remember("count by three")
    async with memory.reasoning() as outer:
        await outer.recall("count", top_k=1)
        async with memory.reasoning() as inner:
            with pytest.raises(TraceMissing):
                await inner.propose("nothing")
            with pytest.raises(TraceMissing):
                await memory.worlds.propose("nothing")
        assert (await outer.propose("nothing")).status == "approved"


async def test_an_inner_phase_proposes_where_the_outer_one_used_nothing(
    memory: Memory[Any],
) -> None:
    await memory.remember("count by three")
    async with memory.reasoning(), memory.reasoning() as inner:
        await inner.recall("count", top_k=1)
        assert (await inner.propose("nothing")).status == "approved"


@pytest.mark.rule("M-2", "C-1")
async def test_one_proposal_closes_a_phase_and_no_other_goes_past_it(memory: Memory[Any]) -> None:
    await memory.remember("count by three")
    async with memory.reasoning() as r:
        await r.recall("count", top_k=1)
        await r.propose("nothing")
        for way in (memory.worlds.propose, memory.act):
            with pytest.raises(TraceMissing):
                await way("nothing")
    assert (await memory.act("nothing")).is_completed


@pytest.mark.rule("M-2", "C-1")
async def test_worlds_are_memory_too(memory: Memory[Any]) -> None:
    run = await memory.act("add", {"by": 3})
    async with memory.reasoning() as r:
        await memory.recall("add", top_k=1, selector="worlds")
        for way in (r.propose, memory.worlds.propose):
            with pytest.raises(TraceMissing):
                await way("nothing")
    assert run.world is not None
    async with memory.reasoning() as r:
        await memory.journal.original(run.world)
        with pytest.raises(TraceMissing):
            await r.propose("nothing")


@pytest.mark.rule("M-2", "C-1")
@pytest.mark.parametrize("way", ["restore", "replay", "replay_branch", "why", "standing", "run"])
@pytest.mark.parametrize("what", ["world", "execution"])
async def test_whoever_looks_at_a_past_world_uses_memory(
    memory: Memory[Any], way: str, what: str
) -> None:
    await memory.act("add", {"by": 1})
    run = await memory.act("add", {"by": 3})
    id = run.world if what == "world" else run.execution_key
    if way in ("standing", "run"):
        id = run.proposal_id
    async with memory.reasoning() as r:
        if way == "replay_branch":
            assert [one.is_same async for one in memory.worlds.replay_branch()] == [True, True]
        else:
            assert await verb(memory, way)(id) is not None
        for refused in (r.propose, memory.worlds.propose):
            with pytest.raises(TraceMissing):
                await refused("nothing")
        await r.recall("add", top_k=2, selector="worlds")
        assert (await r.propose("nothing")).status == "approved"


@pytest.mark.rule("M-2", "C-1")
async def test_whoever_restores_an_execution_uses_what_was_frozen_in_it(opens: Opens) -> None:
    class Reading:
        def __init__(self, memory: Memory[Any]) -> None:
            self.memory = memory

        async def recall(self, _query: Any) -> Any:
            return [one.data for one in await self.memory.list(text="count")]

        async def remember(self, _experience: Any) -> None: ...

    async with opens(provider=Reading) as memory:
        await memory.remember("count by three")
        run = await memory.act("learn")
        assert run.execution_key is not None
        async with memory.reasoning() as r:
            await r.recall("learn", top_k=1, selector="worlds")
            await memory.worlds.restore(run.execution_key)
            with pytest.raises(TraceMissing):
                await r.propose("nothing")
            await r.recall("count", top_k=1)
            assert (await r.propose("nothing")).status == "approved"


async def test_a_world_that_was_recalled_may_be_read_again(memory: Memory[Any]) -> None:
    await memory.act("add", {"by": 3})
    async with memory.reasoning() as r:
        found = await r.recall("add", top_k=1, selector="worlds")
        assert (await r.original(found.items[0])).verified
        assert (await r.propose("nothing")).status == "approved"


@pytest.mark.rule("M-2", "C-1")
async def test_why_shows_memory_too(memory: Memory[Any]) -> None:
    receipt = await memory.remember("count by three")
    found = await memory.recall("count", top_k=1)
    for id in (receipt.id, found.trace_id):
        async with memory.reasoning() as r:
            await memory.why(id)
            with pytest.raises(TraceMissing):
                await r.propose("nothing")


async def test_what_a_selector_looks_at_is_its_own_affair(memory: Memory[Any]) -> None:
    receipt = await memory.remember("count by three")
    await memory.remember("count by four")

    class Searching:
        name, actor = "searching", None

        async def select(self, request: Request, _sources: Sources, /) -> Selection:
            found = await memory.list(text=request.query)
            assert len(found) == 2
            return Selection([Chosen("so", 0.5, receipt.id)])

    async with memory.reasoning() as r:
        await r.recall("count", top_k=1, selector=Searching())
        assert (await r.propose("nothing")).status == "approved"


@pytest.mark.rule("M-2", "C-1")
async def test_the_app_itself_is_no_way_around(memory: Memory[Any]) -> None:
    await memory.remember("count by three")
    async with memory.reasoning() as r:
        await r.recall("count", top_k=1)
        for way in (inside(memory).intents.propose, inside(memory).intents.act):
            with pytest.raises(TraceMissing):
                await way("nothing")
    assert not await inside(memory).ledger.marks("proposal/")


# ------------------------------------------------------------- tasks that are older than it


@pytest.mark.rule("M-2", "C-1")
async def test_a_task_that_is_older_than_a_phase_does_not_propose_through_it(
    memory: Memory[Any],
) -> None:
    """Nobody notes for the phase what is read in a task that was started before it."""
    await memory.remember("count by three")
    other = await memory.remember("never on a Sunday")
    given: asyncio.Queue[Any] = asyncio.Queue()

    async def older() -> None:
        r = await given.get()
        await r.recall("count", top_k=1)
        assert await memory.get(other.id) is not None
        with pytest.raises(TraceMissing):
            await r.propose("nothing")

    task = asyncio.ensure_future(older())
    async with memory.reasoning() as r:
        await given.put(r)
        await task
        assert not await inside(memory).ledger.marks("proposal/")
        assert (await r.propose("nothing")).status == "approved"  # it has the trace of the recall


# --------------------------------------------------------------- tasks that outlive it


@pytest.mark.rule("M-2", "C-1")
@pytest.mark.parametrize("is_used", [True, False])
async def test_a_task_that_outlives_its_phase_proposes_nothing(
    memory: Memory[Any], *, is_used: bool
) -> None:
    await memory.remember("count by three")
    over = asyncio.Event()

    async def late(way: Any) -> Any:
        await over.wait()
        return await way()

    async def in_a_phase_of_its_own() -> Any:
        async with memory.reasoning() as own:
            await own.recall("count", top_k=1)
            return await own.propose("nothing")

    async with memory.reasoning() as r:
        if is_used:
            await r.recall("count", top_k=1)
        past = [
            asyncio.ensure_future(late(lambda: memory.worlds.propose("nothing"))),
            asyncio.ensure_future(late(lambda: memory.act("nothing"))),
            asyncio.ensure_future(late(in_a_phase_of_its_own)),
        ]
        through = asyncio.ensure_future(late(lambda: r.propose("nothing")))
    over.set()
    for task in past:
        with pytest.raises(TraceMissing) as caught:
            await task
        assert caught.value.code == "world.trace_missing"
    with pytest.raises(ReasoningClosed):
        await through
    assert not await inside(memory).ledger.marks("proposal/")
    assert (
        await memory.worlds.propose("nothing")
    ).status == "approved"  # here the phase is no more


@pytest.mark.rule("M-3", "C-4")
async def test_a_recall_that_ends_after_its_phase_hands_out_nothing(memory: Memory[Any]) -> None:
    selector = Waiting()
    async with memory.reasoning() as r:
        recall = asyncio.ensure_future(r.recall("count", top_k=1, selector=selector))
        await selector.waits.wait()
        with pytest.raises(TraceMissing):
            await memory.worlds.propose("nothing")
    selector.may.set()
    with pytest.raises(ReasoningClosed):
        await recall
    assert r.recalled == ()


# ------------------------------------------------------------------------------------ M-3


@pytest.mark.rule("M-3", "C-4")
async def test_nothing_is_recalled_once_it_may_have_been_submitted(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(*_: object) -> Any:
        raise OSError("the connection is gone")

    await memory.remember("count by three")
    async with memory.reasoning() as r:
        await r.recall("count", top_k=1)
        with monkeypatch.context() as patch:
            patch.setattr(inside(memory).intents, "_standing", down)
            with pytest.raises(OSError, match="gone"):
                await r.propose("nothing", idempotency_key="once")
        with pytest.raises(ReasoningClosed):
            await r.recall("three", top_k=1)

        again = await r.propose("nothing", idempotency_key="once")

        with pytest.raises(ReasoningClosed):
            await r.propose("nothing", idempotency_key="once")
    assert [name for name, _ in await inside(memory).ledger.marks("proposal/")] == [
        f"proposal/{again.proposal_id}"
    ]


@pytest.mark.rule("M-3", "C-4")
async def test_nothing_is_recalled_after_a_proposal_that_was_cancelled(
    memory: Memory[Any],
) -> None:
    async with memory.reasoning() as r:
        proposing = asyncio.ensure_future(r.propose("nothing"))
        await asyncio.sleep(0)
        proposing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await proposing
        with pytest.raises(ReasoningClosed):
            await r.recall("count", top_k=1)
