"""LangGraph's checkpointer: its published conformance package, and what is beyond it."""

import operator
from collections.abc import AsyncIterator
from typing import Annotated, Any

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.checkpoint.conformance.capabilities import ALL_CAPABILITIES
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from typing_extensions import TypedDict

import memoranda
from memoranda import Memory
from memoranda.integrations import MemorandaSaver
from tests.fixtures import Opens

THREAD: Any = {"configurable": {"thread_id": "t/1", "checkpoint_ns": ""}}


class State(TypedDict):
    steps: Annotated[list[str], operator.add]


def asks(_: State) -> State:
    return {"steps": [interrupt("who?")]}


def built(saver: MemorandaSaver) -> Any:
    builder: Any = StateGraph(State)
    builder.add_node("first", lambda _: {"steps": ["first"]})
    builder.add_node("asks", asks)
    builder.add_edge(START, "first")
    builder.add_edge("first", "asks")
    builder.add_edge("asks", END)
    return builder.compile(checkpointer=saver)


async def test_it_conforms_in_every_capability_that_the_published_package_knows(
    opens: Opens,
) -> None:
    count = 0

    @checkpointer_test(name="memoranda")
    async def saver() -> AsyncIterator[MemorandaSaver]:
        nonlocal count
        count += 1
        async with opens(scope=f"conformance-{count}") as memory:
            yield MemorandaSaver(memory)

    report = await validate(saver)

    assert {name for name, one in report.results.items() if one.detected} == {
        capability.value for capability in ALL_CAPABILITIES
    }
    assert [fault for one in report.results.values() for fault in one.failures] == []
    assert sum(one.tests_passed for one in report.results.values()) >= 81
    assert report.conformance_level() == "FULL"


async def test_a_graph_stops_for_a_human_and_goes_on_from_its_checkpoint(opens: Opens) -> None:
    config: Any = {"configurable": {"thread_id": "ticket/812 100%"}}
    async with opens() as memory:
        await built(MemorandaSaver(memory)).ainvoke({"steps": ["input"]}, config)
    async with opens() as memory:
        graph = built(MemorandaSaver(memory))
        done = await graph.ainvoke(Command(resume="Kim"), config)

        assert done == {"steps": ["input", "first", "Kim"]}
        history = [state.values async for state in graph.aget_state_history(config)]
        assert history[0] == done
        assert history[-1] == {"steps": []}
        assert (await memory.verify()).is_sound


def test_the_blocking_methods_do_the_same(url: str, scope: str) -> None:
    with memoranda.open_sync(url, scope=scope, actor="agent:a") as memory:
        saver = MemorandaSaver(memory)
        graph = built(saver)
        graph.invoke({"steps": ["input"]}, THREAD)

        assert graph.invoke(Command(resume="Kim"), THREAD)["steps"][-1] == "Kim"
        found = list(saver.list(THREAD))
        assert [one.checkpoint["id"] for one in found] == sorted(
            (one.checkpoint["id"] for one in found), reverse=True
        )
        (newest,) = saver.list(THREAD, limit=1)
        assert newest == saver.get_tuple(THREAD)
        saver.copy_thread("t/1", "t/2")
        saver.prune(["t/1"])
        assert len(list(saver.list(THREAD))) == 1
        saver.delete_thread("t/1")
        assert saver.get_tuple(THREAD) is None
        assert len(list(saver.list({"configurable": {"thread_id": "t/2"}}))) == len(found)


async def test_a_deleted_thread_stays_in_history_and_an_erased_one_leaves_nothing(
    memory: Memory[Any],
) -> None:
    saver = MemorandaSaver(memory)
    checkpoint = empty_checkpoint()
    place = await saver.aput(THREAD, checkpoint, {"source": "input", "step": -1}, {})
    await saver.aput_writes(place, [("channel", "secret")], "task")
    id = f"checkpoint:t%2F1//{checkpoint['id']}"

    await saver.adelete_thread("t/1")
    kept = (await memory.history(id))[0].remembered
    assert kept is not None
    assert checkpoint["id"].encode() in kept.data
    assert await saver.aget_tuple(THREAD) is None

    await saver.adelete_thread("t/1", erase=True)
    assert [event.remembered for event in await memory.history(id)] == [None] * 3
    assert (await memory.verify()).is_sound


async def test_what_is_pending_is_found_by_nobody_who_searches(memory: Memory[Any]) -> None:
    saver = MemorandaSaver(memory)
    place = await saver.aput(THREAD, empty_checkpoint(), {"source": "input"}, {})
    await saver.aput_writes(place, [("channel", "a plum")], "task")

    assert await memory.list(text="plum") == []
    found = await memory.recall("plum", top_k=3)
    assert found.outcome == "empty"
