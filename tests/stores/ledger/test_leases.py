"""Leases in either database: one holder at a time, a dead one is taken over, late ones lose."""

import asyncio
from typing import Any

import pytest

from memoranda import Memory
from memoranda.ledger.lease import JOB, RUN, Lease, Leases
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.handles import inside

LONG = 3_600_000


@pytest.fixture
async def leases(memory: Memory[Any]) -> Leases:
    """The leases of a scope that has a journal."""
    await memory.remember("a fact")
    return inside(memory).ledger.leases


async def test_of_many_who_want_a_lease_at_once_one_gets_it(
    leases: Leases, clock: FrozenClock
) -> None:
    taken = await asyncio.gather(
        *(leases.take(RUN + "p", f"h{n}", for_ms=LONG, now=clock.now_ms()) for n in range(20))
    )

    (held,) = [lease for lease in taken if lease is not None]
    assert await leases.all(RUN) == [held]
    assert held.attempts == 1


async def test_a_lease_that_was_let_go_can_be_had_and_leaves_nothing(
    leases: Leases, clock: FrozenClock
) -> None:
    now = clock.now_ms()
    assert await leases.take(RUN + "p", "one", for_ms=LONG, now=now)
    await leases.release(RUN + "p", "two")  # it is not theirs to let go
    assert await leases.take(RUN + "p", "two", for_ms=LONG, now=now) is None
    await leases.release(RUN + "p", "one")
    assert await leases.all("") == []
    assert await leases.take(RUN + "p", "two", for_ms=LONG, now=now)


async def test_a_holder_that_died_is_taken_over_and_finds_out_if_it_did_not(
    leases: Leases, clock: FrozenClock
) -> None:
    assert await leases.take(RUN + "p", "one", for_ms=0, now=clock.now_ms())
    clock.advance(1)
    second = await _taken(leases, RUN + "p", "two", clock)

    assert (second.holder, second.attempts) == ("two", 2)
    assert not await leases.renew(RUN + "p", "one", for_ms=LONG, now=clock.now_ms())
    assert await leases.renew(RUN + "p", "two", for_ms=LONG, now=clock.now_ms())
    late = second._replace(holder="one")
    assert not await leases.end(late, due=1, attempts=0, report="late")
    assert (await leases.all(RUN))[0].report == ""


async def _taken(leases: Leases, name: str, holder: str, clock: FrozenClock) -> Lease:
    """Take a lease of no time, which ends with the server's next millisecond."""
    while True:
        taken = await leases.take(name, holder, for_ms=LONG, now=clock.now_ms())
        if taken is not None:
            return taken
        await asyncio.sleep(0.001)


async def test_a_job_is_taken_when_it_is_due_and_once(leases: Leases, clock: FrozenClock) -> None:
    now = clock.now_ms()
    name = JOB + "index"
    assert await leases.take(name, "one", for_ms=LONG, now=now, due=now) is None  # there is none
    await leases.plan({name: now})
    assert await leases.take(name, "one", for_ms=LONG, now=now, due=now - 1) is None

    taken = await leases.take(name, "one", for_ms=LONG, now=now, due=now)
    assert taken is not None
    assert await leases.take(name, "two", for_ms=LONG, now=now, due=now) is None
    assert await leases.end(taken, due=now + 1_000, attempts=0, report="{}")
    # Whoever heard that it was due, and comes late, does not run it once more.
    assert await leases.take(name, "two", for_ms=LONG, now=now, due=now) is None
    assert (await leases.all(JOB))[0] == Lease(name, "", 0, now + 1_000, 0, "{}")


async def test_what_is_planned_replaces_what_was_and_leaves_what_is_held(
    leases: Leases, clock: FrozenClock
) -> None:
    now = clock.now_ms()
    await leases.plan({JOB + "a": now, JOB + "b": now, JOB + "c": now})
    held = await leases.take(JOB + "b", "one", for_ms=LONG, now=now)
    assert held is not None

    await leases.plan({JOB + "a": now + 9})

    assert {lease.name: lease.due for lease in await leases.all(JOB)} == {
        JOB + "a": now,  # as it was
        JOB + "b": now,
    }
    await leases.plan({JOB + "a": now + 9, JOB + "b": now + 9}, anew=True)
    assert [lease.due for lease in await leases.all(JOB)] == [now + 9, now + 9]
    # What came to be due while it was held stays due, whatever its holder says.
    assert await leases.end(held, due=now + 99, attempts=0, report="")
    assert [lease.due for lease in await leases.all(JOB)] == [now + 9, now + 9]


async def test_the_leases_of_one_scope_are_no_other_s(
    leases: Leases, opens: Opens, clock: FrozenClock
) -> None:
    now = clock.now_ms()
    assert await leases.take(RUN + "p", "one", for_ms=LONG, now=now)
    async with opens(scope="another-scope") as other:
        await other.remember("a fact")
        theirs = inside(other).ledger.leases

        assert await theirs.all("") == []
        taken = await theirs.take(RUN + "p", "two", for_ms=LONG, now=now)
        assert taken is not None
        await theirs.release(RUN + "p", "two")
        assert [lease.holder for lease in await leases.all("")] == ["one"]


async def test_a_scope_without_a_journal_has_nothing_to_lease(opens: Opens) -> None:
    async with opens(scope="nothing-here") as memory:
        leases = inside(memory).ledger.leases

        assert await leases.take(RUN + "p", "one", for_ms=1, now=0) is not None
        assert await leases.all("") == []
        await leases.plan({JOB + "a": 1})
        assert (await memory.maintain.status()).enabled is False
        assert [run.outcome for run in await memory.maintain.run()] == ["done"] * 6
