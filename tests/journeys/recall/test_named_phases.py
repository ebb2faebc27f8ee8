"""A reasoning phase that goes by a name may go on in another process, and over a door."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import decode
from memoranda.kernel.errors import InvalidWorld, ReasoningClosed, TraceMissing
from memoranda.recall.trace import traces_in
from tests.fixtures import Opens
from tests.handles import inside

pytestmark = pytest.mark.anyio


async def traces_of(memory: Memory[Any], proposal_id: str) -> list[str]:
    stored = await inside(memory).ledger.marked(f"proposal/{proposal_id}")
    assert stored[0].body is not None
    context = decode(stored[0].body)["proposal"]["trace"]["context"]
    return [trace.query for trace in traces_in(context)]


@pytest.mark.rule("M-2", "M-3")
async def test_a_proposal_rests_on_all_recalls_of_the_phase_that_it_names(
    memory: Memory[Any], opens: Opens
) -> None:
    await memory.remember("count by three")
    await memory.recall("something else", top_k=1)
    await memory.recall("count", top_k=1, reasoning_id="r1")
    async with opens() as elsewhere:
        await elsewhere.recall("three", top_k=1, reasoning_id="r1")

        run = await elsewhere.act("add", {"by": 3}, reasoning_id="r1")

    assert run.is_completed
    assert await traces_of(memory, run.proposal_id) == ["count", "three"]


@pytest.mark.rule("M-3")
async def test_a_phase_is_closed_by_the_proposal_that_names_it(memory: Memory[Any]) -> None:
    await memory.recall("count", top_k=1, reasoning_id="r1")
    named: dict[str, Any] = {"reasoning_id": "r1", "idempotency_key": "k"}
    proposed = await memory.worlds.propose("add", {"by": 3}, **named)

    with pytest.raises(ReasoningClosed):
        await memory.recall("count", top_k=1, reasoning_id="r1")
    with pytest.raises(ReasoningClosed):
        await memory.worlds.propose("add", {"by": 4}, reasoning_id="r1")
    with pytest.raises(ReasoningClosed):
        await memory.act("add", {"by": 4}, reasoning_id="r1")
    again = await memory.worlds.propose("add", {"by": 3}, **named)

    assert again.proposal_id == proposed.proposal_id
    assert (await memory.worlds.branches())[0].name == "main"


@pytest.mark.rule("M-2")
async def test_a_phase_without_a_recall_or_of_somebody_else_is_refused(
    memory: Memory[Any], opens: Opens
) -> None:
    found = await memory.recall("count", top_k=1, reasoning_id="r1")

    with pytest.raises(TraceMissing):
        await memory.act("add", {"by": 3}, reasoning_id="r2")
    async with opens(actor="agent:other") as other:
        with pytest.raises(TraceMissing):
            await other.act("add", {"by": 3}, reasoning_id="r1")
    with pytest.raises(InvalidWorld):
        await memory.act("add", {"by": 3}, memory=found, reasoning_id="r1")

    assert (await memory.act("add", {"by": 3}, reasoning_id="r1")).is_completed


@pytest.mark.rule("M-3")
async def test_what_is_recalled_at_once_with_the_proposal_is_in_it_or_refused(
    memory: Memory[Any],
) -> None:
    """Whoever is first: no recall of a phase is left out of the proposal that closes it."""
    for number in range(8):
        id = f"r{number}"
        await memory.recall("first", top_k=1, reasoning_id=id)
        outcomes = await asyncio.gather(
            memory.recall("second", top_k=1, reasoning_id=id),
            memory.worlds.propose("add", {"by": 1}, reasoning_id=id),
            return_exceptions=True,
        )
        recalled, proposed = outcomes
        if isinstance(proposed, BaseException):
            assert isinstance(proposed, TraceMissing)
            assert not isinstance(recalled, BaseException)
            proposed = await memory.worlds.propose("add", {"by": 1}, reasoning_id=id)
        elif isinstance(recalled, BaseException):
            assert isinstance(recalled, ReasoningClosed)
        queries = await traces_of(memory, proposed.proposal_id)
        assert ("second" in queries) == (not isinstance(recalled, BaseException))


@pytest.mark.rule("M-3")
async def test_a_phase_in_code_is_closed_for_whoever_names_it(memory: Memory[Any]) -> None:
    async with memory.reasoning() as r:
        await r.recall("count", top_k=1)
        with pytest.raises(TypeError):
            await r.recall("count", top_k=1, reasoning_id="another")
        id = r.id
    await memory.act("add", {"by": 1}, reasoning_id=id)

    with pytest.raises(ReasoningClosed):
        await memory.recall("count", top_k=1, reasoning_id=id)
