"""A cycle lands once, however often it is tried."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import IdempotencyConflict, StoreFailed, WriteFailed
from memoranda.ledger.unit import Unit
from tests.fixtures import Opens
from tests.journeys.turn.faults import with_table
from tests.journeys.turn.talking import ANSWER, Answering, bodies, found, talk, told


def lost_answer(_: Unit) -> None:
    raise StoreFailed("the network", "it broke off")


async def test_a_cycle_that_landed_is_not_run_again(memory: Memory[Any]) -> None:
    model = Answering()
    turns = await memory.turns.open(talk(), model=model)
    first = await turns.take("Was the invoice paid?", cycle_id="c-1")
    again = await turns.take("Was the invoice paid?", cycle_id="c-1")

    assert (again.retried, again.response, again.place) == (True, None, first.place)
    assert again.items == first.items
    assert len(again.items) == 1
    assert len(model.asked) == 1
    assert len(await bodies(memory)) == 1


async def test_a_cycle_that_was_recorded_is_told_again(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering(), record=True)
    first = await turns.take("Was the invoice paid?", cycle_id="c-1")
    again = await turns.take("Was the invoice paid?", cycle_id="c-1")

    assert again.response == ANSWER
    assert dict(again.outputs) == dict(first.outputs)


@pytest.mark.rule("ING-PERSIST")
async def test_a_retry_after_an_unknown_outcome_lands_once(opens: Opens) -> None:
    async with opens() as memory:
        with_table(memory, after=lost_answer)
        turns = await memory.turns.open(talk(), model=Answering())
        with pytest.raises(WriteFailed):
            await turns.take("Was the invoice paid?", cycle_id="c-1")
    async with opens() as memory:
        turns = await memory.turns.open(talk(), model=Answering())
        again = await turns.take("Was the invoice paid?", cycle_id="c-1")

        assert again.retried
        assert len(await told(memory, "c-1")) == 1
        assert turns.session is not None
        assert len(await found(memory, turns.session.session_id, "invoice")) == 1


@pytest.mark.rule("ING-PERSIST")
async def test_of_two_that_try_the_same_cycle_at_once_one_lands(opens: Opens) -> None:
    async with opens() as memory, opens() as other:
        one = await memory.turns.open(talk(), model=Answering())
        await one.take("hello there")
        two = await other.turns.open(talk(), model=Answering())

        async def first() -> None:
            await one.take("Was the invoice paid?", cycle_id="c-1")

        class Late(Answering):
            async def complete(self, *args: Any) -> str:
                await first()  # lands while the second one is between its steps
                return await super().complete(*args)

        two = await other.turns.open(talk(), model=Late())
        again = await two.take("Was the invoice paid?", cycle_id="c-1")

        assert again.retried
        assert len(await told(memory, "c-1")) == 1


@pytest.mark.rule("ING-PERSIST")
async def test_of_two_that_begin_a_session_with_the_same_cycle_one_lands_and_both_know(
    opens: Opens,
) -> None:
    async with opens() as memory, opens() as other:
        one = await memory.turns.open(talk(), model=Answering())

        class Late(Answering):
            async def complete(self, *args: Any) -> str:
                await one.take("Was the invoice paid?", cycle_id="c-1")
                return await super().complete(*args)

        two = await other.turns.open(talk(), model=Late())
        again = await two.take("Was the invoice paid?", cycle_id="c-1")

        assert again.retried
        assert len(await told(memory, "c-1")) == 1
        assert not two.is_stopped


async def test_the_same_id_for_something_else_is_refused(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    await turns.take("Was the invoice paid?", cycle_id="c-1")
    with pytest.raises(IdempotencyConflict):
        await turns.take("Was the order paid?", cycle_id="c-1")
    other = await memory.turns.open(talk(), model=Answering(), session="other")
    with pytest.raises(IdempotencyConflict):
        await other.take("Was the invoice paid?", cycle_id="c-1")

    assert not turns.is_stopped
