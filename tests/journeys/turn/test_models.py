"""The models of turns count: one that the scope does not declare is a conformance break."""

from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.errors import ConformanceBroken, CycleFailed
from memoranda.plans.models import Prompt, Settings
from memoranda.plans.summary import ModelSummariser
from tests.fixtures import Opens
from tests.journeys.turn.tables import Tables
from tests.journeys.turn.talking import Answering, talk

pytestmark = pytest.mark.rule("GOV-BREAK")


class Named(Answering):
    """A model that says which one it is, and sums up when it is asked to."""

    def __init__(self, identity: str) -> None:
        super().__init__()
        self.identity = identity

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        if prompt.system is not None and "notes about conversations" in prompt.system:
            return '{"summary": "An invoice was paid.", "keywords": ["invoice"]}'
        return await super().complete(prompt, settings)


async def take(memory: Memory[Any], model: Named, **options: Any) -> None:
    turns = await memory.turns.open(talk(), model=model, fresh=True, **options)
    await turns.take("what of the invoice?")
    await turns.take("and the reminder?")


async def roles(memory: Memory[Any]) -> Any:
    return (await memory.govern.status()).policies["models"].rules["roles"]


async def test_the_first_model_of_turns_is_declared_and_another_is_a_break(
    memory: Memory[Any], opens: Opens
) -> None:
    await take(memory, Named("large/1"))
    assert await roles(memory) == {"chat": ["large/1"]}
    assert (await memory.govern.status()).breaks == {}

    await take(memory, Named("large/2"))
    await take(memory, Named("large/2"))

    (why,) = (await memory.govern.status()).breaks.values()
    assert "large/2" in why
    with pytest.raises(ConformanceBroken):
        await memory.list(factual=True)
    async with opens(actor="human:auditor") as auditor:
        report = await auditor.verify()
        await auditor.govern.record_audit("audit/1", report=report, reason="compared the answers")
    await take(memory, Named("large/2"))
    assert (await memory.govern.status()).breaks == {}
    await take(memory, Named("large/1"))
    assert len((await memory.govern.status()).breaks) == 1, "a change back is a change"


async def test_a_summariser_that_asks_a_model_has_a_role_of_its_own(memory: Memory[Any]) -> None:
    await take(
        memory,
        Named("large/1"),
        summariser=lambda model: ModelSummariser(model, Settings(model="small/1")),
    )

    assert await roles(memory) == {"chat": ["large/1"], "summariser": ["small/1"]}


async def test_an_item_that_is_damaged_is_a_break(memory: Memory[Any], tables: Tables) -> None:
    turns = await memory.turns.open(talk(), model=Named("large/1"))
    await turns.take("what of the invoice?")
    assert turns.session is not None
    tables.run("DELETE FROM {memories} WHERE session = ?", turns.session.session_id)

    for _ in range(2):
        with pytest.raises(CycleFailed):
            await turns.take("the invoice of Ada Lovelace?")

    (why,) = (await memory.govern.status()).breaks.values()
    assert "item" in why
