"""A plain action that is approved as it is proposed: all of it is on record in one transaction."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import BranchMoved, WorldErased
from memoranda.ledger.unit import Unit
from memoranda.worlds.action import ActionContext, Patch, Set
from memoranda.worlds.domain import Domain
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.intent.counter import COUNTER
from tests.journeys.intent.simulators import Provider


class Units:
    """Keeps the kinds of entries of each transaction that worlds are written by."""

    def __init__(self, memory: Memory[Any], patch: pytest.MonkeyPatch) -> None:
        self.kinds: list[list[str]] = []
        chronicle = inside(memory).intents.chronicle
        run = chronicle.run

        async def noted(unit: Unit) -> Any:
            self.kinds.append([draft.kind for draft in unit.decide([])])
            return await run(unit)

        patch.setattr(chronicle, "run", noted)


async def proposals(memory: Memory[Any]) -> list[str]:
    """The ids of all proposals on record."""
    marks = await inside(memory).ledger.marks("proposal/")
    return [name.removeprefix("proposal/") for name, _ in marks]


def looking(seen: list[list[str]], memory: list[Memory[Any]]) -> Domain:
    """A domain whose actions look at what is on record while they run."""
    domain = Domain("looking", "1", initial={"count": 0})

    async def look() -> int:
        seen.append(await proposals(memory[0]))
        return len(seen)

    @domain.action
    async def waits(_ctx: ActionContext[None]) -> Patch:
        return Set("count", await look())

    @domain.action
    def hands_on(ctx: ActionContext[None]) -> Awaitable[Patch]:
        async def rest() -> Patch:
            return Set("count", await ctx.effect("look", look))

        return rest()

    @domain.action
    def cancels(_ctx: ActionContext[None]) -> None:
        raise asyncio.CancelledError

    return domain


async def test_proposal_decision_run_and_world_are_one_transaction(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    await memory.act("add", {"by": 1})
    units = Units(memory, monkeypatch)

    run = await memory.act("add", {"by": 2})

    assert run.data == {"count": 3, "notes": []}
    assert units.kinds == [["proposal", "decision", "execution", "world", "execution"]]
    assert await memory.worlds.standing(run.proposal_id) == await memory.worlds.run(run.proposal_id)
    assert not await inside(memory).ledger.marks("running/")
    assert (await memory.worlds.replay(run.execution_key or "")).is_same
    assert (await memory.verify()).is_sound


async def test_where_it_can_not_be_written_nothing_of_it_is_on_record(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(_unit: Unit) -> Any:
        raise OSError("the disk is full")

    await memory.act("add", {"by": 1})
    before = await proposals(memory)
    with monkeypatch.context() as patch:
        patch.setattr(inside(memory).intents.chronicle, "run", down)
        with pytest.raises(OSError, match="full"):
            await memory.act("add", {"by": 2})

    assert await proposals(memory) == before
    assert (await memory.act("add", {"by": 2})).data["count"] == 3


async def test_a_world_that_is_known_already_is_reached_again(memory: Memory[Any]) -> None:
    first = await memory.act("add", {"by": 1})
    await memory.act("add", {"by": 1})

    again = await memory.act("add", {"by": -1})
    same = await memory.act("nothing")

    assert (again.world, same.world) == (first.world, first.world)
    assert (await memory.verify()).is_sound


async def test_one_whose_head_moves_meanwhile_is_on_record_as_failed(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory, opens(actor="agent:other") as other:
        await memory.act("add", {"by": 1})

        async def faster(_query: object) -> str:
            await other.act("add", {"by": 5})
            return "too late"

        provider.answer = faster
        with pytest.raises(BranchMoved):
            await memory.act("add", {"by": 1})

        states = [await memory.worlds.standing(id) for id in await proposals(memory)]
        assert sorted(state.status for state in states) == ["completed", "completed", "failed"]
        (failed,) = (state for state in states if state.status == "failed")
        assert failed.error is not None
        assert failed.error["code"] == "world.conflict"
        assert not await inside(memory).ledger.marks("running/")
        assert (await memory.verify()).is_sound


@pytest.mark.rule("M-2")
async def test_one_whose_memory_is_erased_meanwhile_is_refused(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory, opens(actor="human:ann") as other:
        await memory.act("add", {"by": 1})
        before = await proposals(memory)
        told = await memory.remember("count by three")
        found = await memory.recall("count", top_k=1)

        async def erases(_query: object) -> str:
            await other.erase(told.id, reason="asked to", cause="user_request")
            return "gone"

        provider.answer = erases
        with pytest.raises(WorldErased):
            await memory.act("add", {"by": 3}, memory=found)

        assert await proposals(memory) == before


async def test_an_action_that_waits_has_its_proposal_on_record_before_it_runs(opens: Opens) -> None:
    seen: list[list[str]] = []
    handles: list[Memory[Any]] = []
    async with opens(domain=looking(seen, handles)) as memory:
        handles.append(memory)

        run = await memory.act("waits")

        assert run.is_completed
        assert seen == [[run.proposal_id]]


async def test_an_effect_is_called_only_when_its_proposal_is_on_record(opens: Opens) -> None:
    seen: list[list[str]] = []
    handles: list[Memory[Any]] = []
    async with opens(domain=looking(seen, handles)) as memory:
        handles.append(memory)

        run = await memory.act("hands_on")

        assert run.is_completed
        assert seen == [[run.proposal_id]]
        assert not await inside(memory).ledger.marks("running/")
        assert (await memory.worlds.replay(run.execution_key or "")).is_same
        assert (await memory.verify()).is_sound


async def test_an_action_that_cancels_itself_has_failed(opens: Opens) -> None:
    async with opens(domain=looking([], [])) as memory:
        run = await memory.act("cancels")

        assert run.status == "failed"
        assert run.error is not None
        assert run.error["code"] == "host.raised"


async def test_an_action_that_is_gone_when_it_is_run_has_failed(opens: Opens) -> None:
    domain = looking([], [])
    async with opens(domain=domain) as memory:
        proposed = await memory.worlds.propose("cancels")
    async with opens(domain=COUNTER) as memory:
        run = await memory.worlds.run(proposed.proposal_id)

        assert run.status == "failed"
        assert run.error is not None
        assert run.error["code"] == "action.unknown"
