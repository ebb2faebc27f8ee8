"""Saving: what is kept, what comes back of it, and what is refused."""

from typing import Any, cast

import pytest
from pydantic import ValidationError

from memoranda.kernel.errors import InvalidItem, RecordExists
from memoranda.plans.items import ItemStore, MemoryItem, RetrievedItem
from memoranda.testkit.items.giving import at, found, item, new_id, save_all
from memoranda.testkit.items.opening import OpenItems, fresh_name
from memoranda.testkit.records.marks import contract


@contract("ING-OUTPUT")
async def test_what_is_retrieved_has_an_id_a_summary_and_a_timestamp(
    items: ItemStore, session_ref: str
) -> None:
    kept = item(session_ref, "memory", summary="요약 🦜", timestamp=at(3))
    await items.save(kept)

    (retrieved,) = await items.search("about memory", 1)

    assert type(retrieved) is RetrievedItem
    assert retrieved.model_dump() == {
        "id": kept.id,
        "summary": "요약 🦜",
        "timestamp": at(3),
    }
    assert "keywords" not in dir(retrieved)
    assert vars(retrieved).keys() == {"id", "summary", "timestamp"}


@contract("ING-OUTPUT")
async def test_what_is_retrieved_can_not_be_changed(items: ItemStore, session_ref: str) -> None:
    await items.save(item(session_ref, "memory"))
    (retrieved,) = await items.search("memory", 1)

    for name in ("id", "summary", "timestamp", "keywords"):
        with pytest.raises(ValidationError):
            setattr(retrieved, name, "something else")


@contract("ING-NO-BEST-EFFORT")
async def test_a_session_that_is_opened_again_still_has_its_items(
    open_items: OpenItems, items: ItemStore, scope: str, session_ref: str
) -> None:
    kept = item(session_ref, "memory")
    await items.save(kept)

    async with open_items(scope, session_ref) as again:
        assert await found(again, "memory") == [kept.id]


@contract("ING-NO-BEST-EFFORT")
async def test_the_same_item_once_more_changes_nothing(items: ItemStore, session_ref: str) -> None:
    kept = item(session_ref, "memory", "Memory", "session")
    await save_all(items, kept, kept, MemoryItem.model_validate(kept.model_dump(mode="json")))

    assert await found(items, "memory session") == [kept.id]


@contract("ING-NO-BEST-EFFORT")
async def test_another_item_with_a_used_id_is_refused_and_changes_nothing(
    items: ItemStore, session_ref: str
) -> None:
    kept = item(session_ref, "memory", timestamp=at(1))
    await items.save(kept)

    for other in (
        item(session_ref, "memory", id=kept.id, timestamp=at(2)),
        item(session_ref, "memory", id=kept.id, timestamp=at(1), summary="Something else."),
        item(session_ref, "session", id=kept.id, timestamp=at(1)),
        item(session_ref, "Memory", id=kept.id, timestamp=at(1)),
        item(session_ref, id=kept.id, timestamp=at(1)),
    ):
        with pytest.raises(RecordExists) as caught:
            await items.save(other)
        assert (caught.value.code, caught.value.id) == ("record.exists", kept.id)

    (retrieved,) = await items.search("memory session", 9)
    assert (retrieved.id, retrieved.summary, retrieved.timestamp) == (
        kept.id,
        kept.summary,
        kept.timestamp,
    )
    assert await found(items, "session") == []


@contract("ING-WHITELIST")
async def test_what_is_no_item_is_refused_and_changes_nothing(
    items: ItemStore, session_ref: str
) -> None:
    members = item(session_ref, "memory").model_dump(mode="json")
    unchecked: Any = {
        "id": members["id"],
        "session_ref": session_ref,
        "timestamp": members["timestamp"],
        "summary": members["summary"],
        "keywords": ("memory",),
    }

    for no_item in (
        members,
        None,
        MemoryItem.model_construct(**{**unchecked, "id": "one"}),
        MemoryItem.model_construct(**{**unchecked, "timestamp": "yesterday"}),
        MemoryItem.model_construct(**{**unchecked, "summary": None}),
        MemoryItem.model_construct(**{**unchecked, "keywords": ("",)}),
        MemoryItem.model_construct(**{**unchecked, "keywords": "memory"}),
        MemoryItem.model_construct(id=members["id"]),
    ):
        with pytest.raises(InvalidItem) as caught:
            await items.save(cast("MemoryItem", no_item))
        assert caught.value.code == "input.item"

    assert await found(items, "memory") == []


@contract("ING-SESSION")
async def test_an_item_of_another_session_is_refused(items: ItemStore, session_ref: str) -> None:
    for other in (fresh_name(), session_ref.upper(), session_ref + " "):
        with pytest.raises(InvalidItem) as caught:
            await items.save(item(other, "memory"))
        assert caught.value.where == "$.sessionRef"

    assert await found(items, "memory") == []


@contract("ING-KEYWORDS")
async def test_an_item_without_keywords_is_kept_and_never_found(
    items: ItemStore, session_ref: str
) -> None:
    kept = item(session_ref, summary="memory")
    await save_all(items, kept, kept)

    assert await found(items, "memory They talked about something.") == []
    with pytest.raises(RecordExists):
        await items.save(item(session_ref, "memory", id=kept.id))


@contract("ING-KEYWORDS")
async def test_nothing_but_its_keywords_finds_an_item(items: ItemStore, session_ref: str) -> None:
    kept = item(session_ref, "memory", id=new_id(), summary="A summary about sessions.")
    await items.save(kept)

    for query in (kept.summary, kept.id, session_ref, kept.timestamp, "mem", "mem ory"):
        assert await found(items, query) == []


@contract("ING-MATCH")
async def test_a_long_keyword_and_a_long_summary_are_kept_whole(
    items: ItemStore, session_ref: str
) -> None:
    long = "길" * 256
    kept = item(session_ref, long, "🦜" * 256, long[:-1] + "다", summary="요약 " * 20_000)
    await items.save(kept)

    (retrieved,) = await items.search(f"아주 {long} 🦜", 3)
    assert retrieved.summary == kept.summary
    assert await found(items, long[:-1]) == []
