"""Runs that die at any point, and are taken up again from what was written."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import WorldNotFound
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain
from memoranda.worlds.host import EffectFailed
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.intent.changing import changed, other_arguments
from tests.journeys.intent.counter import OUTSIDE, counter
from tests.journeys.intent.reading import counts, head, said
from tests.journeys.intent.simulators import Died, Provider, SlowLedger, dies_at

STEPS = 3
COMMITS = 1 + 2 * STEPS + 1
"""Of a run on a branch that is there: the proposal, each effect twice, the seal."""


@pytest.mark.parametrize("landed", [False, True], ids=["lost", "landed"])
@pytest.mark.parametrize("at", range(COMMITS))
async def test_a_run_that_dies_at_any_commit_is_taken_up_again(
    opens: Opens, at: int, *, landed: bool
) -> None:
    OUTSIDE.calls.clear()
    provider = Provider({"asked": "once"})
    async with opens(provider=provider) as memory:
        first = await memory.act("add", {"by": 1})
        dies_at(memory, at, landed=landed)
        with pytest.raises(Died):
            await memory.act("work", {"steps": STEPS})

    asked = len(provider.queries)
    async with opens(provider=provider) as memory:
        runs = await memory.worlds.resume()
        written = await counts(memory)

        assert len(OUTSIDE.calls) == len(set(OUTSIDE.calls))  # each effect at most once
        if at == 0 and not landed:  # it was never proposed
            assert runs == []
            assert written["Proposal"] == 1
            return
        if at == COMMITS - 1 and landed:  # it was sealed
            assert runs == []
            assert await head(memory) != first.world
        else:
            (run,) = runs
            # dying between the start of an effect and its result leaves it unknown
            is_unsure = 0 < at < COMMITS - 1 and (at % 2 == 1) == landed
            assert run.status == ("failed" if is_unsure else "completed")
            if is_unsure:
                assert run.error is not None
                assert run.error["code"] == "effect.unknown"
                assert await head(memory) == first.world
            else:
                assert len(OUTSIDE.calls) == STEPS
                assert await head(memory) == run.world
            has_begun = at > 1 or (at == 1 and landed)
            assert len(provider.queries) == asked + (0 if has_begun else 1)
        assert await memory.worlds.resume() == []
        assert written["ExecutionSealed"] == 2
        replays = [replay.verdict async for replay in memory.worlds.replay_branch()]
        assert set(replays) == {"same"}


@pytest.mark.parametrize("landed", [False, True], ids=["lost", "landed"])
@pytest.mark.parametrize("at", range(3))
async def test_a_first_run_that_dies_leaves_a_branch_that_works(
    opens: Opens, at: int, *, landed: bool
) -> None:
    async with opens() as memory:
        dies_at(memory, at, landed=landed)
        with pytest.raises(Died):
            await memory.act("add", {"by": 1})
    async with opens() as memory:
        await memory.worlds.resume()
        run = await memory.act("add", {"by": 1})

        assert run.data["count"] in {1, 2}
        assert (await counts(memory))["Branch"] == 1


async def test_a_run_with_an_effect_of_unknown_outcome_never_calls_it_again(
    opens: Opens,
) -> None:
    OUTSIDE.calls.clear()
    async with opens() as memory:
        await memory.act("nothing")
        dies_at(memory, 2, landed=False)
        with pytest.raises(Died):
            await memory.act("ask", {"text": "pay"}, idempotency_key="k")
    assert OUTSIDE.calls == [("ask", "pay")]

    async with opens() as memory:
        run = await memory.act("ask", {"text": "pay"}, idempotency_key="k")
        again = await memory.act("ask", {"text": "pay"}, idempotency_key="k")

        assert run.error is not None
        assert run.error["code"] == "effect.unknown"
        assert again == run
        assert OUTSIDE.calls == [("ask", "pay")]
        replay = await memory.worlds.replay(run.execution_key or "")
        assert (replay.verdict, replay.why and replay.why.split(":")[0]) == (
            "not run",
            "effect.unknown",
        )


async def test_what_was_recalled_before_a_run_died_is_what_it_goes_on_with(opens: Opens) -> None:
    OUTSIDE.calls.clear()
    provider = Provider("before")
    async with opens(provider=provider) as memory:
        await memory.act("nothing")
        dies_at(memory, 3, landed=False)
        with pytest.raises(Died):
            await memory.act("work", {"steps": 2})
    provider.answer = "after"
    async with opens(provider=provider) as memory:
        (run,) = await memory.worlds.resume()

        restored = await memory.worlds.restore(run.execution_key or "")
        assert restored.input["$app"]["memoryContext"] == "before"
        assert run.recall == "answered"


async def test_a_head_that_moved_meanwhile_makes_a_conflict_of_what_died(opens: Opens) -> None:
    async with opens() as memory:
        await memory.act("nothing")
        dies_at(memory, 3, landed=False)
        with pytest.raises(Died):
            await memory.act("work", {"steps": 2})
    async with opens() as memory:
        moved = await memory.act("add", {"by": 7})
        (run,) = await memory.worlds.resume()

        assert run.status == "failed"
        assert run.error is not None
        assert run.error["code"] == "world.conflict"
        assert await head(memory) == moved.world


async def test_what_died_under_another_version_of_the_domain_ends(opens: Opens) -> None:
    async with opens() as memory:
        await memory.act("nothing")
        dies_at(memory, 3, landed=False)
        with pytest.raises(Died):
            await memory.act("work", {"steps": 2})
    async with opens(domain=counter("2")) as memory:
        (run,) = await memory.worlds.resume()

        assert run.status == "failed"
        assert run.error is not None
        assert await memory.worlds.resume() == []


async def test_what_is_taken_up_by_changed_code_that_went_another_way_has_failed(
    opens: Opens,
) -> None:
    async with opens() as memory:
        await memory.act("nothing")
        dies_at(memory, 3, landed=False)
        with pytest.raises(Died):
            await memory.act("work", {"steps": 2})
    async with opens(domain=changed({"work": other_arguments})) as memory:
        (run,) = await memory.worlds.resume()

        assert run.error is not None
        assert run.error["code"] == "run.changed"
        assert (await memory.worlds.replay(run.execution_key or "")).verdict == "not run"


async def test_a_run_without_its_end_is_neither_restored_nor_replayed(opens: Opens) -> None:
    async with opens() as memory:
        await memory.act("nothing")
        dies_at(memory, 3, landed=False)
        with pytest.raises(Died):
            await memory.act("work", {"steps": 2})
    async with opens() as memory:
        key = (await said(memory, "ExecutionBegun"))[-1].document["executionKey"]
        standing = await memory.worlds.standing(key.rpartition(":")[0])

        assert (standing.status, standing.world) == ("executing", None)
        for ask in (memory.worlds.restore, memory.worlds.replay):
            with pytest.raises(WorldNotFound):
                await ask(key)
        assert (await memory.why(key)).known["outcome"] == "not sealed"


# ----------------------------------------------------------------------- cancellation


async def test_an_act_that_is_cancelled_anywhere_can_be_taken_up(opens: Opens) -> None:
    async with opens() as memory:
        for branch in ("main", "side"):
            await memory.act("nothing", branch=branch)
        for turns in range(60):
            acting = asyncio.create_task(memory.act("note", {"text": turns}))
            asking = asyncio.create_task(memory.act("ask", {"text": turns}, branch="side"))
            for _ in range(turns):
                await asyncio.sleep(0)
            for each in (acting, asking):
                each.cancel()
            await asyncio.wait({acting, asking})
            for run in await memory.worlds.resume():
                # What was being written when it was cancelled may land after that.
                code = None if run.error is None else run.error["code"]
                assert (run.status, code) in {
                    ("completed", None),
                    ("failed", "effect.unknown"),
                    ("failed", "world.conflict"),
                    ("executing", None),
                }
        await memory.worlds.resume()
        for branch in ("main", "side"):
            assert {one.verdict async for one in memory.worlds.replay_branch(branch)} <= {"same"}
        assert (await memory.verify()).report.damages.found == []


@pytest.mark.parametrize("when", ["running", "while it is written"])
async def test_an_effect_that_an_action_gives_up_is_one_of_unknown_outcome(
    opens: Opens, when: str
) -> None:
    hasty, running = Domain("hasty", "1"), asyncio.Event()

    @hasty.action
    async def impatient(ctx: ActionContext[None]) -> Patch:
        """It gives an effect up, and goes on as if nothing had been."""

        async def never() -> None:
            running.set()
            await asyncio.Event().wait()

        ledger.landed.clear()
        if when == "while it is written":
            ledger.may_say.clear()
        effect = asyncio.ensure_future(ctx.effect("never", never))
        await (running if when == "running" else ledger.landed).wait()
        effect.cancel()
        ledger.may_say.set()
        with pytest.raises(asyncio.CancelledError):
            await effect
        return Set("gave_up", value=True)

    async with opens(domain=hasty) as memory:
        ledger = inside(memory).table.ledger = SlowLedger(inside(memory).table.ledger)
        run = await memory.act("impatient")
        assert running.is_set() == (when == "running")

        assert run.status == "failed"
        assert run.error is not None
        assert run.error["code"] == "effect.unknown"
        assert (await memory.worlds.replay(run.execution_key or "")).verdict == "not run"


together = Domain("together", "1")


@together.action
async def gather(ctx: ActionContext[None]) -> Patch:
    """It calls many effects at once; some of them fail."""

    async def work(n: int) -> int:
        await asyncio.sleep(0)
        if n % 5 == 0:
            raise ValueError(n)
        return n * n

    async def tried(n: int) -> Any:
        try:
            return await ctx.effect("square", work, n=n)
        except EffectFailed as failed:
            return failed.message

    return Set("found", await asyncio.gather(*(tried(n) for n in range(20))))


@pytest.mark.parametrize("at", [2, 9, 17, 25, 38])
async def test_effects_at_the_same_time_are_recorded_resumed_and_replayed(
    opens: Opens, at: int
) -> None:
    async with opens(domain=together) as memory:
        run = await memory.act("gather")
        assert run.data["found"] == [str(n) if n % 5 == 0 else n * n for n in range(20)]
        assert (await memory.worlds.replay(run.execution_key or "")).is_same
        dies_at(memory, at, landed=True)
        with pytest.raises(Died):
            await memory.act("gather")
    async with opens(domain=together) as memory:
        (run,) = await memory.worlds.resume()
        assert run.status in {"failed", "completed"}
        assert await memory.worlds.resume() == []


async def test_an_effect_that_could_not_be_journaled_leaves_the_run_open(
    memory: Memory[Any],
) -> None:
    class Full:
        def __init__(self, ledger: Any) -> None:
            self._ledger, self.left = ledger, 2

        async def commit(self, unit: Any) -> Any:
            self.left -= 1
            if self.left < 0:
                raise OSError("the disk is full")
            return await self._ledger.commit(unit)

        def __getattr__(self, name: str) -> Any:
            return getattr(self._ledger, name)

    await memory.act("nothing")
    ledger = inside(memory).table.ledger
    inside(memory).table.ledger = Full(ledger)
    with pytest.raises(OSError, match="full"):
        await memory.act("work", {"steps": 2})
    inside(memory).table.ledger = ledger

    (run,) = await memory.worlds.resume()
    assert run.error is not None
    assert run.error["code"] == "effect.unknown"
