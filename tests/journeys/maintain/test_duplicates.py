"""Consolidating our own stores: exact duplicates go, one of each stays, no statement is made."""

from typing import Any

import pytest

from memoranda import Memory, MemoryHooks
from memoranda.kernel.errors import ApprovalPending
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryOperation, MemoryRecordInput
from memoranda.worlds.policies import HumanInTheLoop
from tests.fixtures import Opens
from tests.journeys.maintain.conftest import counted, said


@pytest.mark.rule("MEM-MAINT-1", "MEM-MAINT-3")
async def test_exact_duplicates_are_archived_and_the_first_one_stays(memory: Memory[Any]) -> None:
    for id, text, about in (
        ("a", "Kim prefers EMAIL", {"subject": "kim", "source": "t/1"}),
        ("b", "kim prefers email", {"subject": "kim", "source": "t/1"}),
        ("c", "Kim prefers email", {"subject": "kim", "source": "t/2"}),
        ("d", "Kim prefers email", {"subject": "lee", "source": "t/1"}),
        ("e", "Kim prefers email", {"subject": "kim", "source": "t/1", "tags": ["x"]}),
        ("f", {"name": "Kim"}, {}),
        ("g", {"name": "kim"}, {}),
        ("h", {"name": "Kim"}, {}),
    ):
        await memory.remember(text, id=id, **about)

    assert await counted(memory, "consolidate", dry_run=True) == {"duplicates": 2}
    assert await counted(memory, "consolidate") == {"duplicates": 2}

    gone = {body["id"]: body["reason"] for body in await said(memory, "archive")}
    assert gone == {"b": "an exact duplicate of a", "h": "an exact duplicate of f"}
    assert await said(memory, "consolidate") == []  # nothing was summed up
    assert await counted(memory, "consolidate") == {}


async def test_of_duplicates_the_one_that_was_approved_stays(
    memory: Memory[Any], opens: Opens
) -> None:
    for id in ("a", "b", "c"):
        await memory.remember("the limit is 100", id=id, source="t/1")
    async with opens(actor="human:lee") as lee:
        await lee.govern.approve("b", reason="checked")

    assert await counted(memory, "consolidate") == {"duplicates": 2}
    assert [item.id for item in await memory.list()] == ["b"]
    assert {body["reason"] for body in await said(memory, "archive")} == {"an exact duplicate of b"}


@pytest.mark.rule("MEM-MAINT-1", "MEM-MAINT-3")
async def test_records_consolidate_and_the_hooks_hear_of_it(opens: Opens) -> None:
    heard: list[str] = []
    hooks = MemoryHooks[Any](on_deleted=lambda id, _: heard.append(id))
    async with opens(hooks=hooks) as memory:
        for id in ("a", "b"):
            await memory.records.create(MemoryRecordInput(id=id, data={"n": 1}, tags=["t"]))
        await memory.records.create(MemoryRecordInput(id="c", data={"n": 1}))

        await memory.records.consolidate()

        assert heard == ["b"]
        assert {r.id for r in await memory.records.query(MemoryFilter())} == {"a", "c"}


async def test_whoever_must_ask_before_something_goes_asks_for_duplicates_as_well(
    opens: Opens,
) -> None:
    class Careful:
        def requires_authority(self, operation: MemoryOperation) -> bool:
            return operation.type == "demote"

    authority = HumanInTheLoop(["human:lee"])
    async with opens(memory_policy=Careful(), authority=authority) as memory:
        for id in ("a", "b"):
            await memory.records.create(MemoryRecordInput(id=id, data=1))

        with pytest.raises(ApprovalPending):
            await memory.records.consolidate()

        assert len(await memory.records.query(MemoryFilter())) == 2
