"""Many at once, huge values, odd names, and objects whose ids look like something else."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.audit.why import MOST
from memoranda.kernel.errors import (
    BranchMoved,
    InvalidIntent,
    InvalidRecord,
    InvalidWorld,
    RunElsewhere,
    WorldErased,
)
from memoranda.records.model import MemoryRecordInput
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain
from memoranda.worlds.proposal import Projection, ProjectionEvent
from tests.fixtures import Opens
from tests.journeys.intent.reading import counts, head
from tests.journeys.intent.simulators import Provider


async def test_fifty_acts_at_once_on_one_branch_lose_nothing(opens: Opens) -> None:
    async with opens() as one, opens() as two:
        results = await asyncio.gather(
            *((one, two)[n % 2].act("add", {"by": 1}) for n in range(50)), return_exceptions=True
        )

        kinds = Counter(type(result).__name__ for result in results)
        done = [result for result in results if not isinstance(result, BaseException)]
        assert kinds.keys() <= {"Run", "BranchMoved"}
        assert done
        snapshot = await one.worlds.restore(await head(one))
        assert snapshot.data["count"] == len(done) == snapshot.meta.version
        written = await counts(one)
        assert written["Proposal"] == written["Decision"] == written["ExecutionSealed"] == 50
        assert await one.worlds.resume() == []
        assert {each.verdict async for each in one.worlds.replay_branch()} == {"same"}
        assert (await one.verify()).report.damages.found == []


async def test_fifty_acts_at_once_on_ten_branches_lose_nothing(opens: Opens) -> None:
    async with opens() as memory:
        results = await asyncio.gather(
            *(memory.act("ask", {"text": n}, branch=f"b{n % 10}") for n in range(50)),
            return_exceptions=True,
        )

        assert all(
            isinstance(one, BranchMoved) or not isinstance(one, BaseException) for one in results
        )
        notes = 0
        for branch in await memory.worlds.branches():
            notes += len((await memory.worlds.restore(branch.world)).data["notes"])
        assert len(await memory.worlds.branches()) == 10
        assert notes == sum(not isinstance(one, BaseException) for one in results)


async def test_runs_that_change_nothing_never_stand_in_each_others_way(opens: Opens) -> None:
    async with opens() as one, opens() as two:
        runs = await asyncio.gather(*((one, two)[n % 2].act("nothing") for n in range(20)))

        assert {run.status for run in runs} == {"completed"}
        assert len({run.world for run in runs}) == 1
        assert [each.verdict async for each in one.worlds.replay_branch()] == ["same"] * 20


async def test_why_a_world_is_that_very_many_led_to_stays_short(memory: Memory[Any]) -> None:
    runs = [await memory.act("nothing") for _ in range(30)]

    tree = await memory.why(runs[-1].world or "")
    assert len(tree.parts) == MOST
    assert "more" in tree.known


async def test_a_branch_is_begun_once_by_many(opens: Opens) -> None:
    async with opens() as one, opens() as two:
        await asyncio.gather(
            *((one, two)[n % 2].worlds.propose("add", {"by": 1}) for n in range(20))
        )

        assert (await counts(one))["Branch"] == 1
        assert (await counts(one))["World"] == 1


async def test_one_name_forked_by_many_is_forked_once(opens: Opens) -> None:
    async with opens() as memory:
        run = await memory.act("add", {"by": 1})
        results = await asyncio.gather(
            *(memory.worlds.branch("side", at=run.world or "") for _ in range(10)),
            return_exceptions=True,
        )

        assert sum(not isinstance(one, BaseException) for one in results) == 1
        assert sum(isinstance(one, InvalidWorld) for one in results) == 9


async def test_a_retry_while_the_run_is_under_way_waits_for_it(opens: Opens) -> None:
    going, may_end = asyncio.Event(), asyncio.Event()
    domain = Domain("slow", "1")

    @domain.action
    async def slow(ctx: ActionContext[None]) -> Patch:
        async def call() -> int:
            going.set()
            await may_end.wait()
            return 7

        return Set("found", await ctx.effect("call", call))

    async with opens(domain=domain) as memory:
        first = asyncio.create_task(memory.act("slow", idempotency_key="k"))
        await going.wait()
        again = asyncio.create_task(memory.act("slow", idempotency_key="k"))
        resumed = asyncio.create_task(memory.worlds.resume())
        for _ in range(20):
            await asyncio.sleep(0)
        may_end.set()

        assert (await first).data == {"found": 7}
        assert await again == await first
        assert await resumed in ([], [await first])  # it may have looked when all was over


async def test_a_run_under_way_is_left_alone_by_whoever_resumes_or_runs_it(opens: Opens) -> None:
    going, may_end = asyncio.Event(), asyncio.Event()
    domain = Domain("slow", "1")

    @domain.action
    async def slow(ctx: ActionContext[None]) -> Patch:
        async def call() -> int:
            going.set()
            await may_end.wait()
            return 7

        return Set("found", await ctx.effect("call", call))

    async with opens(domain=domain) as one, opens(domain=domain) as two:
        first = asyncio.create_task(one.act("slow"))
        await going.wait()
        (seen,) = await two.worlds.resume()
        with pytest.raises(RunElsewhere) as refused:
            await two.worlds.run(seen.proposal_id)
        may_end.set()
        ran = await first

        assert seen.status == "executing"
        assert refused.value.code == "world.run_elsewhere"
        assert (ran.status, ran.data) == ("completed", {"found": 7})
        assert await two.worlds.run(seen.proposal_id) == ran
        assert await two.worlds.resume() == []


# -------------------------------------------------------------------------------- huge


async def test_a_huge_input_and_a_huge_memory_go_through(opens: Opens) -> None:
    rows = [{"n": n, "text": "x" * 100} for n in range(20_000)]
    async with opens(provider=Provider(rows)) as memory:
        run = await memory.act("note", {"text": rows})

        assert run.data["notes"] == [rows]
        restored = await memory.worlds.restore(run.execution_key or "")
        assert restored.input["$app"]["memoryContext"] == rows
        assert (await memory.worlds.replay(run.execution_key or "")).is_same


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("depth", [90, 200, 5_000, 100_000])
async def test_values_that_are_nested_too_deep_are_refused_or_kept_whole(
    opens: Opens, depth: int
) -> None:
    async with opens(provider=Provider(nested(depth))) as memory:
        run = await memory.act("nothing")
        assert run.status == "completed"
        assert run.recall in {"answered", "not JSON", "failed"}
        try:
            run = await memory.act("note", {"text": nested(depth)})
        except InvalidIntent:
            return
        assert run.status in {"completed", "failed"}
        assert (await memory.worlds.replay(run.execution_key or "")).is_same


async def test_an_action_that_makes_its_state_too_deep_fails(opens: Opens) -> None:
    domain = Domain("deep", "1")

    @domain.action
    def dig(_: ActionContext[None]) -> Patch:
        return Set("hole", nested(100_000))

    async with opens(domain=domain) as memory:
        run = await memory.act("dig")
        assert run.status == "failed"
        assert (await memory.worlds.replay(run.execution_key or "")).is_same


# ------------------------------------------------------------------------------ odd ids


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda run: f"execution/{run.execution_key}", id="execution"),
        pytest.param(lambda run: f"proposal/{run.proposal_id}", id="proposal"),
        pytest.param(lambda _: "branches/main", id="branches"),
        pytest.param(lambda _: "branch/main", id="branch"),
        pytest.param(lambda run: f"world/{run.world}", id="world"),
    ],
)
async def test_a_record_can_not_have_the_name_of_a_fact(opens: Opens, make: Any) -> None:
    async with opens() as memory:
        run = await memory.act("add", {"by": 1})

        with pytest.raises(InvalidRecord):
            await memory.records.create(MemoryRecordInput(id=make(run), data="a decoy"))


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda run: str(run.world), id="world"),
        pytest.param(lambda run: str(run.execution_key), id="execution"),
        pytest.param(lambda run: run.proposal_id, id="proposal"),
    ],
)
async def test_a_record_whose_id_is_that_of_a_run_is_only_a_record(opens: Opens, make: Any) -> None:
    async with opens() as memory:
        first = await memory.act("add", {"by": 1})
        second = await memory.act("add", {"by": 1})
        id = make(first)
        await memory.records.create(MemoryRecordInput(id=id, data="a decoy"))
        await memory.erase(id, reason="it was a decoy", cause="user_request")

        for run in (first, second):
            assert (await memory.worlds.restore(run.execution_key or "")).data == run.data
            assert (await memory.worlds.replay(run.execution_key or "")).is_same
        assert (await memory.act("add", {"by": 1})).data["count"] == 3


async def test_what_is_erased_takes_the_runs_that_remembered_it_along(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory:
        await memory.remember("a secret", id="secret")

        async def recalled(_: Any) -> Any:
            found = await memory.records.get("secret")
            return found and found.data

        provider.answer = recalled
        run = await memory.act("learn")
        await memory.erase("secret", reason="the subject asked", cause="user_request")

        with pytest.raises(WorldErased):
            await memory.worlds.restore(run.execution_key or "")
        replay = await memory.worlds.replay(run.execution_key or "")
        assert replay.verdict == "erased"
        tree = await memory.why(run.execution_key or "")
        assert tree.known["content"] == "erased"
        assert "a secret" not in str((await memory.why(run.proposal_id)).to_wire())


async def test_what_is_erased_while_a_run_goes_on_fails_the_run(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory, opens(domain=None) as other:
        await memory.remember("a secret", id="secret")

        async def recalled(_: Any) -> Any:
            found = await memory.records.get("secret")
            await other.erase("secret", reason="the subject asked", cause="user_request")
            return found and found.data

        provider.answer = recalled
        run = await memory.act("learn")

        assert run.status == "failed"
        assert run.error is not None
        assert run.error["code"] == "memory.erased"
        assert run.data == {"count": 0, "notes": []}
        restored = await memory.worlds.restore(run.execution_key or "")
        assert restored.input["$app"] == {"memoryContext": None, "memoryRecallFailed": True}


async def test_the_branch_of_memory_operations_is_not_for_others(memory: Memory[Any]) -> None:
    with pytest.raises(InvalidWorld):
        await memory.act("add", {"by": 1}, branch="system")
    with pytest.raises(InvalidWorld):
        await memory.worlds.project(
            Projection("any", lambda *_: None),
            ProjectionEvent(kind="ui", event_id="e1"),
            branch="system",
        )
    run = await memory.act("add", {"by": 1})
    with pytest.raises(InvalidWorld):
        await memory.worlds.branch("system", at=run.world or "")


@pytest.mark.parametrize(
    "value", [{"$set": 1}, {"a": {"$b": 1}}, [{"$c": 1}], "$", {"": 1}, {"a.b": 1}, 1.5, -0.0]
)
async def test_odd_values_in_a_state_come_back_as_they_were(opens: Opens, value: Any) -> None:
    async with opens() as memory:
        run = await memory.act("note", {"text": value})

        assert run.data["notes"] == [value]
        assert (await memory.worlds.restore(run.execution_key or "")).data["notes"] == [value]
        assert (await memory.worlds.replay(run.execution_key or "")).is_same
