"""Items go with their scope: they are copied with it, and erased with it."""

import pytest

import memoranda
from memoranda.app.maintain import copy_scopes
from memoranda.kernel.errors import ItemDamaged
from memoranda.ledger.attachments import NewItem
from memoranda.plans.items import MemoryItem
from memoranda.testkit.items.opening import at, found, item, save_all
from tests.journeys.sessions.cycles import end
from tests.plans.items.conftest import SESSION, Place


async def land(place: Place, cycle_id: str, *items: MemoryItem) -> None:
    """Store items as a cycle does."""
    ledger = await place.database.ledger(place.scope, "", 0)
    await end(ledger, cycle_id, [NewItem(**one.model_dump(by_alias=False)) for one in items])


async def test_a_copy_of_a_scope_has_its_items(place: Place, other_place: Place) -> None:
    items = await place.items()
    kept = [item(SESSION, "메모리", "C++", timestamp=at(n)) for n in range(3)]
    await land(place, "c1", *kept)
    await land(place, "c2", item("s2", "메모리"))

    await copy_scopes(place.url, other_place.url, scopes=[place.scope])

    copied = await other_place.items(scope=place.scope)
    assert await copied.search("메모리와 c++", 9) == await items.search("메모리와 c++", 9)
    assert len(await found(copied, "메모리")) == 3
    assert len(await found(await other_place.items("s2", place.scope), "메모리")) == 1
    await save_all(copied, *kept)  # they are the same items


async def test_a_scope_with_a_damaged_item_is_not_copied(place: Place, other_place: Place) -> None:
    items = await place.items()
    await items.save(item(SESSION, "메모리"))
    place.run("UPDATE {memories} SET body = ?", b"{}")

    with pytest.raises(ItemDamaged):
        await copy_scopes(place.url, other_place.url, scopes=[place.scope])

    assert other_place.counts()["memories"] == 0
    assert place.scope not in await memoranda.scopes(other_place.url)
