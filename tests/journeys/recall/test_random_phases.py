"""Random phases: tasks at once, phases in phases, recalls under way, some of it given up.

Whatever they do, no proposal lands without the traces of all memory that anybody in its outermost
phase had been given by the time that it was made.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random  # noqa: TID251 - of a test, from its seed
from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import decode
from memoranda.journeys.recall.reasoning import Reasoning
from memoranda.kernel.errors import WorldError
from memoranda.recall.trace import traces_in
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.recall.test_operations import EveryChange

pytestmark = pytest.mark.anyio

WORDS = ("apple", "bread", "cider", "dates", "elder", "figs")
STEPS = 6


@dataclass
class Shared:
    """What everybody in one outermost phase may know, for all have the same variables."""

    memory: Memory[Any]
    random: Random
    refs: dict[str, str]
    """The record of each reference."""
    wanted: dict[str, set[str]]
    """What each proposal must tell of, by its text."""
    landed: list[str]
    known: set[str] = field(default_factory=set)
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    left: int = 40
    """So many steps are done at most, so that it comes to an end."""

    def mark(self) -> str:
        """A text that no other proposal has, with what is known when it is made."""
        text = f"mark-{len(self.wanted)}"
        self.wanted[text] = set(self.known)
        return text


async def given_up(shared: Shared, act: Callable[[], Awaitable[Any]]) -> Any:
    """Do it; sometimes stop waiting for it after a few turns of the loop."""
    task = asyncio.ensure_future(act())
    if shared.random.random() < 0.15:
        for _ in range(shared.random.randrange(12)):
            await asyncio.sleep(0)
        task.cancel()
    return await task


async def step(shared: Shared, phases: list[Reasoning[Any]]) -> None:
    """One thing that somebody does in some phases, the outermost first."""
    memory, random, word = shared.memory, shared.random, shared.random.choice(WORDS)
    through = random.choice(phases)
    match random.randrange(11):
        case 0 | 1 | 2:
            found = await given_up(shared, lambda: through.recall(word, top_k=random.randint(1, 2)))
            shared.refs.update({one.ref.world_id: one.id for one in found})
            shared.known.update(one.id for one in found)
        case 3:
            found = await given_up(shared, lambda: memory.recall(word, top_k=1))
            shared.known.update(one.id for one in found)
        case 4:
            if random.random() < 0.3:
                shared.known.update(one.id for one in await memory.list(text=word))
        case 5 | 6:
            text = shared.mark()
            await given_up(shared, lambda: through.propose("note", {"text": text}))
            shared.landed.append(text)
        case 7:
            text = shared.mark()
            await given_up(shared, lambda: memory.worlds.propose("note", {"text": text}))
            shared.landed.append(text)
        case 8:
            text = shared.mark()
            await given_up(shared, lambda: memory.remember(text))
            shared.landed.append(text)
        case 9:
            shared.tasks.append(asyncio.ensure_future(walk(shared, phases)))
        case _:
            async with memory.reasoning() as inner:
                await walk(shared, [*phases, inner])


async def walk(shared: Shared, phases: list[Reasoning[Any]]) -> None:
    """Some steps; what is refused, or given up, is not done."""
    for _ in range(shared.random.randrange(STEPS)):
        shared.left -= 1
        if shared.left < 0:
            return
        with suppress(WorldError, asyncio.CancelledError):
            await step(shared, phases)


async def texts_and_told(memory: Memory[Any], refs: dict[str, str]) -> dict[str, set[str]]:
    """What each proposal on record tells of, by its text."""
    found: dict[str, set[str]] = {}
    for name, _ in await inside(memory).ledger.marks("proposal/"):
        (stored,) = await inside(memory).ledger.marked(name, limit=1)
        assert stored.body is not None
        proposal = decode(stored.body)["proposal"]
        given = proposal["intent"]["body"]["input"]
        text = given["text"] if "text" in given else given["changes"][0]["object"]["statement"]
        traces = traces_in(proposal.get("trace", {}).get("context"))
        found[text] = {refs[one.ref.world_id] for trace in traces for one in trace.selected}
    return found


@pytest.mark.rule("M-2", "C-1")
@pytest.mark.rule("M-3", "C-4")
@pytest.mark.parametrize("seed", range(6))
async def test_no_proposal_lands_without_the_traces_of_what_it_used(
    opens: Opens, seed: int
) -> None:
    async with opens() as memory:
        for word in WORDS:
            await memory.remember_many([f"{word} is good", f"{word} is bad"])
    random = Random(seed)
    refs: dict[str, str] = {}
    wanted: dict[str, set[str]] = {}
    landed: list[str] = []
    async with opens(memory_policy=EveryChange()) as memory:
        for _ in range(6):
            shared = Shared(memory, random, refs, wanted, landed)
            async with memory.reasoning() as outermost:
                await walk(shared, [outermost])
                while random.random() < 0.7 and (
                    waiting := [task for task in shared.tasks if not task.done()]
                ):
                    await asyncio.wait(waiting)  # else they outlive it
            while waiting := [task for task in shared.tasks if not task.done()]:
                await asyncio.wait(waiting)
            assert all(task.exception() is None for task in shared.tasks)

        told = await texts_and_told(memory, refs)
        assert set(landed) <= set(told)
        for text, used in told.items():
            assert used >= wanted[text], text
        assert (await memory.verify()).is_sound
