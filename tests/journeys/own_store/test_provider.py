"""A provider that recalls from a memory store: its answer is frozen, and no run waits for it."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory, MemoryFilter, MemoryRecordInput
from memoranda.errors import InvalidOption
from memoranda.types import StoreProvider
from tests.fixtures import Opens
from tests.journeys.own_store.asking import Needs
from tests.journeys.own_store.shelf import ShelfStore


def record(data: Any, **about: Any) -> MemoryRecordInput[Any]:
    return MemoryRecordInput(data=data, **about)


async def frozen(memory: Memory[Any], key: str | None) -> Any:
    """What was frozen for an execution."""
    assert key is not None
    return (await memory.worlds.restore(key)).input["$app"]


@pytest.mark.rule("D-MEM-3", "MEM-INT-3", "MEM-CONTEXT-1")
async def test_a_run_gets_the_newest_records_of_the_store_as_they_are_then(
    opens: Opens, shelf: ShelfStore
) -> None:
    for n in range(3):
        await shelf.create(record({"n": n}, id=f"r{n}", created_at=n, tags=["x"]))
    async with opens(store=shelf, provider=StoreProvider(shelf, top_k=2)) as memory:
        run = await memory.act("add", {"by": 1})
        await shelf.update("r2", {"n": "later"})

        context = (await frozen(memory, run.execution_key))["memoryContext"]
        assert context == [
            {"id": f"r{n}", "data": {"n": n}, "createdAt": n, "updatedAt": n, "tags": ["x"]}
            for n in (2, 1)
        ]
        assert (await memory.worlds.replay(run.execution_key or "")).verdict == "same"


async def test_a_recall_is_narrowed_by_its_filter_by_hints_and_by_what_the_action_says(
    opens: Opens, shelf: ShelfStore
) -> None:
    await shelf.create_many(
        [
            record("refunds take a week", id="a", tags=["rule"]),
            record("parcels take a day", id="b", tags=["rule"]),
            record("refunds are odd", id="c", tags=["rule", "mine"]),
            record("refunds, said by nobody", id="d"),
        ]
    )
    provider = StoreProvider(shelf, top_k=9, filter=MemoryFilter(tags=["rule"], order="asc"))

    async def recalled(said: str, **hints: Any) -> list[str]:
        run = await memory.act("note", {"text": said}, hints=hints)
        return [one["id"] for one in (await frozen(memory, run.execution_key))["memoryContext"]]

    async with opens(provider=provider) as memory:
        assert await recalled("Refunds") == ["a", "c"]
        assert await recalled("") == ["a", "b", "c"]
        assert await recalled("whatever", text="parcels") == ["b"]
        assert await recalled("refunds", filter={"tags": ["mine"]}) == ["c"]
        run = await memory.act("nothing", hints={"filter": {"colour": "red"}})
        assert run.recall == "failed"


@pytest.mark.rule("MEM-INT-4", "MEM-INT-5")
@pytest.mark.parametrize("is_hanging", [True, False], ids=["hangs", "fails"])
async def test_a_store_that_hangs_or_fails_blocks_no_run(
    opens: Opens, shelf: ShelfStore, *, is_hanging: bool
) -> None:
    class Broken(ShelfStore):
        async def query(self, filter: MemoryFilter) -> Any:
            if is_hanging:
                await asyncio.Event().wait()
            raise ConnectionError(filter)

        async def create(self, record: MemoryRecordInput[Any]) -> str:
            await self.query(MemoryFilter())
            return str(record.id)

    store = Broken(shelf._path)
    provider = StoreProvider(store, top_k=3, remembers=["done"])
    async with opens(store=store, provider=provider, recall_limit=0.05) as memory:
        run = await memory.act("learn")

        assert run.is_completed
        assert run.recall == ("timed out" if is_hanging else "failed")
        assert run.data["notes"] == [[None, True]]
        assert await frozen(memory, run.execution_key) == {
            "memoryContext": None,
            "memoryRecallFailed": True,
        }


@pytest.mark.rule("D-MEM-3", "MEM-INT-3")
async def test_an_experience_is_kept_as_a_record_where_it_is_asked_for(
    opens: Opens, shelf: ShelfStore
) -> None:
    async with opens(store=shelf, provider=StoreProvider(shelf, top_k=1)) as memory:
        await memory.act("add", {"by": 1})
    assert await shelf.query(MemoryFilter()) == []

    provider = StoreProvider(shelf, top_k=1, remembers=["done"])
    async with opens(store=shelf, provider=provider) as memory:
        run = await memory.act("add", {"by": 2})
    (kept,) = await shelf.query(MemoryFilter(tags=["done"]))
    assert kept.data["outcome"] == "completed"
    assert kept.data["intent"]["input"] == {"by": 2}
    assert kept.data["resultWorld"] == run.world


@pytest.mark.rule("D-MEM-5")
async def test_through_the_handle_an_experience_goes_past_the_policy(
    opens: Opens, shelf: ShelfStore
) -> None:
    policy = Needs([])

    def made(memory: Memory[Any]) -> StoreProvider:
        return StoreProvider(memory.records, top_k=1, remembers=["done"])

    async with opens(store=shelf, memory_policy=policy, provider=made) as memory:
        await memory.act("add", {"by": 1})

    assert [operation.type for operation in policy.asked] == ["create"]
    assert len(await shelf.query(MemoryFilter(tags=["done"]))) == 1


async def test_the_records_of_a_scope_are_a_store_to_recall_from(opens: Opens) -> None:
    def made(memory: Memory[Any]) -> StoreProvider:
        return StoreProvider(memory.records, top_k=1)

    async with opens(provider=made) as memory:
        await memory.remember("the journal has it", id="a")
        run = await memory.act("nothing")

        (found,) = (await frozen(memory, run.execution_key))["memoryContext"]
        assert (found["id"], found["data"]) == ("a", "the journal has it")


@pytest.mark.parametrize("top_k", [0, -1, True, "3", None])
def test_a_provider_is_told_how_many_records_to_recall(shelf: ShelfStore, top_k: Any) -> None:
    with pytest.raises(InvalidOption):
        StoreProvider(shelf, top_k=top_k)


def test_a_provider_needs_a_store() -> None:
    given: Any = {"a": 1}
    with pytest.raises(InvalidOption):
        StoreProvider(given, top_k=1)
