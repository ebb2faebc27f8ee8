"""A retry with the key of a unit that landed is told where that stands, and writes nothing."""

import asyncio

import pytest

from memoranda.kernel.errors import IdempotencyConflict
from memoranda.kernel.retry import RetryKey
from memoranda.ledger.unit import Ledger
from memoranda.testkit.ledger.writing import fact, object_, size, write
from memoranda.testkit.records.marks import contract

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
    told = await asyncio.gather(
        *(write(side, fact("a"), key=KEY, about="a") for _ in range(8) for side in (ledger, twin))
    )

    assert sum(one.fresh for one in told) == 1
    assert {place for one in told for place in one.places} == set(told[0].places)
    assert await size(ledger) == 1
