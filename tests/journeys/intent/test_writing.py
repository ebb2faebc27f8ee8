"""Writing from where a replay would write again."""

from typing import Any

import pytest

import memoranda
from memoranda.kernel.errors import MemoryOutOfReach
from memoranda.worlds.domain import Domain
from tests.fixtures import Opens


def domain_that_writes(holder: dict[str, Any]) -> Domain:
    domain = Domain("writer", "1")

    @domain.action
    async def write_itself(_ctx: Any) -> None:
        await holder["memory"].remember("from an action")

    @domain.action
    async def write_by_effect(ctx: Any) -> None:
        await ctx.effect("remember", holder["remember"])

    return domain


async def test_an_action_can_not_write_memory_and_an_effect_can_once(opens: Opens) -> None:
    holder: dict[str, Any] = {}
    async with opens(domain=domain_that_writes(holder)) as memory:

        async def remember() -> str:
            receipt = await memory.remember("from an effect")
            return str(receipt.id)

        holder.update(memory=memory, remember=remember)

        itself = await memory.act("write_itself")
        by_effect = await memory.act("write_by_effect")

        assert itself.error is not None
        assert "reached from an action" in itself.error["message"]
        assert by_effect.is_completed
        assert (await memory.worlds.replay(by_effect.execution_key or "")).is_same
        assert [one.data for one in await memory.list()] == ["from an effect"]


async def test_records_of_a_dict_can_not_be_written_by_whoever_must_not() -> None:
    from memoranda.kernel.ambient import out_of_reach  # noqa: PLC0415 - only here

    async with memoranda.open("dict://") as memory:
        with out_of_reach("an action"), pytest.raises(MemoryOutOfReach):
            await memory.records.create(memoranda.MemoryRecordInput(data="x"))
