"""Sessions are rows attached to a journal, and do the same on every database."""

from collections.abc import Callable

import pytest

from memoranda.journeys.govern.table import FilteredLedger
from memoranda.kernel.errors import (
    IdempotencyConflict,
    MarkMoved,
    SessionDamaged,
    SessionMismatch,
)
from memoranda.kernel.given import RetryKey
from memoranda.ledger.unit import Expected
from memoranda.plans.session import KEPT_ASIDE, SessionStore, read_session
from memoranda.testkit.strategies import FrozenClock
from tests.journeys.sessions.cycles import AT, OTHER_PLAN, cold, end, ending, item, resumed

Make = Callable[..., SessionStore]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def make(ledger: FilteredLedger, clock: FrozenClock) -> Make:
    """Makes a store of sessions, as a process does when it starts."""
    return lambda name="default": SessionStore(ledger.attachments, clock, name)


async def kept(ledger: FilteredLedger, name: str = "default") -> list[bytes]:
    """The sessions that were put aside, the newest first."""
    return [row.body for row in await ledger.attachments.kept_sessions(name)]


async def test_a_session_that_was_never_saved_is_not_there_and_looking_makes_nothing(
    make: Make, ledger: FilteredLedger
) -> None:
    assert await make().load() is None

    assert (await ledger.head()).size == 0


async def test_a_session_is_there_once_its_cycle_has_landed(
    make: Make, ledger: FilteredLedger
) -> None:
    session = cold()
    state = session.state(AT)
    await end(ledger, "c1", [make().saved(state, None, "c")])

    assert await make().load() == state


@pytest.mark.rule("ING-HASH", "ING-FAILFAST")
async def test_a_session_that_another_plan_left_is_not_resumed_and_stays_as_it_is(
    make: Make, ledger: FilteredLedger
) -> None:
    state = cold().state(AT)
    await end(ledger, "c1", [make().saved(state, None, "c")])

    with pytest.raises(SessionMismatch) as caught:
        resumed(await make().load(), OTHER_PLAN)
    assert caught.value.code == "plan.fail_fast.session_mismatch"
    assert resumed(await make().load()).stored == state
    await make().rotate()
    assert await make().load() is None


@pytest.mark.rule("ING-PERSIST")
async def test_a_session_whose_cycle_failed_is_as_it_was(
    make: Make, ledger: FilteredLedger
) -> None:
    first = cold().state(AT)
    await end(ledger, "c1", [make().saved(first, None, "c")])

    unit = ending("c2", [make().saved(resumed(first).state(AT + 1), first, "c")])
    with pytest.raises(MarkMoved):
        await ledger.commit(unit._replace(expects=[Expected("a name", 7)]))
    assert await make().load() == first
    assert (await ledger.head()).size == 1


async def test_a_session_goes_on_from_turn_to_turn(make: Make, ledger: FilteredLedger) -> None:
    session = cold()
    for turn in range(3):
        state = session.state(AT + turn, f"version-{turn}")
        await end(ledger, f"c{turn}", [make().saved(state, session.stored, "c")])
        session = resumed(await make().load())
        assert session.stored == state

    assert session.repo_scan_version == "version-2"


async def test_sessions_of_other_names_are_others(make: Make, ledger: FilteredLedger) -> None:
    states = {name: cold(name).state(AT) for name in ("default", "a", "a.b", "A")}
    for name, state in states.items():
        await end(ledger, name, [make(name).saved(state, None, "c")])

    assert {name: await make(name).load() for name in states} == states


async def test_of_two_that_begin_at_once_the_second_is_refused_whole(
    make: Make, ledger: FilteredLedger
) -> None:
    first, second = cold(), cold()
    await end(ledger, "c1", [make().saved(first.state(AT), None, "c")])

    with pytest.raises(MarkMoved) as caught:
        await end(ledger, "c2", [item(second), make().saved(second.state(AT), None, "c")])
    assert caught.value.code == "world.mark_moved"
    assert await make().load() == first.state(AT)
    assert (await ledger.head()).size == 1


async def test_one_that_did_not_hear_that_it_landed_may_go_on(
    make: Make, ledger: FilteredLedger
) -> None:
    session = cold()
    await end(ledger, "c1", [make().saved(session.state(AT), None, "c")])
    await end(ledger, "c2", [make().saved(session.state(AT + 1), None, "c")])

    assert await make().load() == session.state(AT + 1)


async def test_one_that_was_put_aside_meanwhile_can_not_come_back(
    make: Make, ledger: FilteredLedger
) -> None:
    state = cold().state(AT)
    await end(ledger, "c1", [make().saved(state, None, "c")])
    await make().rotate()

    with pytest.raises(MarkMoved):
        await end(ledger, "c2", [make().saved(state, state, "c")])
    assert await make().load() is None


async def test_a_retry_lands_once_and_leaves_the_session_of_the_first_time(
    make: Make, ledger: FilteredLedger
) -> None:
    session, key = cold(), RetryKey("c1", b"f" * 32)
    first = await end(ledger, "c1", [make().saved(session.state(AT), None, "c")], key=key)
    again = await end(ledger, "c1", [make().saved(session.state(AT + 5), None, "c")], key=key)

    assert (again.fresh, again.places) == (False, first.places)
    assert await make().load() == session.state(AT)
    with pytest.raises(IdempotencyConflict):
        await end(
            ledger,
            "c1",
            [make().saved(session.state(AT + 6), None, "c")],
            key=RetryKey("c1", b"g" * 32),
        )
    assert await make().load() == session.state(AT)


# --------------------------------------------------------------------------- rotating


async def test_a_session_that_is_put_aside_makes_room_and_is_kept(
    make: Make, ledger: FilteredLedger
) -> None:
    state = cold().state(AT)
    await end(ledger, "c1", [make().saved(state, None, "c")])

    await make().rotate()

    assert await make().load() is None
    (aside,) = await kept(ledger)
    assert read_session("default", aside) == state
    other = cold().state(AT)
    await end(ledger, "c2", [make().saved(other, None, "c")])
    assert await make().load() == other


async def test_the_ten_newest_of_a_name_are_kept(
    make: Make, ledger: FilteredLedger, clock: FrozenClock
) -> None:
    states = []
    for turn in range(KEPT_ASIDE + 3):
        for name in ("default", "default.2"):
            state = cold(name).state(AT + turn)
            await end(ledger, f"{name}-{turn}", [make(name).saved(state, None, "c")])
            await make(name).rotate()
            if name == "default":
                states.append(state)
        clock.advance(0 if turn % 3 else 1_000)  # several within a second, too

    found = await kept(ledger)
    assert len(found) == KEPT_ASIDE
    assert {read_session("", one) for one in found} == set(states[-KEPT_ASIDE:])
    assert len(await kept(ledger, "default.2")) == KEPT_ASIDE


async def test_where_there_is_no_session_there_is_nothing_to_put_aside(
    make: Make, ledger: FilteredLedger
) -> None:
    await make().rotate()

    assert await kept(ledger) == []


async def test_a_damaged_session_fails_fast_until_it_is_put_aside(
    make: Make, ledger: FilteredLedger
) -> None:
    state = cold().state(AT)
    damaged = make().saved(state, None, "c")._replace(body=b'{"sessionId":1}')
    await end(ledger, "c1", [damaged])

    with pytest.raises(SessionDamaged) as caught:
        await make().load()
    assert caught.value.code == "plan.fail_fast.session_damaged"
    await make().rotate()
    assert await make().load() is None
    assert len(await kept(ledger)) == 1
