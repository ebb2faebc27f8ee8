"""Erasing a cycle takes all that it left, and the cycles that were made from that."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import CycleFailed, MarkMoved, ModelFailed, WriteFailed
from memoranda.plans.models import Prompt, Settings
from tests.journeys.turn.tables import Tables
from tests.journeys.turn.talking import ANSWER, Answering, Counting, found, talk, told
from tests.journeys.turn.test_failing import Broken

CANARY = "Zanzibar"
SECRET = f"The refund of {CANARY} was paid. " + ANSWER


def gone(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    """How many rows went, of each table that lost some."""
    return {name: before[name] - after[name] for name in before if before[name] != after[name]}


@pytest.mark.rule("GOV-FORGET")
@pytest.mark.parametrize("is_recording", [True, False])
async def test_all_that_a_cycle_left_goes_and_is_counted(
    memory: Memory[Any], tables: Tables, is_recording: bool
) -> None:
    turns = await memory.turns.open(talk(top_k=0), model=Answering(SECRET), record=is_recording)
    await turns.take("Was it paid?", cycle_id="c-1")
    await turns.take("And the other one?", cycle_id="c-2")
    assert turns.session is not None
    session = turns.session.session_id
    before = tables.counts()

    dry = await memory.erase("c-1", reason="asked for", dry_run=True)
    assert tables.counts() == before
    done = await memory.erase("c-1", reason="asked for")

    assert done.counts == dry.counts
    counts, lost = done.counts, gone(before, tables.counts())
    assert (counts.cycles, counts.items, counts.recordings) == (1, 1, int(is_recording))
    assert counts.keywords == lost["item_postings"] > 0
    assert (lost["memories"], lost["item_origins"], lost["cycle_salts"]) == (1, 1, 1)
    assert lost.get("recordings", 0) == int(is_recording)
    assert done.to_wire()["counts"]["items"] == 1
    assert len(await found(memory, session, SECRET)) == 1, "that of the other cycle"
    assert (await memory.verify()).is_sound


async def test_attempts_at_a_cycle_are_one_cycle(memory: Memory[Any]) -> None:
    model = Broken()
    turns = await memory.turns.open(talk(), model=model)
    for _ in range(2):
        with pytest.raises(CycleFailed):
            await turns.take("Was it paid?", cycle_id="c-1")
    failed = await memory.erase("c-1", reason="asked for", dry_run=True)
    model.is_broken = False
    await turns.take("Was it paid?", cycle_id="c-1")

    done = await memory.erase("c-1", reason="asked for")

    assert (failed.counts.cycles, failed.counts.items) == (1, 0)
    assert (done.counts.cycles, done.counts.items) == (1, 1)
    assert await told(memory, "c-1") == []


async def test_a_cycle_that_shares_its_id_with_a_record_is_erased_by_its_whole_name(
    memory: Memory[Any],
) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    await turns.take("Was it paid?", cycle_id="same")
    await memory.remember("a thing", id="same")

    first = await memory.erase("same", reason="asked for")
    second = await memory.erase("cycle/same", reason="asked for")

    assert (first.counts.objects, first.counts.cycles) == (1, 0)
    assert (second.counts.objects, second.counts.cycles) == (0, 1)
    assert await told(memory, "same") == []


async def test_a_keyword_stays_while_another_item_has_it(
    memory: Memory[Any], tables: Tables
) -> None:
    turns = await memory.turns.open(talk(top_k=0), model=Answering())
    await turns.take("Was it paid?", cycle_id="c-1")
    await turns.take("Was it paid?", cycle_id="c-2")
    before = tables.counts()

    await memory.erase("c-1", reason="asked for")
    assert "item_keywords" not in gone(before, tables.counts())
    await memory.erase("c-2", reason="asked for")

    lost = gone(before, tables.counts())
    assert lost["item_postings"] == 2 * lost["item_keywords"]


@pytest.mark.rule("GOV-FORGET")
async def test_nothing_of_it_is_left_in_any_byte(
    memory: Memory[Any], tables: Tables, request: pytest.FixtureRequest
) -> None:
    canary = f"{CANARY}{abs(hash(request.node.name)) % 10**12}"
    answer = f"The refund of {canary} was paid, and nothing is left to do. " + ANSWER
    turns = await memory.turns.open(talk(), model=Answering(answer), record=True)
    await turns.take(f"Was the refund of {canary} paid?", cycle_id="c-1")
    seen = tables.holding(canary) | tables.holding(canary.lower())
    assert seen >= ({"the file"} if tables.file else {"memories", "item_keywords", "recordings"})

    await memory.erase("c-1", reason="asked for")

    assert tables.holding(canary) | tables.holding(canary.lower()) == set()


async def test_what_was_edited_goes_as_well(memory: Memory[Any], tables: Tables) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    await turns.take("Was it paid?", cycle_id="c-1")
    assert turns.session is not None
    edited = tables.packed(b"Somebody wrote over it, with a canary.")
    tables.run("UPDATE {memories} SET body = ? WHERE session = ?", edited, turns.session.session_id)

    await memory.erase("c-1", reason="asked for")

    assert (await memory.verify()).is_sound


async def test_the_session_goes_on_and_the_id_may_be_used_again(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    await turns.take("Was it paid?", cycle_id="c-1")
    assert turns.session is not None
    session = turns.session
    await memory.erase("c-1", reason="asked for")

    again = await turns.take("Was it paid?", cycle_id="c-1")

    assert not again.retried
    assert turns.session is not None
    assert turns.session.session_id == session.session_id
    assert len(await found(memory, session.session_id, ANSWER)) == 1
    assert (await memory.verify()).is_sound


# --------------------------------------------------------------- what was made from it


@pytest.mark.rule("GOV-FORGET")
async def test_a_cycle_goes_with_those_whose_items_it_was_given(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering(SECRET), record=True)
    await turns.take("Was the refund paid?", cycle_id="c-1")
    given = await turns.take("Was the refund paid, you said?", cycle_id="c-2")
    assert len(given.outputs["retrieve"].thaw()["items"]) == 1
    await turns.take("Something quite different", cycle_id="c-3")

    dry = await memory.erase("c-1", reason="asked for", dry_run=True)
    done = await memory.erase("c-1", reason="asked for")

    assert done.counts == dry.counts
    assert (done.counts.cycles, done.counts.items, done.counts.recordings) == (2, 2, 2)
    assert (await memory.why("c-2")).known["content"] == "erased"
    assert (await memory.turns.replay("c-3")).is_same
    assert (await memory.verify()).is_sound


async def test_a_cycle_stays_when_one_goes_that_was_given_its_item(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Counting())
    await turns.take("Was the invoice of Ada paid?", cycle_id="c-1")
    await turns.take("Was the invoice of Ada paid, you said?", cycle_id="c-2")

    done = await memory.erase("c-2", reason="asked for")

    assert done.counts.cycles == 1
    assert [one.outcome for one in await told(memory, "c-1")] == ["completed"]


class Erasing(Answering):
    """A model that takes so long that a cycle is erased meanwhile."""

    def __init__(self, memory: Memory[Any]) -> None:
        super().__init__()
        self._memory = memory
        self.erases: str | None = None

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        if self.erases is not None:
            await self._memory.erase(self.erases, reason="asked for")
        return await super().complete(prompt, settings)


class Gated(Answering):
    """Says when it is asked, and answers when it is let; or fails then."""

    def __init__(self, *, fails: bool = False) -> None:
        super().__init__()
        self.is_asked, self.may_go = asyncio.Event(), asyncio.Event()
        self._fails = fails

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        self.is_asked.set()
        await self.may_go.wait()
        if self._fails:
            raise ModelFailed("m", "it is tired")
        return await super().complete(prompt, settings)


async def test_what_was_given_lands_though_another_attempt_at_its_source_fails_late(
    memory: Memory[Any],
) -> None:
    """Of two attempts at a cycle one landed: that the other one failed takes nothing away."""
    turns = await memory.turns.open(talk(), model=Counting())
    await turns.take("Where are the invoices?", cycle_id="c-0")
    late, model = Gated(fails=True), Gated()
    other = await memory.turns.open(talk(), model=late)
    attempt = asyncio.create_task(other.take("Was the invoice of Ada paid?", cycle_id="c-1"))
    await late.is_asked.wait()
    await turns.take("Was the invoice of Ada paid?", cycle_id="c-1")
    following = await memory.turns.open(talk(), model=model)
    given = asyncio.create_task(following.take("Was the invoice of Ada paid?", cycle_id="c-2"))
    await model.is_asked.wait()

    late.may_go.set()
    with pytest.raises(CycleFailed):
        await attempt
    model.may_go.set()

    assert not (await given).retried
    assert len(await told(memory, "c-1")) == 2
    done = await memory.erase("c-1", reason="asked for")
    assert done.counts.cycles == 2
    assert await told(memory, "c-2") == []
    assert (await memory.verify()).is_sound


async def test_what_was_given_something_that_is_erased_meanwhile_does_not_land(
    memory: Memory[Any],
) -> None:
    model = Erasing(memory)
    turns = await memory.turns.open(talk(), model=model)
    await turns.take("Was the invoice of Ada paid?", cycle_id="c-1")
    assert turns.session is not None
    session = turns.session.session_id
    model.erases = "c-1"

    with pytest.raises(WriteFailed) as caught:
        await turns.take("Was the invoice of Ada paid, you said?", cycle_id="c-2")

    assert isinstance(caught.value.__cause__, MarkMoved)
    assert await told(memory, "c-2") == []
    assert await found(memory, session, ANSWER) == []
    assert (await memory.verify()).is_sound
