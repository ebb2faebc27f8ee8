"""What an app asks of memory before it runs something, and what becomes of the answer."""

import asyncio
from typing import Any

import pytest

from recollect import Memory
from recollect.records.filter import MemoryFilter
from recollect.records.model import MemoryRecordInput
from recollect.testkit.simulators import FrozenClock
from tests.intent.conftest import Opens
from tests.intent.reading import said
from tests.intent.simulators import (
    BrokenProvider,
    HangingProvider,
    Provider,
    StubbornProvider,
)


async def frozen(memory: Memory[Any], key: str | None) -> Any:
    """What was frozen for an execution."""
    assert key is not None
    return (await memory.restore(key)).input["$app"]


@pytest.mark.rule("D-MEM-2", "MEM-INT-1", "MEM-INT-2")
async def test_an_app_exposes_the_store_that_it_was_given(memory: Memory[Any]) -> None:
    assert memory.app.store is memory.records


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
        assert (await memory.replay(run.execution_key or "")).is_same


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
        run = await asyncio.wait_for(memory.act("learn"), 5)
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
    assert memory.app._limit == 5.0


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
        assert (await memory.replay(run.world or "")).is_same


@pytest.mark.rule("MEM-CONTEXT-1")
async def test_a_provider_can_not_change_the_intent_that_was_approved(opens: Opens) -> None:
    def meddle(query: Any) -> None:
        query.intent.input["by"] = 1_000_000

    async with opens(provider=Provider(meddle)) as memory:
        run = await memory.act("add", {"by": 2})

        assert run.data["count"] == 2
        assert (await memory.replay(run.world or "")).is_same


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
            found = await memory.search("word two")
            return [first and first.data, [one.data for one in found]]

        provider.answer = recalled
        await memory.act("learn")

        begun = (await said(memory, "ExecutionBegun"))[0].document
        assert begun["sources"] == ["one", "two"]
        assert begun["inputs"][:2] == ["one", "two"]


@pytest.mark.rule("MEM-INT-3")
async def test_a_recall_of_ten_thousand_records_is_frozen_whole(opens: Opens) -> None:
    provider = Provider()
    async with opens(provider=provider, recall_limit=120) as memory:
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
