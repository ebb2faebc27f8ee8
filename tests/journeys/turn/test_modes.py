"""Turns by a profile: the first text chooses the mode, and no later one changes it."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import IdempotencyConflict, InvalidPlan, SessionMismatch
from memoranda.plans.models import Prompt, Settings
from memoranda.plans.policy import Profile
from tests.fixtures import Opens
from tests.journeys.turn.talking import Answering
from tests.plans.test_policy import profile_document, short, whole


def profile(**others: Any) -> Profile:
    deep = whole("deep", topK=2)
    deep["plan"] = deep["plan"][1:]  # without a scan
    return Profile.from_wire(profile_document(**{"modes": [short("default"), deep], **others}))


async def test_the_first_text_chooses_the_mode_for_good(opens: Opens) -> None:
    async with opens() as memory:
        turns = await memory.turns.open(profile(), model=Answering())
        assert turns.planned is None
        await turns.take("recall the invoice")
        assert turns.planned is not None
        assert turns.planned.plan.metadata.mode == "deep"
        await turns.take("hello")
        assert turns.planned.plan.metadata.mode == "deep"
    async with opens() as memory:
        turns = await memory.turns.open(profile(), model=Answering())
        assert turns.planned is not None
        assert turns.planned.plan.metadata.mode == "deep"
        await turns.take("hello")


@pytest.mark.rule("ING-HASH")
async def test_a_profile_that_changed_does_not_go_on_with_the_session(
    memory: Memory[Any],
) -> None:
    turns = await memory.turns.open(profile(), model=Answering())
    await turns.take("recall the invoice")

    with pytest.raises(SessionMismatch):
        await memory.turns.open(profile(bundles=[]), model=Answering())


async def test_who_was_second_to_begin_goes_on_in_the_mode_of_the_first(opens: Opens) -> None:
    async with opens() as memory, opens() as another:
        first = await memory.turns.open(profile(), model=Answering())

        class Overtaken(Answering):
            async def complete(self, prompt: Prompt, settings: Settings) -> str:
                if not self.asked:
                    await first.take("recall the invoice", cycle_id="c-1")
                return await super().complete(prompt, settings)

        second = await another.turns.open(profile(), model=Overtaken())
        with pytest.raises(IdempotencyConflict):
            await second.take("hello", cycle_id="c-1")

        await second.take("hello")

        assert second.planned is not None
        assert second.planned.plan.metadata.mode == "deep"


async def test_a_mode_that_can_not_be_run_is_refused_before_any_turn(
    memory: Memory[Any],
) -> None:
    with pytest.raises(InvalidPlan):
        await memory.turns.open(profile(modes=[short("default"), whole("deep")]), model=Answering())
