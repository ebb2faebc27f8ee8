"""What an app asks of memory before it runs something, and what becomes of the answer."""

import asyncio
import threading
from typing import Any

import pytest

import memoranda
from memoranda import Memory
from memoranda.kernel.errors import InvalidInput, InvalidOption
from memoranda.recall.provider import MemoryExperience, MemoryQuery
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRecordInput
from memoranda.records.store import MemoryHooks
from memoranda.testkit.strategies import FrozenClock
from memoranda.worlds.host import HostExecutionResult
from memoranda.worlds.policies import HumanInTheLoop
from memoranda.worlds.snapshot import Snapshot
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.intent.reading import said
from tests.journeys.intent.simulators import (
    BrokenProvider,
    HangingProvider,
    Provider,
    StubbornProvider,
)
from tests.patience import PATIENCE


class Panic(BaseException):
    """Not an Exception: what code in another language may raise when it breaks."""


async def frozen(memory: Memory[Any], key: str | None) -> Any:
    """What was frozen for an execution."""
    assert key is not None
    return (await memory.worlds.restore(key)).input["$app"]


@pytest.mark.rule("D-MEM-2", "MEM-INT-1", "MEM-INT-2")
async def test_an_app_exposes_the_store_that_it_was_given(memory: Memory[Any]) -> None:
    assert inside(memory).intents.store is memory.records


@pytest.mark.rule("D-MEM-3", "MEM-INT-3")
async def test_a_provider_is_asked_who_is_about_to_do_what_on_which_world(
    opens: Opens, clock: FrozenClock
) -> None:
    provider = Provider("what it knows")
    async with opens(provider=provider, actor="agent:other") as memory:
        run = await memory.act("add", {"by": 2})

        (query,) = provider.queries
        proposal = (await said(memory, "Proposal"))[0].document["proposal"]
        assert query.actor_id == "other"
        assert query.intent.to_wire() == {
            "type": "add",
            "input": {"by": 2},
            "intentId": proposal["intent"]["intentId"],
        }
        assert query.base_world == proposal["baseWorld"]
        assert query.timestamp == clock.at
        assert await frozen(memory, run.execution_key) == {
            "memoryContext": "what it knows",
            "memoryRecallFailed": False,
        }


@pytest.mark.rule("D-MEM-3", "MEM-INT-3")
async def test_a_provider_is_told_what_came_of_each_run_and_nobody_waits_for_it(
    opens: Opens,
) -> None:
    provider = HangingProvider()
    provider.recall = Provider().recall  # type: ignore[method-assign]
    async with opens(provider=provider, recall_limit=0.05) as memory:
        done = await memory.act("add", {"by": 2})
        failed = await memory.act("fail")

    told = [(one.outcome, one.result_world, one.data) for one in provider.experiences]
    assert told == [
        ("completed", done.world, {"count": 2, "notes": []}),
        ("failed", failed.world, {"count": 2, "notes": []}),
    ]


@pytest.mark.rule("MEM-INT-4", "MEM-INT-5", "MEM-CTX-3")
@pytest.mark.parametrize(
    ("provider", "outcome"),
    [
        (BrokenProvider(), "failed"),
        (Provider(ValueError("\ud800 and \x00")), "failed"),
        (Provider(asyncio.CancelledError()), "failed"),
        (Provider(lambda _: 1 / 0), "failed"),
        (Provider(GeneratorExit()), "failed"),
        (Provider(Panic()), "failed"),
        (HangingProvider(), "timed out"),
        (Provider({"a": object()}), "not JSON"),
        (Provider(float("nan")), "not JSON"),
        (Provider({1: 2}), "not JSON"),
        (Provider(2**60), "not JSON"),
        (Provider("\ud800"), "not JSON"),
    ],
    ids=lambda given: given if isinstance(given, str) else type(given).__name__,
)
async def test_a_recall_that_fails_neither_blocks_the_run_nor_reaches_it(
    opens: Opens, provider: Provider, outcome: str
) -> None:
    async with opens(provider=provider, recall_limit=0.05) as memory:
        run = await memory.act("learn")

        assert run.is_completed
        assert run.recall == outcome
        assert run.data == {"count": 0, "notes": [[None, True]]}
        assert await frozen(memory, run.execution_key) == {
            "memoryContext": None,
            "memoryRecallFailed": True,
        }
        assert (await said(memory, "ExecutionBegun"))[0].document["recall"]["outcome"] == outcome
        assert (await memory.worlds.replay(run.execution_key or "")).is_same


@pytest.mark.rule("MEM-INT-4", "MEM-INT-5")
async def test_a_failure_of_any_class_to_remember_blocks_nothing_and_is_logged(
    opens: Opens, caplog: pytest.LogCaptureFixture
) -> None:
    class Panicking(Provider):
        async def remember(self, _experience: MemoryExperience) -> None:
            raise Panic

    async with opens(provider=Panicking("known")) as memory:
        run = await memory.act("learn")

    assert (run.status, run.recall) == ("completed", "answered")
    assert any("was not remembered" in one.message for one in caplog.records)


class Plain:
    """A provider of plain functions: what it does, it does on a thread."""

    def __init__(self, answer: Any = "known", may_end: threading.Event | None = None) -> None:
        self.answer = answer
        self.may_end = may_end
        self.experiences: list[MemoryExperience] = []

    def recall(self, _query: MemoryQuery) -> Any:
        if self.may_end is not None:
            self.may_end.wait(30)
        return self.answer

    def remember(self, experience: MemoryExperience) -> None:
        self.experiences.append(experience)


@pytest.mark.rule("D-MEM-3", "MEM-INT-3")
@pytest.mark.parametrize("makes", [False, True], ids=["itself", "of the handle"])
async def test_a_provider_may_be_plain_functions(opens: Opens, makes: bool) -> None:
    provider = Plain()
    given = (lambda _handle: provider) if makes else provider
    async with opens(provider=given) as memory:
        run = await memory.act("learn")

    assert (run.recall, run.data["notes"]) == ("answered", [["known", False]])
    assert [one.outcome for one in provider.experiences] == ["completed"]


@pytest.mark.rule("MEM-INT-5")
async def test_a_provider_that_blocks_holds_up_nobody_and_is_left_in_time(opens: Opens) -> None:
    may_end = threading.Event()
    try:
        async with opens(provider=Plain(may_end=may_end), recall_limit=0.2) as memory:
            acting = asyncio.ensure_future(memory.act("learn"))
            await memory.remember("something else")  # the loop goes on
            run = await acting
            assert not may_end.is_set()
    finally:
        may_end.set()
    assert (run.status, run.recall) == ("completed", "timed out")


@pytest.mark.rule("MEM-INT-5")
@pytest.mark.parametrize("limit", [None, 0, -1, float("nan"), float("inf"), "5", True])
@pytest.mark.parametrize("option", ["recall_limit", "run_limit", "hooks"])
async def test_a_time_limit_that_is_none_is_refused_when_the_handle_is_opened(
    opens: Opens, option: str, limit: Any
) -> None:
    if (option, limit) == ("run_limit", None):
        return  # a run may take as long as it takes
    given = {option: MemoryHooks(time_limit=limit) if option == "hooks" else limit}
    with pytest.raises(InvalidOption) as refused:
        async with opens(**given):
            pass
    assert refused.value.code == "input.option"
    assert "give seconds above 0" in str(refused.value)


@pytest.mark.rule("D-MEM-3")
@pytest.mark.parametrize("missing", ["recall", "remember"])
@pytest.mark.parametrize("makes", [False, True], ids=["itself", "of the handle"])
async def test_a_provider_without_one_of_its_methods_is_refused_when_the_handle_is_opened(
    opens: Opens, missing: str, makes: bool
) -> None:
    half = type("Half", (), {"remember" if missing == "recall" else "recall": lambda *_: None})
    with pytest.raises(InvalidOption) as refused:
        async with opens(provider=(lambda _handle: half()) if makes else half()):
            pass
    assert f"has no {missing};" in str(refused.value)
    with pytest.raises(InvalidOption):
        async with opens(provider=5):
            pass


@pytest.mark.rule("D-MEM-3", "EXT-TYPES")
async def test_a_provider_gets_the_hints_of_whoever_acts_also_when_it_runs_later(
    opens: Opens,
) -> None:
    provider = Provider("known")
    async with opens(provider=provider, authority=HumanInTheLoop("human:ann")) as memory:
        later = await memory.act("learn", hints={"lang": "ko"})
        with pytest.raises(InvalidInput):
            await memory.act("learn", hints={"lang": object()})
        with pytest.raises(InvalidInput):
            await memory.act("learn", hints="ko")  # type: ignore[arg-type]
        async with opens(actor="human:ann") as ann:
            await ann.inbox.approve(later.proposal_id, reason="fine")
    async with opens(provider=provider) as memory:
        await memory.worlds.run(later.proposal_id)
        async with memory.reasoning() as r:
            await r.act("learn", hints={"depth": 2})
        await memory.act("learn")

    assert [one.hints for one in provider.queries] == [{"lang": "ko"}, {"depth": 2}, None]


class Unprintable(Exception):
    """An error whose text can't be made."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


@pytest.mark.rule("MEM-INT-4")
async def test_an_error_without_a_text_does_not_block_a_run(opens: Opens) -> None:
    async with opens(provider=Provider(Unprintable())) as memory:
        run = await memory.act("learn")

    assert (run.status, run.recall) == ("completed", "failed")


@pytest.mark.rule("MEM-INT-5")
async def test_a_provider_that_ignores_its_cancellation_is_left_behind(opens: Opens) -> None:
    provider = StubbornProvider()
    async with opens(provider=provider, recall_limit=0.05) as memory:
        run = await asyncio.wait_for(memory.act("learn"), PATIENCE)
        provider.let_go.set()
        await asyncio.sleep(0)

        assert run.recall == "timed out"
        assert await frozen(memory, run.execution_key) == {
            "memoryContext": None,
            "memoryRecallFailed": True,
        }


@pytest.mark.rule("MEM-INT-5")
async def test_the_time_limit_is_five_seconds_unless_another_is_named(
    memory: Memory[Any],
) -> None:
    assert inside(memory).intents.recall_limit == 5.0


@pytest.mark.rule("MEM-INT-1", "APP-INPUT-1", "MEM-CTX-3")
async def test_without_a_provider_nothing_is_recalled_and_that_is_no_failure(
    memory: Memory[Any],
) -> None:
    run = await memory.act("learn")

    assert run.recall == "none"
    assert await frozen(memory, run.execution_key) == {
        "memoryContext": None,
        "memoryRecallFailed": False,
    }


@pytest.mark.rule("D-MEM-4", "MEM-CONTEXT-1", "APP-INPUT-1", "MEM-CTX-3")
@pytest.mark.parametrize("value", [None, False, 0, 0.0, "", [], {}, [None], {"a": {}}])
async def test_a_falsy_answer_is_an_answer(opens: Opens, value: Any) -> None:
    async with opens(provider=Provider(value)) as memory:
        run = await memory.act("learn")

        assert run.recall == "answered"
        assert run.data == {"count": 0, "notes": [[value, False]]}
        assert await frozen(memory, run.execution_key) == {
            "memoryContext": value,
            "memoryRecallFailed": False,
        }


@pytest.mark.rule("D-MEM-4", "MEM-CONTEXT-1")
async def test_what_a_provider_does_to_its_answer_later_never_reaches_it(opens: Opens) -> None:
    answer = {"facts": ["before"]}
    provider = Provider(answer)

    async def and_then_change(_: Any) -> Any:
        asyncio.get_running_loop().call_soon(answer["facts"].append, "after")
        return answer

    provider.answer = and_then_change
    async with opens(provider=provider) as memory:
        run = await memory.act("ask", {"text": 1})
        answer["facts"].append("much later")

        assert (await frozen(memory, run.execution_key))["memoryContext"] == {"facts": ["before"]}


@pytest.mark.rule("D-MEM-4", "MEM-CONTEXT-1")
async def test_what_is_changed_in_the_store_later_never_reaches_a_run(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory:
        await memory.records.create(MemoryRecordInput(id="likes", data={"tea": "green"}))

        async def recalled(_: Any) -> Any:
            found = await memory.records.get("likes")
            assert found is not None
            return found.data

        provider.answer = recalled
        run = await memory.act("learn")
        await memory.records.update("likes", {"tea": "black"})
        await memory.records.delete("likes")

        assert (await frozen(memory, run.execution_key))["memoryContext"] == {"tea": "green"}
        assert (await memory.worlds.replay(run.world or "")).is_same


@pytest.mark.rule("MEM-CONTEXT-1")
async def test_a_provider_can_not_change_the_intent_that_was_approved(opens: Opens) -> None:
    def meddle(query: Any) -> None:
        query.intent.input["by"] = 1_000_000

    async with opens(provider=Provider(meddle)) as memory:
        run = await memory.act("add", {"by": 2})

        assert run.data["count"] == 2
        assert (await memory.worlds.replay(run.world or "")).is_same


@pytest.mark.rule("MEM-INT-4")
async def test_looking_for_what_is_not_there_does_not_fail_a_run(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory:

        async def recalled(_: Any) -> Any:
            await memory.get("nobody")
            return await memory.records.get("nowhere")

        provider.answer = recalled
        run = await memory.act("learn")

        assert (run.status, run.recall) == ("completed", "answered")


@pytest.mark.rule("MEM-INT-4")
async def test_looking_for_what_was_erased_long_ago_does_not_fail_a_run(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory:
        await memory.remember("a secret", id="gone")
        await memory.erase("gone", reason="the subject asked", cause="user_request")

        async def recalled(_: Any) -> Any:
            return await memory.records.get("gone")

        provider.answer = recalled
        run = await memory.act("learn")

        assert (run.status, run.recall) == ("completed", "answered")


@pytest.mark.rule("MEM-INT-3")
async def test_a_provider_may_read_another_scope(opens: Opens, scope: str) -> None:
    provider = Provider()
    async with opens(scope=f"{scope}-shared") as shared, opens(provider=provider) as memory:
        await shared.remember("tea is green", id="tea")

        async def recalled(_: Any) -> Any:
            found = await shared.get("tea")
            return found and found.data

        provider.answer = recalled
        run = await memory.act("learn")

        assert run.data["notes"] == [["tea is green", False]]
        assert (await memory.why(run.execution_key or "")).parts


@pytest.mark.rule("MEM-CONTEXT-1")
async def test_the_sources_of_a_recall_are_observed(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider) as memory:
        for name in ("one", "two", "three"):
            await memory.remember(f"the word {name}", id=name)

        async def recalled(_: Any) -> Any:
            first = await memory.records.get("one")
            found = await memory.list(text="word two")
            return [first and first.data, [one.data for one in found]]

        provider.answer = recalled
        await memory.act("learn")

        begun = (await said(memory, "ExecutionBegun"))[0].document
        assert begun["sources"] == ["one", "two"]
        assert begun["inputs"][:2] == ["one", "two"]


@pytest.mark.rule("MEM-INT-3")
async def test_a_recall_of_ten_thousand_records_is_frozen_whole(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider, recall_limit=PATIENCE) as memory:
        records = [MemoryRecordInput[Any](id=f"r{n:05}", data={"n": n}) for n in range(10_000)]
        await memory.records.create_many(records)

        async def recalled(_: Any) -> Any:
            return sorted([one.data["n"] async for one in memory.records.stream(MemoryFilter())])

        provider.answer = recalled
        run = await memory.act("nothing")

        assert run.recall == "answered"
        context = (await frozen(memory, run.execution_key))["memoryContext"]
        assert context == list(range(10_000))
        assert len((await said(memory, "ExecutionBegun"))[0].document["sources"]) == 10_000


class Forging:
    """A host that leaves in its input what it likes, whatever was frozen there."""

    def __init__(self, left: Any) -> None:
        self._left = left

    async def execute(
        self, _key: str, base: Snapshot, _intent: Any, _options: Any
    ) -> HostExecutionResult:
        terminal = Snapshot.from_wire({**base.to_wire(), "input": self._left})
        return HostExecutionResult(outcome="completed", terminal_snapshot=terminal)


@pytest.mark.rule("MEM-CTX-3", "APP-INPUT-1")
@pytest.mark.parametrize(
    "left",
    [
        {"$app": {"memoryContext": "forged", "memoryRecallFailed": True}, "own": 1},
        {"$app": {"more": 1}},
        {"$app": None},
        {},
        None,
    ],
)
async def test_what_was_frozen_stands_in_the_input_whatever_a_host_leaves_there(
    opens: Opens, left: Any
) -> None:
    host = memoranda.hosted_by(Forging(left), "schema", {})
    async with opens(domain=host, provider=Provider("known")) as memory:
        run = await memory.act("anything")

        found = (await memory.worlds.restore(str(run.execution_key))).input
        assert found["$app"] == {"memoryContext": "known", "memoryRecallFailed": False}
        assert found.get("own") == (left or {}).get("own")
