"""Many callers at once lose nothing; a caller who is cancelled leaves nothing half done."""

import asyncio
from collections.abc import Awaitable
from typing import Any

from memoranda.kernel.errors import RecordExists
from memoranda.plans.items import ItemStore
from memoranda.testkit.items.giving import at, found, item, new_id
from memoranda.testkit.records.marks import contract

CALLERS = 32


async def cancelled_after(steps: int, call: Awaitable[Any]) -> bool:
    """Cancel a call after some turns of the event loop; whether it was done by then."""
    task = asyncio.ensure_future(call)
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        return False
    return True


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
