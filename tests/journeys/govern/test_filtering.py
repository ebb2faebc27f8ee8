"""What `list` and `records.query` find by a filter, now and as of then."""

from typing import Any

import pytest

from memoranda import Memory, MemoryFilter
from tests.handles import inside

pytestmark = pytest.mark.rule("MEM-FILTER")


async def ids(memory: Memory[Any], **asked: Any) -> list[str]:
    """What both ways to ask find, which is the same."""
    listed = [one.id for one in await memory.list(**asked)]
    queried = await memory.records.query(MemoryFilter.model_validate(asked))
    assert [one.id for one in queried] == listed
    return listed


async def test_ten_turns_of_one_millisecond_come_back_in_reverse_order(memory: Memory[Any]) -> None:
    receipts = await memory.remember_many([f"turn {n}" for n in range(10)], tags=["session"])
    written = [receipt.id for receipt in receipts]

    assert await ids(memory, limit=3) == written[:-4:-1]
    assert await ids(memory, tags=["session"]) == written[::-1]
    assert await ids(memory, order="asc", limit=2) == written[:2]


async def test_an_id_that_is_asked_for_twice_is_found_once(memory: Memory[Any]) -> None:
    await memory.remember("likes tea", id="kim-1")
    await memory.remember("likes coffee", id="lee-1")

    found = await memory.records.query(MemoryFilter(ids=["lee-1", "kim-1", "lee-1", "nobody"]))
    assert [one.id for one in found] == ["lee-1", "kim-1"]


async def test_records_are_found_by_whom_they_are_about(memory: Memory[Any]) -> None:
    await memory.remember("likes tea", id="kim-1", subject="kim")
    await memory.remember("likes coffee", id="lee-1", subject="lee")
    await memory.remember("is closed on Monday", id="shop")
    await memory.update("kim-1", "likes green tea", reason="said so")

    assert await ids(memory, subject="kim") == ["kim-1"]
    assert await ids(memory, subject="kim", id_prefix="lee") == []
    assert await ids(memory, subject="nobody") == []


async def test_conditions_on_data_and_meta_are_kept_to_page_by_page(memory: Memory[Any]) -> None:
    for n in range(40):
        data = {"n": n, "kind": "even" if n % 2 == 0 else "odd"}
        await memory.remember(data, id=f"{n:02}", meta={"tries": n % 5})
    where = {"data.kind": "even", "meta.tries": {"$lte": 1}, "data.n": {"$lt": 30}}
    wanted = [f"{n:02}" for n in range(29, -1, -1) if n % 2 == 0 and n % 5 <= 1]

    assert await ids(memory, where=where) == wanted
    assert await ids(memory, where=where, limit=2) == wanted[:2]
    assert [one async for one in memory.records.stream(MemoryFilter(where=where, limit=1))] == (
        await memory.records.query(MemoryFilter(where=where, limit=1))
    )


async def test_what_was_known_then_is_filtered_likewise(memory: Memory[Any]) -> None:
    await memory.remember({"status": "open"}, id="ticket", subject="kim", tags=["a/b"])
    receipt = await memory.update("ticket", {"status": "closed"}, reason="done")

    def then(**asked: Any) -> Any:
        return memory.list(at=receipt.seq - 1, **asked)

    assert len(await then(where={"data.status": "open"}, subject="kim", tag_prefix="a/")) == 1
    assert await then(where={"data.status": "closed"}) == []
    assert await ids(memory, where={"data.status": "closed"}) == ["ticket"]


@pytest.mark.rule("GOV-FORGET")
async def test_what_no_longer_fits_when_it_is_its_turn_is_not_forgotten(
    memory: Memory[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        await memory.remember({"status": "closed"}, id=f"t{n}", tags=["ticket"])
    ledger: Any = inside(memory).table.ledger
    selected_ids = ledger.selected_ids

    async def and_then_one_is_opened_again(filter: MemoryFilter) -> list[str]:
        found: list[str] = await selected_ids(filter)
        await memory.update("t1", {"status": "open"}, reason="called again")
        return found

    monkeypatch.setattr(ledger, "selected_ids", and_then_one_is_opened_again)
    closed = MemoryFilter(where={"data.status": "closed"}, tags=["ticket"])

    assert await memory.records.forget_where(closed, reason="solved") == 2
    assert [one.id for one in await memory.list()] == ["t1"]
    assert (await memory.history("t0"))[-1].reason == "solved"
