"""A unit of work lands whole or not at all, and decides on what is newest when it runs."""

import asyncio
from collections.abc import Sequence

import pytest

from memoranda.kernel.errors import RecordExists
from memoranda.kernel.retry import RetryKey
from memoranda.ledger.unit import ACTIVE, KEPT, Current, Draft, Ledger, OfSubject, Unit
from memoranda.testkit.ledger.writing import ACTOR, fact, following, object_, size, write
from memoranda.testkit.records.marks import contract


class Declined(Exception):
    """A decision that is not made."""


@contract()
async def test_a_unit_lands_whole_in_its_order(ledger: Ledger, twin: Ledger) -> None:
    done = await write(ledger, object_("one"), fact("a"), object_("two"))

    assert done.fresh
    assert [place.seq for place in done.places] == [0, 1, 2]
    assert [past.version.number for past in await twin.versions("two")] == [1]
    assert (await twin.head()).size == 3


@contract()
async def test_a_unit_whose_decision_raises_leaves_nothing(ledger: Ledger) -> None:
    def decide(_: Sequence[Current | None]) -> list[Draft]:
        raise Declined

    with pytest.raises(Declined):
        await ledger.commit(Unit(ACTOR, 1, decide, ["one"]))
    assert await size(ledger) == 0


@contract()
async def test_a_unit_that_decides_nothing_writes_nothing(ledger: Ledger) -> None:
    assert (await write(ledger)).places == []
    assert await size(ledger) == 0


@contract()
async def test_a_first_version_of_what_is_there_is_refused_with_all_of_its_unit(
    ledger: Ledger,
) -> None:
    await write(ledger, object_("one"))

    with pytest.raises(RecordExists) as caught:
        await write(ledger, fact("a"), object_("two"), object_("one"))
    assert caught.value.code == "record.exists"
    assert await size(ledger) == 1
    assert await ledger.versions("two") == []


@contract()
async def test_a_decision_sees_the_newest_versions_in_the_order_asked_for(ledger: Ledger) -> None:
    await write(ledger, object_("one"), object_("two"))
    seen: list[list[tuple[str, int] | None]] = []

    def decide(found: Sequence[Current | None]) -> list[Draft]:
        seen.append([None if one is None else (one.id, one.number) for one in found])
        (_, _, one) = found
        assert one is not None
        return [following(one)]

    for _ in range(2):
        await ledger.commit(Unit(ACTOR, 1, decide, ["two", "nowhere", "one"]))

    assert seen == [[("two", 1), None, ("one", 1)], [("two", 1), None, ("one", 2)]]
    assert [past.version.number for past in await ledger.versions("one")] == [1, 2, 3]


@contract()
async def test_everything_that_is_active_can_be_read(ledger: Ledger) -> None:
    await write(ledger, object_("one"), object_("two", subject="kim"), object_("three"))
    seen: list[set[str]] = []

    def archive(found: Sequence[Current | None]) -> list[Draft]:
        return [following(one, status="archived") for one in found if one is not None]

    def look(found: Sequence[Current | None]) -> list[Draft]:
        seen.append({one.id for one in found if one is not None})
        return []

    await ledger.commit(Unit(ACTOR, 1, archive, ["one"]))
    for reads in (ACTIVE, KEPT, OfSubject("kim"), OfSubject("nobody")):
        await ledger.commit(Unit(ACTOR, 1, look, reads))

    assert seen == [{"two", "three"}, {"one", "two", "three"}, {"two"}, set()]
    assert await ledger.current("two", lambda one: one.id) == "two"
    assert await ledger.current("one", lambda one: one.id) is None
    assert await ledger.active(10) == 2


@contract()
async def test_units_that_run_at_once_each_see_the_one_before(ledger: Ledger, twin: Ledger) -> None:
    await write(ledger, object_("one"))

    def decide(found: Sequence[Current | None]) -> list[Draft]:
        (one,) = found
        assert one is not None
        return [following(one)]

    unit = Unit(ACTOR, 1, decide, ["one"])
    await asyncio.gather(*(side.commit(unit) for _ in range(16) for side in (ledger, twin)))

    past = await ledger.versions("one")
    assert [one.version.number for one in past] == list(range(1, 34))
    assert [one.seq for one in past] == list(range(33))


@contract()
async def test_two_scopes_see_nothing_of_each_other(ledger: Ledger, stranger: Ledger) -> None:
    await write(ledger, object_("one"), fact("a"), key=RetryKey("k", b"f" * 32), about="one")

    assert await size(stranger) == 0
    assert await stranger.versions("one") == []
    assert await stranger.marked("a") == []
    assert (await write(stranger, object_("one"), key=RetryKey("k", b"g" * 32))).fresh
    assert (await ledger.head()).origin != (await stranger.head()).origin
