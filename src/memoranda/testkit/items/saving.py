"""Saving: what is kept, what comes back of it, and what is refused."""

import asyncio
from typing import Any, cast

import pytest
from pydantic import ValidationError

from memoranda.kernel.errors import InvalidItem, RecordExists
from memoranda.plans.items import ItemStore, MemoryItem, RetrievedItem
from memoranda.testkit import cancelled_after, contract, fresh_scope
from memoranda.testkit.items.opening import (
    OpenItems,
    at,
    found,
    item,
    new_id,
    save_all,
)


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
    for other in (fresh_scope(), session_ref.upper(), session_ref + " "):
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


# ------------------------------------------------------------------------------------------------
# Many callers at once lose nothing; a caller who is cancelled leaves nothing half done.

CALLERS = 32


@contract("ING-NO-BEST-EFFORT")
async def test_saves_at_once_lose_nothing(
    items: ItemStore, twin: ItemStore, session_ref: str
) -> None:
    handles = [items, twin]
    kept = [item(session_ref, "memory", f"n{n % 5}", timestamp=at(n)) for n in range(CALLERS)]

    await asyncio.gather(*(handles[n % 2].save(each) for n, each in enumerate(kept)))

    assert await found(items, "memory") == [each.id for each in reversed(kept)]
    assert await found(twin, "n3") == [each.id for each in reversed(kept[3::5])]


@contract("ING-NO-BEST-EFFORT")
async def test_only_one_of_the_items_with_one_id_is_kept(
    items: ItemStore, twin: ItemStore, session_ref: str
) -> None:
    handles, id = [items, twin], new_id()
    given = [item(session_ref, "memory", id=id, summary=f"{n}") for n in range(CALLERS)]

    outcomes = await asyncio.gather(
        *(handles[n % 2].save(each) for n, each in enumerate(given)), return_exceptions=True
    )

    done = [n for n, outcome in enumerate(outcomes) if outcome is None]
    refused = [outcome for outcome in outcomes if isinstance(outcome, RecordExists)]
    assert (len(done), len(refused)) == (1, CALLERS - 1)
    assert [each.summary for each in await items.search("memory", 9)] == [f"{done[0]}"]


@contract("ING-NO-BEST-EFFORT")
async def test_a_cancelled_save_is_whole_or_absent(
    items: ItemStore, twin: ItemStore, session_ref: str
) -> None:
    for steps in range(12):
        given = item(session_ref, "memory", f"step {steps}.", timestamp=at(steps))
        was_done = await cancelled_after(steps, items.save(given))

        # In one search, for it may still be landing: if one keyword finds it, both do.
        seen = await found(twin, f"memory, step {steps}.")
        assert given.id not in seen[1:]
        assert not was_done or seen[0] == given.id

        await twin.save(given)  # a retry lands once
        assert await found(items, f"step {steps}.") == [given.id]


@contract("ING-NO-BEST-EFFORT")
async def test_a_cancelled_search_leaves_the_store_usable(
    items: ItemStore, session_ref: str
) -> None:
    kept = item(session_ref, "memory")
    await items.save(kept)

    for steps in range(6):
        await cancelled_after(steps, items.search("memory", 3))

    assert await found(items, "memory") == [kept.id]


# ------------------------------------------------------------------------------------------------
# Two sessions see nothing of each other, in one scope or in two (ING-SESSION).


@contract("ING-SESSION")
async def test_two_handles_on_one_session_see_the_same_items(
    items: ItemStore, twin: ItemStore, session_ref: str
) -> None:
    first, second = item(session_ref, "memory"), item(session_ref, "memory", timestamp=at(1))
    await items.save(first)
    await twin.save(second)

    assert await found(items, "memory") == [second.id, first.id] == await found(twin, "memory")


@contract("ING-SESSION")
async def test_another_session_finds_nothing_of_this_one(
    items: ItemStore, stranger: ItemStore, session_ref: str
) -> None:
    await items.save(item(session_ref, "memory", "session"))

    assert await found(stranger, "memory session") == []


@contract("ING-SESSION")
async def test_the_same_session_of_another_scope_finds_nothing_of_this_one(
    open_items: OpenItems, items: ItemStore, session_ref: str
) -> None:
    await items.save(item(session_ref, "memory"))

    async with open_items(fresh_scope(), session_ref) as elsewhere:
        assert await found(elsewhere, "memory") == []


@contract("ING-SESSION")
async def test_one_id_and_one_keyword_may_be_used_in_every_session(
    open_items: OpenItems, items: ItemStore, scope: str, session_ref: str
) -> None:
    mine = item(session_ref, "memory", "mine", summary="mine")
    theirs = item("theirs", "memory", "theirs", id=mine.id, summary="theirs")
    elsewhere = item(session_ref, "memory", "elsewhere", id=mine.id, summary="elsewhere")
    await items.save(mine)
    async with (
        open_items(scope, "theirs") as of_them,
        open_items(fresh_scope(), session_ref) as of_another_scope,
    ):
        await of_them.save(theirs)
        await of_another_scope.save(elsewhere)

        for store, kept in ((items, mine), (of_them, theirs), (of_another_scope, elsewhere)):
            for query in ("memory", "mine theirs elsewhere", "memory mine theirs elsewhere"):
                assert [each.summary for each in await store.search(query, 9)] == [kept.summary]


@contract("ING-SESSION")
async def test_what_another_session_has_changes_no_order_and_no_count(
    items: ItemStore, stranger: ItemStore, scope: str, session_ref: str
) -> None:
    older = item(session_ref, "memory", "session", timestamp=at(0))
    newer = item(session_ref, "memory", timestamp=at(1))
    await save_all(items, older, newer)
    for minute in range(5):
        other = item(f"another than {scope}", "memory", "session", timestamp=at(minute))
        await stranger.save(other)

    assert await found(items, "memory session", 1) == [older.id]
    assert await found(items, "memory", 1) == [newer.id]
    assert await found(items, "memory session") == [older.id, newer.id]


@contract("ING-SESSION")
async def test_sessions_that_look_alike_are_not_the_same(open_items: OpenItems, scope: str) -> None:
    names = ("s1", "S1", "s1 ", "s%", "s_", "ß", "ss", "é", "e\u0301", "세션", "s\t", "1", "01")
    for name in names:
        async with open_items(scope, name) as store:
            await store.save(item(name, "memory", summary=f"of {name}"))

    for name in names:
        async with open_items(scope, name) as store:
            assert [each.summary for each in await store.search("memory", 99)] == [f"of {name}"]
