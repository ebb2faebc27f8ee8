"""A turn that fails leaves nothing but the fact that it failed; a failed write stops everything."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.records.foreign import TookTooLong
from memoranda.kernel.errors import (
    CycleFailed,
    InvalidPlan,
    InvalidRecord,
    ItemDamaged,
    ModelFailed,
    RuntimeStopped,
    SessionMismatch,
    StoreFailed,
    WriteFailed,
)
from memoranda.ledger.unit import Unit
from memoranda.plans.items import MemoryItem, RetrievedItem
from memoranda.plans.models import Prompt, Settings
from memoranda.plans.steps.answer import (
    LLMCallPayload,
    PersistMemory,
    PersistMemoryPayload,
    PersistSessionPayload,
)
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.turn.faults import with_table
from tests.journeys.turn.talking import Answering, Replaced, bodies, found, prompting, talk, told


class Broken(Answering):
    """A model that does not answer while it is broken."""

    is_broken = True

    async def complete(self, prompt: Prompt, settings: Settings) -> str:
        if self.is_broken:
            raise ModelFailed("m", "secret canary")
        return await super().complete(prompt, settings)


def broken_disk(_: Unit) -> None:
    raise StoreFailed("the disk", "it is full")


@pytest.mark.rule("ING-PERSIST")
@pytest.mark.rule("ING-NO-FALLBACK")
async def test_a_cycle_that_fails_stores_nothing_and_is_journaled(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Broken())
    with pytest.raises(CycleFailed) as caught:
        await turns.take("Was it paid?", cycle_id="c-1")

    assert caught.value.step == "call"
    assert caught.value.not_done == ("summarize", "keep", "end")
    (cycle,) = await told(memory, "c-1")
    assert set(cycle.document) == {
        "type", "cycleId", "sessionRef", "planHash", "outcome", "step", "error", "marks",
    }  # fmt: skip
    assert cycle.document["outcome"] == "failed"
    assert (cycle.document["step"], cycle.document["error"]) == ("call", "plan.model_failed")
    assert "canary" not in str(cycle.document)
    assert await inside(memory).turning.scope.table.ledger.attachments.session("default") is None


async def test_after_a_failed_cycle_the_next_turn_goes_on(memory: Memory[Any]) -> None:
    model = Broken()
    turns = await memory.turns.open(talk(), model=model)
    with pytest.raises(CycleFailed):
        await turns.take("Was it paid?", cycle_id="c-1")
    model.is_broken = False
    turn = await turns.take("Was it paid?", cycle_id="c-1")

    assert not turns.is_stopped
    assert not turn.retried
    assert [one["outcome"] for one in await bodies(memory)] == ["failed", "completed"]


@pytest.mark.rule("ING-NO-FALLBACK")
@pytest.mark.rule("ING-PARTIAL")
async def test_a_retrieval_that_fails_is_no_empty_one(memory: Memory[Any]) -> None:
    class Damaged:
        async def search(self, query: str, top_k: int) -> list[RetrievedItem]:
            raise ItemDamaged("7", f"{query} {top_k}")

        async def save(self, item: MemoryItem) -> None:
            raise NotImplementedError(item)

    async def items(_: str) -> Damaged:
        return Damaged()

    model = Answering()
    object.__setattr__(inside(memory).turning.scope, "items", items)
    turns = await memory.turns.open(talk(), model=model)
    with pytest.raises(CycleFailed) as caught:
        await turns.take("Was it paid?", cycle_id="c-1")

    assert isinstance(caught.value.__cause__, ItemDamaged)
    assert model.asked == []
    assert (await told(memory, "c-1"))[0].document["error"] == "store.item_damaged"


@pytest.mark.rule("ING-FAILFAST")
async def test_a_commit_that_fails_stops_the_runtime(memory: Memory[Any]) -> None:
    with_table(memory, before=broken_disk)
    turns = await memory.turns.open(talk(), model=Answering())
    with pytest.raises(WriteFailed):
        await turns.take("Was it paid?")
    with pytest.raises(RuntimeStopped):
        await turns.take("Was it paid?")

    assert turns.is_stopped
    assert await bodies(memory) == []
    assert await inside(memory).turning.scope.table.ledger.attachments.session("default") is None


@pytest.mark.rule("ING-FAILFAST")
async def test_a_failed_cycle_that_can_not_be_journaled_stops_the_runtime(
    memory: Memory[Any],
) -> None:
    with_table(memory, before=broken_disk)
    turns = await memory.turns.open(talk(), model=Broken())
    with pytest.raises(WriteFailed):
        await turns.take("Was it paid?")

    assert turns.is_stopped


@pytest.mark.rule("ING-FAILFAST")
async def test_a_step_that_persists_and_fails_stops_the_runtime(memory: Memory[Any]) -> None:
    def failing(_: Mapping[str, Any]) -> Any:
        raise OSError("no room")

    broken = Replaced(
        "PersistMemory", "Persist", PersistMemory.takes, ("id",), failing,  # type: ignore[arg-type]
        PersistMemoryPayload, fails="fast",
    )  # fmt: skip
    turns = await memory.turns.open(talk(), model=Answering(), steps=[broken])
    with pytest.raises(WriteFailed):
        await turns.take("Was it paid?", cycle_id="c-1")
    with pytest.raises(RuntimeStopped):
        await turns.take("Was it paid?")

    assert (await told(memory, "c-1"))[0].document["step"] == "keep"
    assert (await told(memory, "c-1"))[0].document["error"] == "unknown"


@pytest.mark.rule("ING-PERSIST")
async def test_a_cycle_that_staged_no_session_does_not_land(memory: Memory[Any]) -> None:
    lying = Replaced(
        "PersistSession", "Persist", {"sessionRef": ("$turn",), "repo?": ("RepoScan",)},
        ("status",), lambda _: {"status": "staged"}, PersistSessionPayload, fails="fast",
    )  # fmt: skip
    turns = await memory.turns.open(talk(), model=Answering(), steps=[lying])
    with pytest.raises(WriteFailed) as caught:
        await turns.take("Was the invoice paid?")

    assert caught.value.what == "the session"
    assert await bodies(memory) == []


async def test_a_step_that_takes_too_long_fails_the_cycle_and_reaches_nobody_later(
    memory: Memory[Any],
) -> None:
    freed, ended = asyncio.Event(), asyncio.Event()

    async def stubborn() -> Any:
        while not freed.is_set():
            try:
                await freed.wait()
            except asyncio.CancelledError:
                continue
        ended.set()
        return {"prompt": {"user": "late"}}

    plan = talk(timeouts={"llmMs": 50})
    model = Answering()
    waiting = prompting(lambda _: stubborn(), "llmMs")  # alone: no other step is to be timed
    turns = await memory.turns.open(plan, model=model, steps=[waiting])
    with pytest.raises(CycleFailed) as caught:
        await turns.take("Was it paid?")
    freed.set()
    await ended.wait()

    assert caught.value.step == "assemble"
    assert model.asked == []
    assert [one["outcome"] for one in await bodies(memory)] == ["failed"]


async def test_a_turn_that_is_cancelled_leaves_only_the_fact_of_it(memory: Memory[Any]) -> None:
    asked = asyncio.Event()

    class Slow(Answering):
        async def complete(self, prompt: Prompt, settings: Settings) -> str:
            asked.set()
            await asyncio.Event().wait()
            return await super().complete(prompt, settings)

    turns = await memory.turns.open(talk(), model=Slow())
    turn = asyncio.ensure_future(turns.take("Was it paid?", cycle_id="c-1"))
    await asked.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn

    assert not turns.is_stopped
    assert [one.outcome for one in await told(memory, "c-1")] == ["cancelled"]
    assert await inside(memory).turning.scope.table.ledger.attachments.session("default") is None


@pytest.mark.rule("ING-PERSIST")
async def test_a_turn_that_is_cancelled_while_it_lands_has_landed(memory: Memory[Any]) -> None:
    cycle: asyncio.Future[Any]

    def cancel(_: Unit) -> None:
        cycle.cancel()

    with_table(memory, before=cancel)
    turns = await memory.turns.open(talk(), model=Answering())
    cycle = asyncio.ensure_future(turns.take("Was the invoice paid?", cycle_id="c-1"))
    with pytest.raises(asyncio.CancelledError):
        await cycle

    assert turns.session is None  # what is stored of it is to be found out
    assert [one.outcome for one in await told(memory, "c-1")] == ["completed"]
    again = await turns.take("Was the invoice paid?", cycle_id="c-1")
    assert again.retried
    assert turns.session is not None
    assert not turns.session.is_cold
    assert len(await found(memory, turns.session.session_id, "invoice")) == 1


@pytest.mark.rule("ING-PERSIST")
async def test_a_second_cancellation_does_not_run_ahead_of_the_landing(
    memory: Memory[Any],
) -> None:
    lands, may_land = asyncio.Event(), asyncio.Event()
    table = with_table(memory)
    commit = table.commit

    async def slowly(unit: Unit) -> Any:
        lands.set()
        await may_land.wait()
        return await commit(unit)

    object.__setattr__(table, "commit", slowly)
    turns = await memory.turns.open(talk(), model=Answering())
    cycle = asyncio.ensure_future(turns.take("Was the invoice paid?", cycle_id="c-1"))
    await lands.wait()
    for _ in range(3):
        cycle.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert not cycle.done()
    may_land.set()
    with pytest.raises(asyncio.CancelledError):
        await cycle

    assert [one.outcome for one in await told(memory, "c-1")] == ["completed"]


@pytest.mark.rule("ING-RAW")
async def test_words_of_a_step_that_stops_everything_are_not_journaled(
    memory: Memory[Any],
) -> None:
    def fail(_: Mapping[str, Any]) -> None:
        raise WriteFailed("secret canary", "secret canary")

    turns = await memory.turns.open(talk(), model=Answering(), steps=[prompting(fail)])
    with pytest.raises(WriteFailed):
        await turns.take("Was it paid?", cycle_id="c-1")

    (cycle,) = await told(memory, "c-1")
    assert "step" not in cycle.document
    assert "canary" not in str(cycle.document)


@pytest.mark.rule("ING-FAILFAST")
async def test_a_step_that_persists_can_not_say_that_its_failure_ends_only_the_cycle(
    memory: Memory[Any],
) -> None:
    own = Replaced(
        "PersistSession",
        "Persist",
        {"sessionRef": ("$turn",), "repo?": ("RepoScan",)},
        ("status",),
        lambda _: {"status": "staged"},
        PersistSessionPayload,
        fails="cycle",
    )
    turns = await memory.turns.open(talk(), model=Answering(), steps=[own])

    with pytest.raises(InvalidPlan):
        await turns.take("Was it paid?")


async def test_an_answer_that_is_no_text_is_none(memory: Memory[Any]) -> None:
    own = Replaced(
        "LLMCall",
        "LLMCall",
        {"prompt": ("PromptAssemble",)},
        ("response",),
        lambda _: {"response": None},
        LLMCallPayload,
        limit="llmMs",
    )
    plan = talk(without="scan summarize keep")
    turns = await memory.turns.open(plan, model=Answering(), steps=[own])

    with pytest.raises(CycleFailed) as caught:
        await turns.take("Was it paid?")

    assert caught.value.step == "call"


@pytest.mark.parametrize("text", [None, 1, b"x", ["x"]])
async def test_what_is_said_is_a_text(memory: Memory[Any], text: Any) -> None:
    turns = await memory.turns.open(talk(), model=Answering())

    with pytest.raises(InvalidRecord):
        await turns.take(text)


async def test_two_runtimes_that_begin_one_session_at_once_do_not_lose_a_turn(
    opens: Opens,
) -> None:
    async with opens() as memory, opens() as other:
        one = await memory.turns.open(talk(), model=Answering(), session="s")
        two = await other.turns.open(talk(), model=Answering(), session="s")
        await one.take("Was the invoice paid?")
        with pytest.raises(WriteFailed):
            await two.take("Was the invoice paid?")

        assert two.is_stopped
        assert [one["outcome"] for one in await bodies(memory)] == ["completed"]


@pytest.mark.rule("ING-HASH")
async def test_a_session_of_another_plan_is_not_gone_on_with(memory: Memory[Any]) -> None:
    turns = await memory.turns.open(talk(), model=Answering())
    await turns.take("Was the invoice paid?")

    with pytest.raises(SessionMismatch) as caught:
        await memory.turns.open(talk(top_k=4), model=Answering())
    assert caught.value.differs == ("metadata.topK",)
    fresh = await memory.turns.open(talk(top_k=4), model=Answering(), fresh=True)
    await fresh.take("Was the invoice paid?")

    assert fresh.session is not None
    assert turns.session is not None
    assert fresh.session.session_id != turns.session.session_id
    assert await found(memory, turns.session.session_id, "invoice") != []


@pytest.mark.rule("ING-HASH")
async def test_a_mismatch_names_what_differs_as_long_as_the_first_turn_is_there(
    memory: Memory[Any],
) -> None:
    turns = await memory.turns.open(talk(), model=Answering("Ok."))
    await turns.take("Was the invoice paid?", cycle_id="c-1")
    await turns.take("Was the invoice paid?", cycle_id="c-2")
    other = talk(without="scan summarize keep", mode="other", budgets={"promptTokens": 9_000})

    async def differs() -> tuple[str, ...]:
        with pytest.raises(SessionMismatch) as caught:
            await memory.turns.open(other, model=Answering())
        assert all(name in str(caught.value) for name in caught.value.differs)
        return caught.value.differs

    assert await differs() == (
        "metadata.budgets", "metadata.mode", "policyRef", "steps.keep", "steps.summarize",
    )  # fmt: skip
    await memory.erase("c-1", reason="asked for")
    assert await differs() == ()


async def test_a_model_that_hangs_is_given_up_without_a_limit_in_the_plan(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.plans.plan.MODEL_SECONDS", 0.05)

    class Hanging(Answering):
        async def complete(self, prompt: Prompt, settings: Settings) -> str:
            await asyncio.Event().wait()
            return await super().complete(prompt, settings)

    turns = await memory.turns.open(talk(), model=Hanging())
    with pytest.raises(CycleFailed) as caught:
        await turns.take("Was the invoice paid?")

    assert caught.value.step == "call"
    assert isinstance(caught.value.__cause__, TookTooLong)
