"""A damaged row is told, never left out: no retrieval is partial (ING-NO-BEST-EFFORT)."""

from collections.abc import Callable
from typing import Any

import pytest

from memoranda.app.databases import acquire, release
from memoranda.identity import canonical_bytes
from memoranda.kernel.clock import SystemClock
from memoranda.kernel.errors import BodyUnreadable, ItemDamaged, RecordExists
from memoranda.plans.items import MemoryItem, item_bytes
from memoranda.testkit.items.opening import at, found, item, save_all
from tests.plans.items.conftest import SESSION, Place
from tests.stores.contract.item_opening import items_in
from tests.stores.toy_codec import ToyCodec

Members = dict[str, Any]


def without(name: str) -> Callable[[Members], Members]:
    return lambda members: {k: v for k, v in members.items() if k != name}


CHANGES: dict[str, Callable[[Members], Any]] = {
    **{f"without {name}": without(name) for name in MemoryItem.model_json_schema()["properties"]},
    "with one more": lambda members: {**members, "rawContent": "all of it"},
    "of another session": lambda members: {**members, "sessionRef": "s2"},
    "of another id": lambda members: {**members, "id": item(SESSION).id},
    "a null summary": lambda members: {**members, "summary": None},
    "keywords that are none": lambda members: {**members, "keywords": "memory"},
    "a time that is none": lambda members: {**members, "timestamp": "yesterday"},
    "no object": lambda _: ["memory"],
}


@pytest.mark.rule("ING-NO-BEST-EFFORT")
@pytest.mark.parametrize("change", CHANGES)
async def test_an_item_that_is_none_any_more_fails_the_search(place: Place, change: str) -> None:
    items = await place.items()
    whole = item(SESSION, "memory", "whole", timestamp=at(1))
    damaged = item(SESSION, "memory", timestamp=at(0))
    await save_all(items, whole, damaged)
    body = canonical_bytes(CHANGES[change](damaged.model_dump(mode="json")))
    place.run(
        "UPDATE {memories} SET body = ? WHERE body = ?",
        place.packed(body),
        place.packed(item_bytes(damaged)),
    )

    with pytest.raises(ItemDamaged) as caught:
        await items.search("memory", 2)

    assert (caught.value.code, caught.value.item) == ("store.item_damaged", damaged.id)
    assert await found(items, "memory", 1) == [whole.id], "what is asked for is whole"


@pytest.mark.rule("ING-NO-BEST-EFFORT")
@pytest.mark.parametrize("body", [b"", b"{", b'{"id":', b"\xff\xfe"])
async def test_a_row_that_can_not_be_decoded_fails_the_search(place: Place, body: bytes) -> None:
    items = await place.items()
    damaged = item(SESSION, "memory")
    await items.save(damaged)
    place.run("UPDATE {memories} SET body = ?", body)

    with pytest.raises(ItemDamaged) as caught:
        await items.search("memory", 1)

    assert caught.value.item == damaged.id


@pytest.mark.rule("ING-NO-BEST-EFFORT")
async def test_a_row_that_is_gone_while_its_keywords_are_there_fails_the_search(
    place: Place,
) -> None:
    items = await place.items()
    gone = item(SESSION, "memory", timestamp=at(1))
    await save_all(items, gone, item(SESSION, "memory", timestamp=at(0)))
    body = place.packed(item_bytes(gone))
    place.run("DELETE FROM {memories} WHERE body = ?", body)

    for top_k in (1, 2):
        with pytest.raises(ItemDamaged) as caught:
            await items.search("memory", top_k)
        assert caught.value.item == gone.id


@pytest.mark.rule("ING-SESSION")
async def test_a_row_that_was_moved_to_another_session_is_damage_there(place: Place) -> None:
    items, others = await place.items(), await place.items("s2")
    moved = item(SESSION, "memory")
    await items.save(moved)
    for table in ("memories", "item_keywords"):
        place.run(f"UPDATE {{{table}}} SET session = 's2'")  # noqa: S608 - ours

    with pytest.raises(ItemDamaged):
        await others.search("memory", 1)
    assert await found(items, "memory") == []


async def test_an_item_is_not_saved_over_a_damaged_one(place: Place) -> None:
    items = await place.items()
    kept = item(SESSION, "memory")
    await items.save(kept)
    place.run("UPDATE {memories} SET body = ?", b"{}")

    with pytest.raises(RecordExists):
        await items.save(kept)


async def test_bodies_are_stored_as_the_codec_says_and_a_lost_key_is_told(place: Place) -> None:
    codec = ToyCodec()
    database, lease = await acquire(place.url, SystemClock(), bodies=codec)
    try:
        items = await items_in(database, place.scope, SESSION)
        kept = item(SESSION, "memory", summary="Nobody is to read this.")
        await save_all(items, kept, kept)
        ((stored,),) = place.run("SELECT body FROM {memories}")

        assert b"Nobody" not in bytes(stored)
        assert await found(items, "memory") == [kept.id]
        codec.forget(None)
        with pytest.raises(BodyUnreadable):
            await items.search("memory", 1)
    finally:
        await release(lease)
