"""The agent's session, tried as the Agents SDK tries its own."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.journeys.govern.read import Reading
from tests.shapes.agent_session import AgentSession


@pytest.fixture
def session(memory: Memory[Any]) -> AgentSession:
    return AgentSession("s1", memory)


def said(number: int) -> dict[str, Any]:
    return {"role": "user" if number % 2 else "assistant", "content": f"number {number}"}


async def test_items_come_back_in_the_order_of_adding(session: AgentSession) -> None:
    assert await session.get_items() == []
    await session.add_items([said(n) for n in range(150)])
    await session.add_items([])
    await session.add_items([said(n) for n in range(150, 153)])

    assert await session.get_items() == [said(n) for n in range(153)]
    assert await session.get_items(limit=3) == [said(150), said(151), said(152)]
    assert await session.get_items(limit=0) == []


async def test_the_last_items_are_read_without_the_others(
    session: AgentSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    await session.add_items([said(n) for n in range(200)])
    read: list[object] = []
    real = Reading._shown

    def shown(self: Reading[Any], current: Any) -> Any:
        read.append(current)
        return real(self, current)

    monkeypatch.setattr(Reading, "_shown", shown)

    assert len(await session.get_items(limit=5)) == 5
    assert len(read) < 50, "a few more, for what may not be current"


async def test_popping_is_exclusive(session: AgentSession) -> None:
    await session.add_items([said(n) for n in range(6)])
    assert await session.pop_item() == said(5)

    popped = await asyncio.gather(*(session.pop_item() for _ in range(8)))

    contents = [one["content"] for one in popped if one is not None]
    assert sorted(contents) == [f"number {n}" for n in range(5)]
    assert popped.count(None) == 3
    assert await session.get_items() == []
    assert await session.pop_item() is None


async def test_sessions_are_cleared_each_by_itself(
    session: AgentSession, memory: Memory[Any]
) -> None:
    other = AgentSession("s2", memory)
    await session.add_items([said(1), said(2)])
    await other.add_items([said(3)])

    await session.clear_session()

    assert await session.get_items() == []
    assert await other.get_items() == [said(3)]
    await session.add_items([said(4)])
    assert await session.get_items() == [said(4)]
