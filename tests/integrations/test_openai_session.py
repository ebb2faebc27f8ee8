"""The OpenAI Agents SDK's `Session`: its contract, and a run with it."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from agents import Agent, Runner, SQLiteSession, set_tracing_disabled
from agents.memory import Session, SessionSettings

import memoranda
from memoranda import Memory
from memoranda.errors import InvalidOption
from memoranda.integrations import MemorandaSession
from tests.fixtures import Opens
from tests.integrations.scripted import ScriptedAgentModel, texts

ITEMS: list[Any] = [
    {"role": "user", "content": "Hello!"},
    {"type": "function_call", "call_id": "1", "name": "look", "arguments": '{"a": 1.0}'},
    {"type": "function_call_output", "call_id": "1", "output": "좋아요"},
    {"role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]},
]


@pytest.fixture(autouse=True)
def no_tracing() -> Iterator[None]:
    """The SDK would send what agents do to its maker."""
    set_tracing_disabled(disabled=True)
    yield
    set_tracing_disabled(disabled=False)


@pytest.fixture
async def session(memory: Memory[Any]) -> MemorandaSession:
    return MemorandaSession("ticket/812", memory)


async def test_it_is_a_session_as_the_sdk_sees_it(session: MemorandaSession) -> None:
    assert isinstance(session, Session)


async def test_items_come_back_as_they_were_in_their_order(session: MemorandaSession) -> None:
    await session.add_items(ITEMS[:1])
    await session.add_items(ITEMS[1:])
    await session.add_items([])

    assert await session.get_items() == ITEMS
    assert await session.get_items(limit=2) == ITEMS[2:]
    assert await session.get_items(limit=0) == []
    assert await session.get_items(limit=99) == ITEMS


async def test_of_one_millisecond_the_last_items_are_the_last(session: MemorandaSession) -> None:
    turns: list[Any] = [{"role": "user", "content": f"turn {number}"} for number in range(20)]
    await session.add_items(turns)

    assert await session.get_items(limit=3) == turns[-3:]


async def test_a_named_limit_comes_before_that_of_the_settings(memory: Memory[Any]) -> None:
    session = MemorandaSession("s", memory, session_settings=SessionSettings(limit=1))
    await session.add_items(ITEMS)

    assert await session.get_items() == ITEMS[-1:]
    assert await session.get_items(limit=2) == ITEMS[-2:]


async def test_what_is_popped_is_gone_and_stays_in_history(
    session: MemorandaSession, memory: Memory[Any]
) -> None:
    await session.add_items(ITEMS)

    assert await session.pop_item() == ITEMS[3]
    assert await session.get_items() == ITEMS[:3]
    (gone,) = await memory.list(include=["invalidated"], tags=[session.subject], limit=1,
                                order_by="entry")  # fmt: skip
    assert (await memory.history(gone.id))[-1].reason == "taken back by the runner"
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None


async def test_two_who_pop_at_once_get_different_items(session: MemorandaSession) -> None:
    await session.add_items(ITEMS)

    found = await asyncio.gather(*(session.pop_item() for _ in range(5)))

    assert len(found) == 5
    assert all(item in found for item in [*ITEMS, None])


async def test_sessions_know_nothing_of_each_other(memory: Memory[Any]) -> None:
    one, other = MemorandaSession("a", memory), MemorandaSession("a/b", memory)
    await one.add_items(ITEMS[:1])
    await other.add_items(ITEMS[1:])
    await one.clear_session()

    assert await other.get_items() == ITEMS[1:]


async def test_an_erasure_of_its_subject_leaves_nothing(
    session: MemorandaSession, memory: Memory[Any]
) -> None:
    await session.add_items(ITEMS)
    await session.pop_item()
    await memory.erase(subject=session.subject, reason="asked")

    assert await session.get_items() == []
    assert await memory.list(include=["invalidated"]) == []


async def test_items_are_found_by_words_only_if_that_is_asked_for(memory: Memory[Any]) -> None:
    await MemorandaSession("a", memory).add_items([{"role": "user", "content": "a plum"}])
    await MemorandaSession("b", memory, indexed=True).add_items(
        [{"role": "user", "content": "a plum, too"}]
    )

    assert [found.thread for found in await memory.list(text="plum")] == ["b"]


async def test_a_cancelled_change_has_landed_when_the_caller_learns_of_it(
    session: MemorandaSession,
) -> None:
    adding = asyncio.create_task(session.add_items(ITEMS))
    await asyncio.sleep(0)
    adding.cancel()

    with pytest.raises(asyncio.CancelledError):
        await adding
    assert await session.get_items() == ITEMS


async def test_a_name_that_is_none_is_refused(memory: Memory[Any]) -> None:
    with pytest.raises(InvalidOption):
        MemorandaSession("", memory)


async def test_an_agent_knows_what_was_said_before_as_with_the_sdks_own_session(
    opens: Opens,
) -> None:
    asked: list[list[str]] = []
    for kind in ("theirs", "ours"):
        model = ScriptedAgentModel(["Hello Kim.", "You are Kim."])
        agent = Agent(name="desk", model=model)
        async with opens() as memory:
            session: Any = (
                MemorandaSession("s", memory) if kind == "ours" else SQLiteSession("s", ":memory:")
            )
            await Runner.run(agent, "I am Kim.", session=session)
            result = await Runner.run(agent, "Who am I?", session=session)
            assert result.final_output == "You are Kim."
            asked.append([str(texts(items)) for items in model.asked])

    assert asked[0] == asked[1]


def test_on_a_blocking_handle_any_loop_may_use_it(url: str, scope: str) -> None:
    with memoranda.open_sync(url, scope=scope, actor="agent:a") as memory:
        session = MemorandaSession("s", memory)
        asyncio.run(session.add_items(ITEMS))
        assert asyncio.run(session.pop_item()) == ITEMS[-1]
        assert asyncio.run(session.get_items()) == ITEMS[:-1]
