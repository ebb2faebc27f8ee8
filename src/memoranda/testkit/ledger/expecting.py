"""A unit rests on what it expects, and lands only where that is so when it runs."""

import asyncio
from collections.abc import Sequence

import pytest

from memoranda.kernel.errors import IdempotencyConflict, MarkMoved
from memoranda.kernel.retry import RetryKey
from memoranda.ledger.unit import (
    KEPT,
    Committed,
    Current,
    Draft,
    Everything,
    Expected,
    Ledger,
    Mark,
    Unit,
)
from memoranda.testkit.ledger.writing import ACTOR, fact, names, object_, seqs, size, write
from memoranda.testkit.records.marks import contract


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

    async def beside(number: int) -> Committed:
        return await write(ledger, object_(f"{number}"), fact(f"beside/{number}"))

    jobs = [job for n in range(50) for job in (attempt(n), beside(n))]
    told = await asyncio.gather(*jobs)

    attempts = told[::2]
    assert attempts.count("") == 5
    for n in range(5):
        lost = [one for one in attempts[n::5] if one]
        assert lost == [f"branch/{n}"] * 9
        assert len(await ledger.marked(f"branch/{n}")) == 1
    assert len(await names(ledger, "tried/")) == 5
    assert len(await names(ledger, "beside/")) == 50
    assert await size(ledger) == 5 + 100
    for one in told[1::2]:
        assert isinstance(one, Committed)
        assert seqs(await ledger.entries_at([place.seq for place in one.places])) == [
            place.seq for place in one.places
        ]


@contract()
async def test_one_that_comes_after_another_sees_what_it_marked(ledger: Ledger) -> None:
    """Each of these is right only after the one before it, though they are asked for at once."""
    await write(ledger, fact("a"))

    told = await asyncio.gather(
        write(ledger, fact("a"), expects=[Expected("a", 0)]),
        write(ledger, fact("b", unmarks=[Mark("a", 1)]), expects=[Expected("a", 1)]),
        write(ledger, fact("a"), expects=[Expected("a", 0), Expected("b", 2)]),
    )

    assert [one.places[0].seq for one in told] == [1, 2, 3]


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
