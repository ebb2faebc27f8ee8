"""Two times, always: what we knew then, and what held then."""

from datetime import UTC, datetime
from typing import Any

import pytest

from memoranda import Memory
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidFilter, InvalidTime
from memoranda.testkit.strategies import FrozenClock
from tests.journeys.govern.reading import objects

DAY = 86_400_000


@pytest.mark.rule("GOV-TIME-1", "GOV-TIME-2")
async def test_a_time_bound_statement_has_its_end_and_an_unknown_one_says_so(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    await memory.remember("until tomorrow", valid_from=clock.at, valid_to=clock.at + DAY)
    await memory.remember("until some day", valid_from=clock.at)
    await memory.remember("who knows")

    bounded, open_ended, unknown = await objects(memory)

    assert bounded["temporal_scope"] == "bounded"
    assert bounded["valid_to"] == "2025-11-14T02:13:20.000Z"
    assert (open_ended["temporal_scope"], open_ended["valid_to"]) == ("unknown", None)
    assert (unknown["temporal_scope"], unknown["valid_from"]) == ("unknown", None)


@pytest.mark.rule("GOV-TIME-1")
async def test_what_is_past_its_end_is_returned_only_when_asked_for(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    receipt = await memory.remember("price: 5", valid_to=clock.at + DAY)
    assert await memory.get(receipt.id) is not None
    clock.advance(DAY)
    assert await memory.get(receipt.id) is not None, "at its end it still holds"

    clock.advance(1)

    assert await memory.get(receipt.id) is None
    assert await memory.list() == []
    expired = await memory.get(receipt.id, include=["expired"])
    assert expired is not None
    assert expired.is_expired(clock.at)
    assert [one.id for one in await memory.list(include=["expired"])] == [receipt.id]


async def test_what_expires_is_gone_at_that_very_millisecond(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    receipt = await memory.remember("x", expires=clock.at + 10)
    clock.advance(9)
    assert await memory.get(receipt.id) is not None
    clock.advance(1)
    assert await memory.get(receipt.id) is None


async def test_what_held_then_is_asked_for_by_valid_at(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    start = clock.at
    receipt = await memory.remember("x", valid_from=start, valid_to=start + DAY)
    clock.advance(10 * DAY)

    assert await memory.get(receipt.id) is None
    assert await memory.get(receipt.id, valid_at=start) is not None
    assert await memory.get(receipt.id, valid_at=datetime.fromtimestamp(start / 1000, UTC))
    assert await memory.get(receipt.id, valid_at=start - 1) is None
    assert await memory.get(receipt.id, valid_at=start + DAY + 1) is None
    assert len(await memory.list(valid_at=start)) == 1


async def test_what_we_knew_then_is_asked_for_by_as_of(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    start = clock.at
    one = await memory.remember("first", tags=["t"])
    clock.advance(DAY)
    await memory.update(one.id, "second")
    clock.advance(DAY)
    gone = await memory.remember("other")
    await memory.forget(one.id, reason="r")

    async def known(at: int) -> list[Any]:
        return [found.data for found in await memory.list(at=format_time(at))]

    assert await known(start - 1) == []
    assert await known(start) == ["first"]
    assert await known(start + DAY) == ["second"]
    assert await known(start + 2 * DAY) == ["other"]
    then = await memory.get(one.id, at=format_time(start + DAY - 1))
    assert then is not None
    assert (then.data, then.version) == ("first", 1)
    assert await memory.get(one.id, at=one.seq) is not None
    assert await memory.get(one.id, at=one.seq - 1) is None
    assert await memory.get(gone.id, at=format_time(start)) is None
    assert [found.data for found in await memory.list(tags=["t"], at=format_time(start))] == [
        "first"
    ]


async def test_what_was_erased_is_not_known_at_any_time(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    receipt = await memory.remember("x")
    clock.advance(DAY)
    await memory.erase(receipt.id, reason="asked")

    assert await memory.get(receipt.id, at=receipt.seq) is None
    assert await memory.list(at=receipt.seq) == []


async def test_a_list_has_a_limit_and_an_order(memory: Memory[Any], clock: FrozenClock) -> None:
    for number in range(5):
        await memory.remember(number, valid_to=None if number % 2 else clock.at)
        clock.advance(1)

    newest = await memory.list(limit=1)
    paged = await memory.list(limit=1, cursor=newest.next)

    assert [one.data for one in await memory.list()] == [3, 1]
    assert ([one.data for one in newest], [one.data for one in paged]) == ([3], [1])


@pytest.mark.parametrize("wrong", [datetime(2026, 1, 1), "soon", 1.0, True])  # noqa: DTZ001
async def test_a_time_without_a_zone_or_a_form_is_refused(memory: Memory[Any], wrong: Any) -> None:
    with pytest.raises(InvalidTime):
        await memory.list(valid_at=wrong)
    with pytest.raises(InvalidFilter):
        await memory.list(at=wrong)


async def test_a_list_goes_on_past_what_is_not_current(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    old = await memory.remember("old")
    clock.advance(1)
    await memory.remember_many(["new"] * 3)
    for number in range(60):
        await memory.remember(number, expires=clock.at + 1)
    clock.advance(10)

    assert [one.data for one in await memory.list(limit=4)] == ["new"] * 3 + ["old"]
    assert [one.id for one in (await memory.list(limit=8))[3:]] == [old.id]


@pytest.mark.parametrize("wrong", [["gone"], "expired", ["expired", "erased"]])
async def test_what_can_not_be_included_is_refused(memory: Memory[Any], wrong: Any) -> None:
    with pytest.raises(InvalidFilter):
        await memory.list(include=wrong)
    with pytest.raises(InvalidFilter):
        await memory.get("x", include=wrong)
