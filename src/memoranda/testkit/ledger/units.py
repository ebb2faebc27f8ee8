"""A unit of work lands whole or not at all, and decides on what is newest when it runs."""

import asyncio
from collections.abc import Sequence

import pytest

from memoranda.kernel.errors import IdempotencyConflict, MarkMoved, RecordExists
from memoranda.kernel.given import RetryKey
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import (
    ACTIVE,
    KEPT,
    Committed,
    Current,
    Draft,
    Everything,
    Expected,
    Mark,
    OfSubject,
    Unit,
)
from memoranda.testkit import contract
from memoranda.testkit.ledger.opening import (
    ACTOR,
    fact,
    following,
    names,
    object_,
    seqs,
    size,
    write,
)


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
        seen.append(
            [None if current is None else (current.id, current.number) for current in found]
        )
        (_, _, current) = found
        assert current is not None
        return [following(current)]

    for _ in range(2):
        await ledger.commit(Unit(ACTOR, 1, decide, ["two", "nowhere", "one"]))

    assert seen == [[("two", 1), None, ("one", 1)], [("two", 1), None, ("one", 2)]]
    assert [past.version.number for past in await ledger.versions("one")] == [1, 2, 3]


@contract()
async def test_everything_that_is_active_can_be_read(ledger: Ledger) -> None:
    await write(ledger, object_("one"), object_("two", subject="kim"), object_("three"))
    seen: list[set[str]] = []

    def archive(found: Sequence[Current | None]) -> list[Draft]:
        return [following(current, status="archived") for current in found if current is not None]

    def look(found: Sequence[Current | None]) -> list[Draft]:
        seen.append({current.id for current in found if current is not None})
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
        (current,) = found
        assert current is not None
        return [following(current)]

    unit = Unit(ACTOR, 1, decide, ["one"])
    await asyncio.gather(*(side.commit(unit) for _ in range(16) for side in (ledger, twin)))

    past = await ledger.versions("one")
    assert [version.version.number for version in past] == list(range(1, 34))
    assert [version.seq for version in past] == list(range(33))


@contract()
async def test_two_scopes_see_nothing_of_each_other(ledger: Ledger, stranger: Ledger) -> None:
    await write(ledger, object_("one"), fact("a"), key=RetryKey("k", b"f" * 32), about="one")

    assert await size(stranger) == 0
    assert await stranger.versions("one") == []
    assert await stranger.marked("a") == []
    assert (await write(stranger, object_("one"), key=RetryKey("k", b"g" * 32))).fresh
    assert (await ledger.head()).origin != (await stranger.head()).origin


# ------------------------------------------------------------------------------------------------
# A retry with the key of a unit that landed learns where that is, and writes nothing.

KEY = RetryKey("a key", b"f" * 32)


@contract()
async def test_a_retry_writes_nothing_and_is_told_the_same(ledger: Ledger, twin: Ledger) -> None:
    first = await write(ledger, object_("one"), fact("a"), key=KEY, about="one")

    again = await write(twin, object_("one"), fact("a"), key=KEY, about="one")

    assert again == first._replace(fresh=False)
    assert (again.about, await size(ledger)) == ("one", 2)


@contract()
async def test_the_same_key_with_something_else_is_refused(ledger: Ledger) -> None:
    await write(ledger, fact("a"), key=KEY, about="a")

    with pytest.raises(IdempotencyConflict) as caught:
        await write(ledger, fact("b"), key=RetryKey("a key", b"g" * 32))
    assert caught.value.code == "record.idempotency_conflict"
    assert await size(ledger) == 1


@contract()
async def test_a_unit_that_wrote_nothing_is_remembered_as_well(ledger: Ledger) -> None:
    assert (await write(ledger, key=KEY, about="a")).fresh

    again = await write(ledger, fact("a"), key=KEY, about="a")

    assert (again.fresh, again.places) == (False, [])


@contract()
async def test_of_units_with_one_key_at_once_one_is_fresh(ledger: Ledger, twin: Ledger) -> None:
    outcomes = await asyncio.gather(
        *(write(side, fact("a"), key=KEY, about="a") for _ in range(8) for side in (ledger, twin))
    )

    assert sum(outcome.fresh for outcome in outcomes) == 1
    assert {place for outcome in outcomes for place in outcome.places} == set(outcomes[0].places)
    assert await size(ledger) == 1


# ------------------------------------------------------------------------------------------------
# A unit rests on what it expects, and lands only where that is so when it runs.


@contract()
async def test_what_is_expected_is_checked_when_the_unit_runs(ledger: Ledger) -> None:
    await write(ledger, fact("branch/a"), expects=[Expected("branch/a", None)])
    await write(ledger, fact("branch/a"), expects=[Expected("branch/a", 0), Expected("b", None)])
    before = await ledger.head()

    for wrong in (None, 0, 2):
        expects = [Expected("b", None), Expected("branch/a", wrong), Expected("c", 7)]
        with pytest.raises(MarkMoved) as caught:
            await write(ledger, fact("branch/a"), object_("new"), expects=expects)
        assert (caught.value.code, caught.value.name) == ("world.mark_moved", "branch/a")
        with pytest.raises(MarkMoved):
            await write(ledger, expects=expects)

    assert await ledger.head() == before
    assert await ledger.versions("new") == []
    assert (await write(ledger, expects=[Expected("branch/a", 1)])).places == []


@contract()
@pytest.mark.parametrize("reads", [["one"], [f"{n}" for n in range(1_500)], KEPT])
async def test_a_unit_that_reads_can_expect_as_well(
    ledger: Ledger, reads: Sequence[str] | Everything
) -> None:
    await write(ledger, object_("one"), fact("a"))

    def decide(_: Sequence[Current | None]) -> list[Draft]:
        return [fact("a")]

    with pytest.raises(MarkMoved):
        await ledger.commit(Unit(ACTOR, 1, decide, reads, expects=[Expected("a", 0)]))
    assert await size(ledger) == 2
    await ledger.commit(Unit(ACTOR, 1, decide, reads, expects=[Expected("a", 1)]))
    assert seqs(await ledger.marked("a")) == [1, 2]


@contract()
async def test_a_large_unit_can_expect_as_well(ledger: Ledger) -> None:
    drafts = [fact("a")] * 2_500

    with pytest.raises(MarkMoved):
        await write(ledger, *drafts, expects=[Expected("a", 0)])
    assert await size(ledger) == 0
    await write(ledger, *drafts, expects=[Expected("a", None)])
    assert len(await ledger.marked("a")) == 2_500


@contract()
async def test_of_units_that_expect_the_same_exactly_one_wins(ledger: Ledger) -> None:
    async def attempt(number: int) -> str:
        name = f"branch/{number % 5}"
        try:
            await write(ledger, fact(name, f"tried/{number}"), expects=[Expected(name, None)])
        except MarkMoved as moved:
            return moved.name
        return ""

    async def write_both(number: int) -> Committed:
        return await write(ledger, object_(f"{number}"), fact(f"beside/{number}"))

    jobs = [job for n in range(50) for job in (attempt(n), write_both(n))]
    outcomes = await asyncio.gather(*jobs)

    attempts = outcomes[::2]
    assert attempts.count("") == 5
    for n in range(5):
        lost = [one for one in attempts[n::5] if one]
        assert lost == [f"branch/{n}"] * 9
        assert len(await ledger.marked(f"branch/{n}")) == 1
    assert len(await names(ledger, "tried/")) == 5
    assert len(await names(ledger, "beside/")) == 50
    assert await size(ledger) == 5 + 100
    for outcome in outcomes[1::2]:
        assert isinstance(outcome, Committed)
        assert seqs(await ledger.entries_at([place.seq for place in outcome.places])) == [
            place.seq for place in outcome.places
        ]


@contract()
async def test_one_that_comes_after_another_sees_what_it_marked(ledger: Ledger) -> None:
    """Each of these is right only after the one before it, though they are asked for at once."""
    await write(ledger, fact("a"))

    outcomes = await asyncio.gather(
        write(ledger, fact("a"), expects=[Expected("a", 0)]),
        write(ledger, fact("b", unmarks=[Mark("a", 1)]), expects=[Expected("a", 1)]),
        write(ledger, fact("a"), expects=[Expected("a", 0), Expected("b", 2)]),
    )

    assert [outcome.places[0].seq for outcome in outcomes] == [1, 2, 3]


@contract()
async def test_a_retry_is_told_the_first_outcome_whatever_it_expects(
    ledger: Ledger,
) -> None:
    key = RetryKey("a key", b"f" * 32)
    expects = [Expected("a", None)]
    first = await write(ledger, fact("a"), expects=expects, key=key, about="a")

    again = await write(ledger, fact("a"), expects=expects, key=key, about="a")

    assert again == first._replace(fresh=False)
    assert await size(ledger) == 1
    with pytest.raises(IdempotencyConflict):
        await write(ledger, fact("a"), expects=expects, key=RetryKey("a key", b"g" * 32))
    other = RetryKey("another", b"f" * 32)
    with pytest.raises(MarkMoved):
        await write(ledger, fact("a"), expects=expects, key=other)
    assert (await write(ledger, fact("a"), expects=[Expected("a", 0)], key=other)).fresh
