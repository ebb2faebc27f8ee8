"""A turn through a plan: what was said before reaches the prompt, and all of it lands at once."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.turn.facts import salted_digest
from memoranda.kernel.errors import CycleFailed, InvalidPlan, InvalidRecord, StoreClosed
from memoranda.kernel.json import JsonValue
from memoranda.plans.items import MemoryItem, item_digest
from memoranda.plans.plan import document_hash
from memoranda.plans.policy import policy_ref
from memoranda.plans.steps.answer import SummarizeMemoryPayload
from memoranda.plans.summary import Limits, Summary
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.turn.talking import (
    ANSWER,
    Answering,
    Replaced,
    bodies,
    found,
    prompting,
    salt_of,
    size,
    talk,
    told,
)


async def test_a_turn_answers_and_leaves_an_item_a_session_and_a_fact(
    memory: Memory[Any],
) -> None:
    await memory.remember("the journal has begun")
    turns = await memory.turns.open(talk(), model=Answering())
    before = await size(memory)

    turn = await turns.take("Was the invoice of Ada paid?")

    assert turn.response == ANSWER
    assert await size(memory) == before + 2, "its fact, and the model, declared by its first use"
    assert turns.session is not None
    stored = turns.session.stored
    assert stored is not None
    assert stored.last_execution_plan_hash == document_hash(
        talk(), policy_ref("default", "default")
    )
    items = await found(memory, stored.session_id, "invoice ada")
    assert [item.id for item in items] == [turn.outputs["keep"].thaw()["id"]]
    assert ANSWER not in items[0].summary
    assert stored.updated_at == items[0].timestamp


async def test_what_was_said_before_reaches_the_prompt(memory: Memory[Any]) -> None:
    model = Answering()
    turns = await memory.turns.open(talk(), model=model)
    await turns.take("Was the invoice of Ada paid?")
    first = model.asked[-1].user
    await turns.take("What about the invoice?")
    second = model.asked[-1].user

    items = await found(memory, turns.session.session_id, "invoice")  # type: ignore[union-attr]
    assert items[-1].summary not in first
    assert any(item.summary in second for item in items)


async def test_a_session_goes_on_in_another_process(opens: Opens) -> None:
    model = Answering()
    async with opens() as memory:
        turns = await memory.turns.open(talk(), model=model, session="s1")
        await turns.take("Was the invoice of Ada paid?")
        began = turns.session
    async with opens() as memory:
        turns = await memory.turns.open(talk(), model=model, session="s1")
        await turns.take("And the invoice?")
        assert turns.session is not None
        assert began is not None
        assert turns.session.session_id == began.session_id

    assert "invoice" in model.asked[-1].user.lower()
    assert "memory" in model.asked[-1].user.lower()


@pytest.mark.rule("ING-SESSION")
async def test_two_sessions_see_nothing_of_each_other(memory: Memory[Any]) -> None:
    model = Answering()
    one = await memory.turns.open(talk(), model=model, session="one")
    other = await memory.turns.open(talk(), model=model, session="other")
    await one.take("Was the invoice of Ada paid?")
    await other.take("Was the invoice of Ada paid?")

    assert 'from "memory' not in model.asked[-1].user


async def test_the_fact_has_digests_and_never_content(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(
        talk(), model=Answering("Canary answers. " * 3 + "Twice or so.")
    )
    turn = await turns.take("the canary asks", cycle_id="c-1")

    (cycle,) = await told(memory, "c-1")
    assert set(cycle.document) == {
        "type", "cycleId", "sessionRef", "planHash", "turn", "outcome",
        "steps", "items", "session", "recorded", "salt", "marks", "plan",
    }  # fmt: skip
    assert cycle.outcome == "completed"
    assert cycle.seq == turn.place.seq
    salt = await salt_of(memory, "c-1")
    given = [[id, salted_digest(salt, one.digest)] for id, one in turn.outputs.items()]
    assert cycle.document["steps"] == given
    session = turns.session
    assert session is not None
    items = await found(memory, session.session_id, "canary")
    assert len(cycle.document["items"]) == len(items) == 1
    assert "canary" not in str(await bodies(memory)).lower()


async def test_a_turn_tells_what_it_was_given_and_what_it_stored(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    first = await turns.take("Was the invoice of Ada paid?")
    second = await turns.take("And when is the next invoice due?")

    assert (first.retrieved, first.not_kept, first.retried) == ((), None, False)
    assert [item.id for item in second.retrieved] == list(first.items)
    assert second.retrieved[0].summary == first.outputs["summarize"].thaw()["summary"]
    assert list(second.items) == [second.outputs["keep"].thaw()["id"]]


@pytest.mark.rule("ING-PERSIST")
async def test_an_answer_that_is_too_short_stores_nothing_and_the_turn_says_so(
    memory: Memory[Any],
) -> None:
    turns = await memory.turns.open(talk(), model=Answering("Ok."))
    turn = await turns.take("Was the invoice paid?", cycle_id="c-1")
    again = await turns.take("Was the invoice paid?", cycle_id="c-1")
    other = await memory.turns.open(talk(without="scan keep"), model=Answering(), session="other")

    assert turn.response == "Ok."
    assert turn.items == again.items == ()
    assert turn.not_kept == again.not_kept == "the answer is too short to be summarised"
    assert (await other.take("Was the invoice paid?")).not_kept is None
    assert (await told(memory, "c-1"))[0].document["items"] == []
    session = turns.session
    assert session is not None
    assert await found(memory, session.session_id, "Was the invoice paid? Ok.") == []
    assert (await memory.verify()).is_sound


async def test_the_digest_of_the_item_is_in_the_fact(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    turn = await turns.take("Was the invoice of Ada paid?", cycle_id="c-1")
    made = turn.outputs["summarize"].thaw()
    session = turns.session
    assert session is not None
    assert session.stored is not None
    item = MemoryItem.model_validate(
        {
            "id": turn.outputs["keep"].thaw()["id"],
            "sessionRef": session.session_id,
            "timestamp": session.stored.updated_at,
            **made,
        }
    )
    (cycle,) = await told(memory, "c-1")

    salt = await salt_of(memory, "c-1")
    assert cycle.document["items"] == [salted_digest(salt, item_digest(item))]


@pytest.mark.rule("ING-SUMMARY-STEP")
@pytest.mark.parametrize("without", ["scan summarize keep", "scan keep"])
async def test_a_plan_without_the_steps_stores_no_item(memory: Memory[Any], without: str) -> None:
    turns = await memory.turns.open(talk(without=without), model=Answering())
    await turns.take("Was the invoice of Ada paid?", cycle_id="c-1")

    session = turns.session
    assert session is not None
    assert session.stored is not None
    assert await found(memory, session.session_id, "Was the invoice of Ada paid? " + ANSWER) == []
    assert (await told(memory, "c-1"))[0].document["items"] == []


async def test_a_folder_that_was_scanned_is_in_the_session(
    memory: Memory[Any], tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "a.txt").write_text("a")
    plan = talk(without="")
    plan["steps"][0]["payload"] = {"path": str(folder)}
    turns = await memory.turns.open(plan, model=Answering())
    turn = await turns.take("What is new?")

    session = turns.session
    assert session is not None
    assert session.repo_scan_version == turn.outputs["scan"].thaw()["versionId"]


async def test_a_listener_hears_the_answer_as_it_comes(memory: Memory[Any]) -> None:
    heard: list[str] = []

    async def listen(piece: str) -> None:
        heard.append(piece)

    turns = await memory.turns.open(talk(), model=Answering())
    turn = await turns.take("Was it paid?", listener=listen)

    assert "".join(heard) == turn.response
    assert len(heard) > 5


async def test_a_step_can_be_replaced(memory: Memory[Any]) -> None:
    model = Answering()
    shouting = prompting(lambda inputs: {"prompt": {"user": str(inputs["text"]).upper()}})
    turns = await memory.turns.open(talk(), model=model, steps=[shouting])
    await turns.take("was it paid?")

    assert model.asked[-1].user == "WAS IT PAID?"


@pytest.mark.rule("ING-RAW")
async def test_a_step_in_the_place_of_the_summary_can_not_keep_the_response(
    memory: Memory[Any],
) -> None:
    def keep_all(inputs: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        return {"summary": inputs["response"].upper(), "keywords": ["invoice"]}

    takes = {"response": ("LLMCall",), "text?": ("$turn",)}
    own = Replaced(
        "SummarizeMemory",
        "SummarizeMemory",
        takes,
        ("summary", "keywords"),
        keep_all,
        SummarizeMemoryPayload,
    )
    turns = await memory.turns.open(talk(), model=Answering(), steps=[own])

    with pytest.raises(CycleFailed) as caught:
        await turns.take("What about the invoice?", cycle_id="raw")

    assert caught.value.step == "keep"
    assert [cycle.outcome for cycle in await told(memory, "raw")] == ["failed"]
    assert turns.session is not None
    assert await found(memory, turns.session.session_id, "invoice") == []


@pytest.mark.rule("ING-RAW")
async def test_a_plan_that_does_not_show_what_was_said_can_not_keep_it_either(
    memory: Memory[Any],
) -> None:
    said = "Please tell me all about the invoice of Ada Lovelace."
    plan = talk()
    for step in plan["steps"]:
        if step["type"] == "SummarizeMemory":
            del step["inputs"]["text"]

    class Repeating:
        async def summarise(self, response: str, text: str | None, limits: Limits) -> Summary:
            _ = response, limits
            assert text is None
            return Summary(f"Asked: {said}", ["invoice"])

    turns = await memory.turns.open(plan, model=Answering(), summariser=Repeating())

    with pytest.raises(CycleFailed):
        await turns.take(said)


async def test_turns_are_taken_one_after_another(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    taken = await asyncio.gather(*(turns.take(f"question {n}") for n in range(5)))

    assert len({turn.cycle_id for turn in taken}) == 5
    assert [one["outcome"] for one in await bodies(memory)] == ["completed"] * 5
    assert len({one["sessionRef"] for one in await bodies(memory)}) == 1


async def test_a_plan_that_is_wrong_is_refused_before_anything_is_read(
    memory: Memory[Any],
) -> None:
    before = await size(memory)
    with pytest.raises(InvalidPlan) as caught:
        await memory.turns.open(talk(top_k=None), model=Answering())

    assert len(caught.value.violations) == 1
    assert await size(memory) == before


async def test_nothing_is_written_before_the_first_turn_has_landed(memory: Memory[Any]) -> None:
    before = await size(memory)
    turns = await memory.turns.open(talk(), model=Answering(), session="cold")

    assert turns.session is not None
    assert turns.session.is_cold
    assert await size(memory) == before
    assert await inside(memory).turning.scope.table.ledger.attachments.session("cold") is None


@pytest.mark.parametrize("cycle_id", ["", "x" * 129, "a\0b", 7])
async def test_an_id_that_can_not_be_stored_is_refused(memory: Memory[Any], cycle_id: Any) -> None:
    turns = await memory.turns.open(talk(), model=Answering())

    with pytest.raises(InvalidRecord):
        await turns.take("x", cycle_id=cycle_id)


async def test_a_handle_that_is_closed_takes_no_turns(opens: Opens) -> None:
    async with opens() as other:  # keeps the database open
        async with opens() as memory:
            turns = await memory.turns.open(talk(), model=Answering())

        with pytest.raises(StoreClosed):
            await memory.turns.open(talk(), model=Answering())
        with pytest.raises(StoreClosed):
            await turns.take("Was it paid?")
        assert await bodies(other) == []


async def test_a_journal_with_cycles_is_sound(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering(), record=True)
    await turns.take("Was the invoice paid?")
    broken = await memory.turns.open(talk(), model=Answering(" "))
    with pytest.raises(CycleFailed):
        await broken.take("Was the invoice paid?")

    assert (await memory.verify()).is_sound
