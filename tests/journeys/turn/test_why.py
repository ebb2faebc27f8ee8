"""`why` tells of a cycle what the journal knows: every attempt at it, by digests."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import CycleFailed
from tests.journeys.turn.talking import Answering, talk
from tests.journeys.turn.test_failing import Broken


async def test_why_tells_every_attempt_at_a_cycle_and_nothing_that_was_said(
    memory: Memory[Any],
) -> None:
    model = Broken()
    turns = await memory.turns.open(talk(), model=model)
    with pytest.raises(CycleFailed):
        await turns.take("Was the invoice of Ada paid?", cycle_id="c1")
    model.is_broken = False
    await turns.take("Was the invoice of Ada paid?", cycle_id="c1")

    why = await memory.why("c1")

    assert (why.what, why.known["outcome"]) == ("cycle", "completed")
    first, second = why.parts
    assert (first.known["outcome"], first.known["error"]) == ("failed", "plan.model_failed")
    assert second.known["recorded"] is False
    assert len(second.known["items"]) == 1
    assert all(part.proof is not None and part.proof.holds for part in why.parts)
    assert "Ada" not in str(why.to_wire())


async def test_an_erased_cycle_says_so(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    turn = await turns.take("Was the invoice of Ada paid?")

    await memory.erase(turn.cycle_id, reason="asked for")

    assert (await memory.why(turn.cycle_id)).known["content"] == "erased"
