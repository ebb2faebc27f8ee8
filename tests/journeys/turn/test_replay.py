"""A recorded cycle is run again: the same prompt and the same items, or the first difference."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memory
from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import CycleFailed, NotRecorded, WorldNotFound
from memoranda.ledger.attachments import CycleValues
from memoranda.ledger.unit import Unit
from memoranda.plans.models import Prompt, Settings
from memoranda.plans.summary import Limits, ModelSummariser, Summary
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.journeys.turn.faults import FaultyTable, with_table
from tests.journeys.turn.talking import Answering, found, prompting, size, talk, told


async def recorded_turn(memory: Memory[Any], **options: Any) -> str:
    """A turn with something to retrieve, recorded; returns what was asked."""
    model = options.pop("model", None) or Answering()
    turns = await memory.turns.open(talk(), model=model, record=True, **options)
    await turns.take("Was the invoice of Ada paid?")
    await turns.take("What about the invoice, then?", cycle_id="c-2")
    return str(model.asked[-1].user)


async def test_a_replay_has_the_same_prompt_and_the_same_items(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    asked = await recorded_turn(memory)
    before = await size(memory)
    clock.advance(1_000_000)

    replay = await memory.turns.replay("c-2")

    assert replay.difference is None
    assert replay.is_same
    assert replay.prompt == asked
    assert "invoice" in asked
    assert await size(memory) == before


async def test_a_cycle_has_one_time_and_its_replay_has_it_too(opens: Opens) -> None:
    class Ticking(FrozenClock):
        """Later each time it is looked at."""

        def now_ms(self) -> int:
            self.advance(7)
            return self.at

    async with opens(clock=Ticking(1_763_000_000_000)) as memory:
        turns = await memory.turns.open(talk(), model=Answering(), record=True)
        await turns.take("Was the invoice of Ada paid?", cycle_id="c-1")

        session = turns.session
        assert session is not None
        assert session.stored is not None
        (item,) = await found(memory, session.session_id, "invoice")
        (cycle,) = await told(memory, "c-1")
        assert item.timestamp == session.stored.updated_at == format_time(cycle.at)
        assert (await memory.turns.replay("c-1")).is_same


async def test_a_model_that_summarises_is_answered_from_the_recording(
    memory: Memory[Any],
) -> None:
    class Both(Answering):
        async def complete(self, prompt: Prompt, settings: Settings) -> str:
            if "notes" in (prompt.system or ""):
                return '{"summary": "Paid on Monday", "keywords": ["invoice"]}'
            return await super().complete(prompt, settings)

    await recorded_turn(memory, model=Both(), summariser=ModelSummariser)

    assert (await memory.turns.replay("c-2", summariser=ModelSummariser)).is_same
    other = await memory.turns.replay("c-2")
    assert other.difference is not None
    assert other.difference.where == "summarize"


async def test_a_folder_that_changed_since_does_not_matter(
    memory: Memory[Any], tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    plan = talk(without="")
    plan["steps"][0]["payload"] = {"path": str(folder)}
    turns = await memory.turns.open(plan, model=Answering(), record=True)
    await turns.take("What is new?", cycle_id="c-1")
    (folder / "a.txt").write_text("b")

    assert (await memory.turns.replay("c-1")).is_same


async def test_the_first_step_that_gives_something_else_is_named(memory: Memory[Any]) -> None:
    await recorded_turn(memory)
    shouting = prompting(lambda inputs: {"prompt": {"user": str(inputs["text"]).upper()}})

    replay = await memory.turns.replay("c-2", steps=[shouting])

    assert replay.difference is not None
    assert replay.difference.where == "assemble"
    assert replay.prompt == "WHAT ABOUT THE INVOICE, THEN?"


async def test_another_summariser_is_found_at_the_summary(memory: Memory[Any]) -> None:
    class Terse:
        async def summarise(self, response: str, text: str | None, limits: Limits) -> Summary:
            _ = response, text, limits
            return Summary("Terse", ("terse",))

    await recorded_turn(memory)
    replay = await memory.turns.replay("c-2", summariser=Terse())

    assert replay.difference is not None
    assert replay.difference.where == "summarize"


def _other_prompt(document: Any) -> None:
    document["steps"][2]["output"] = {"prompt": {"user": "something else"}}


def _step_twice(document: Any) -> None:
    document["steps"].append(document["steps"][0])


def _other_policy(document: Any) -> None:
    document["policyRef"]["policyId"] = "other"


def _step_renamed(document: Any) -> None:
    document["plan"]["steps"][0]["id"] = "other"


def _step_added(document: Any) -> None:
    document["plan"]["steps"].append({**document["plan"]["steps"][-1], "id": "other"})


def _other_cycle(document: Any) -> None:
    document["cycleId"] = "c-1"


def _other_hash(document: Any) -> None:
    document["planHash"] = "0" * 64


def _other_session(document: Any) -> None:
    document["turn"]["sessionRef"] = "other"


def _text_gone(document: Any) -> None:
    del document["turn"]["text"]


def _more_given(document: Any) -> None:
    document["turn"]["more"] = "1"


def _other_text(document: Any) -> None:
    document["turn"]["text"] = "Something else was said"


def _other_answer(document: Any) -> None:
    document["answers"] = ["Something else was answered"]


def _more_answers(document: Any) -> None:
    document["answers"].append("And something more")


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (_other_prompt, "the recording"),
        (_step_twice, "the recording"),
        (_other_policy, "the recording"),
        (_step_renamed, "the recording"),
        (_step_added, "the recording"),
        (_other_cycle, "the recording"),
        (_other_hash, "the recording"),
        (_other_session, "the recording"),
        (_text_gone, "the recording"),
        (_more_given, "the recording"),
        (_other_text, "the recording"),
        (_other_answer, "the recording"),
        (_more_answers, "the recording"),
    ],
)
async def test_a_recording_that_was_changed_is_not_believed(
    memory: Memory[Any], change: Callable[[Any], None], where: str
) -> None:
    def tampered(unit: Unit) -> Unit:
        def changed(one: Any) -> Any:
            if not isinstance(one, CycleValues):
                return one
            document = decode(one.body)
            change(document)
            return one._replace(body=canonical_bytes(document))

        return unit._replace(attachments=tuple(changed(one) for one in unit.attachments))

    table = with_table(memory)
    land = table.commit

    async def commit(unit: Unit) -> Any:
        return await land(tampered(unit))

    object.__setattr__(table, "commit", commit)
    assert isinstance(table, FaultyTable)
    await recorded_turn(memory)

    replay = await memory.turns.replay("c-2")

    assert replay.difference is not None
    assert replay.difference.where == where
    assert len((await memory.govern.status()).breaks) == 1  # GOV-BREAK: a read found damage


@pytest.mark.rule("ING-RAW")
async def test_a_cycle_that_was_not_recorded_says_so(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    await turns.take("Was the invoice paid?", cycle_id="c-1")

    with pytest.raises(NotRecorded):
        await memory.turns.replay("c-1")


async def test_a_cycle_that_failed_left_nothing_to_replay(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering(" "), record=True)
    with pytest.raises(CycleFailed):
        await turns.take("Was the invoice paid?", cycle_id="c-1")

    with pytest.raises(NotRecorded):
        await memory.turns.replay("c-1")


@pytest.mark.parametrize("cycle_id", ["nowhere", "a\0b"])
async def test_a_cycle_that_never_was_is_not_found(memory: Memory[Any], cycle_id: str) -> None:
    with pytest.raises(WorldNotFound):
        await memory.turns.replay(cycle_id)
