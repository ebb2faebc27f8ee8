"""Sessions in a database and in files do the same, on every database."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recollect.journeys.govern.table import FilteredLedger
from recollect.kernel.errors import (
    IdempotencyConflict,
    MarkMoved,
    SessionDamaged,
    SessionMismatch,
)
from recollect.kernel.retry import RetryKey
from recollect.outside.session_files import ASIDE, SessionFile
from recollect.plans.session import KEPT_ASIDE, SessionStore, read_session
from recollect.plans.session_rows import SessionRows
from recollect.testkit.simulators import FrozenClock
from tests.sessions.cycles import AT, OTHER_PLAN, cold, end, item, resumed

Make = Callable[..., SessionStore]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture(params=["rows", "files"])
def make(
    request: pytest.FixtureRequest, ledger: FilteredLedger, clock: FrozenClock, tmp_path: Path
) -> Make:
    """Makes a store of sessions, as a process does when it starts."""
    if request.param == "rows":
        return lambda name="default": SessionRows(ledger.beside, clock, name)
    folder = tmp_path / "runtime"
    return lambda name="default": SessionFile(folder, ledger.beside, "origin", clock, name)


async def kept(ledger: FilteredLedger, folder: Path, name: str = "default") -> list[bytes]:
    """The sessions that were put aside, the newest first."""
    rows = await ledger.beside.kept_sessions(name)
    files = sorted((folder / "runtime" / ASIDE).glob(f"session_state.{name}.20*"), reverse=True)
    return [row.body for row in rows] or [file.read_bytes() for file in files]


async def test_a_session_that_was_never_saved_is_not_there_and_looking_makes_nothing(
    make: Make, ledger: FilteredLedger, tmp_path: Path
) -> None:
    assert await make().load() is None

    assert not (tmp_path / "runtime").exists()
    assert (await ledger.head()).size == 0


async def test_a_session_is_there_once_its_cycle_has_landed(
    make: Make, ledger: FilteredLedger
) -> None:
    session = cold()
    state = session.state(AT)
    async with make().saving(state, None) as beside:
        await end(ledger, "c1", beside)

    assert await make().load() == state


@pytest.mark.rule("ING-HASH", "ING-FAILFAST")
async def test_a_session_that_another_plan_left_is_not_resumed_and_stays_as_it_is(
    make: Make, ledger: FilteredLedger
) -> None:
    state = cold().state(AT)
    async with make().saving(state, None) as beside:
        await end(ledger, "c1", beside)

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
    async with make().saving(first, None) as beside:
        await end(ledger, "c1", beside)

    with pytest.raises(ZeroDivisionError):
        async with make().saving(resumed(first).state(AT + 1), first):
            raise ZeroDivisionError
    assert await make().load() == first
    assert (await ledger.head()).size == 1


async def test_a_session_goes_on_from_turn_to_turn(make: Make, ledger: FilteredLedger) -> None:
    session = cold()
    for turn in range(3):
        state = session.state(AT + turn, f"version-{turn}")
        async with make().saving(state, session.stored) as beside:
            await end(ledger, f"c{turn}", beside)
        session = resumed(await make().load())
        assert session.stored == state

    assert session.repo_scan_version == "version-2"


async def test_sessions_of_other_names_are_others(make: Make, ledger: FilteredLedger) -> None:
    states = {name: cold(name).state(AT) for name in ("default", "a", "a.b", "A")}
    for name, state in states.items():
        async with make(name).saving(state, None) as beside:
            await end(ledger, name, beside)

    assert {name: await make(name).load() for name in states} == states


async def test_of_two_that_begin_at_once_the_second_is_refused_whole(
    make: Make, ledger: FilteredLedger
) -> None:
    first, second = cold(), cold()
    async with make().saving(first.state(AT), None) as beside:
        await end(ledger, "c1", beside)

    with pytest.raises(MarkMoved) as caught:
        async with make().saving(second.state(AT), None) as beside:
            await end(ledger, "c2", [item(second), *beside])
    assert caught.value.code == "world.mark_moved"
    assert await make().load() == first.state(AT)
    assert (await ledger.head()).size == 1


async def test_one_that_did_not_hear_that_it_landed_may_go_on(
    make: Make, ledger: FilteredLedger
) -> None:
    session = cold()
    async with make().saving(session.state(AT), None) as beside:
        await end(ledger, "c1", beside)
    async with make().saving(session.state(AT + 1), None) as beside:
        await end(ledger, "c2", beside)

    assert await make().load() == session.state(AT + 1)


async def test_one_that_was_put_aside_meanwhile_can_not_come_back(
    make: Make, ledger: FilteredLedger
) -> None:
    state = cold().state(AT)
    async with make().saving(state, None) as beside:
        await end(ledger, "c1", beside)
    await make().rotate()

    with pytest.raises(MarkMoved):
        async with make().saving(state, state) as beside:
            await end(ledger, "c2", beside)
    assert await make().load() is None


async def test_a_retry_lands_once_and_leaves_the_session_of_the_first_time(
    make: Make, ledger: FilteredLedger, tmp_path: Path
) -> None:
    session, key = cold(), RetryKey("c1", b"f" * 32)
    async with make().saving(session.state(AT), None) as beside:
        first = await end(ledger, "c1", beside, key=key)
    async with make().saving(session.state(AT + 5), None) as beside:
        again = await end(ledger, "c1", beside, key=key)

    assert (again.fresh, again.places) == (False, first.places)
    assert await make().load() == session.state(AT)
    with pytest.raises(IdempotencyConflict):
        async with make().saving(session.state(AT + 6), None) as beside:
            await end(ledger, "c1", beside, key=RetryKey("c1", b"g" * 32))
    assert await make().load() == session.state(AT)
    assert not list(tmp_path.glob("runtime/*.tmp-*"))


# --------------------------------------------------------------------------- rotating


async def test_a_session_that_is_put_aside_makes_room_and_is_kept(
    make: Make, ledger: FilteredLedger, tmp_path: Path
) -> None:
    state = cold().state(AT)
    async with make().saving(state, None) as beside:
        await end(ledger, "c1", beside)

    await make().rotate()

    assert await make().load() is None
    (aside,) = await kept(ledger, tmp_path)
    assert read_session("default", aside) == state
    other = cold().state(AT)
    async with make().saving(other, None) as beside:
        await end(ledger, "c2", beside)
    assert await make().load() == other


async def test_the_ten_newest_of_a_name_are_kept(
    make: Make, ledger: FilteredLedger, clock: FrozenClock, tmp_path: Path
) -> None:
    states = []
    for turn in range(KEPT_ASIDE + 3):
        for name in ("default", "default.2"):
            state = cold(name).state(AT + turn)
            async with make(name).saving(state, None) as beside:
                await end(ledger, f"{name}-{turn}", beside)
            await make(name).rotate()
            if name == "default":
                states.append(state)
        clock.advance(0 if turn % 3 else 1_000)  # several within a second, too

    found = await kept(ledger, tmp_path)
    assert len(found) == KEPT_ASIDE
    assert {read_session("", one) for one in found} == set(states[-KEPT_ASIDE:])
    assert len(await kept(ledger, tmp_path, "default.2")) == KEPT_ASIDE


async def test_where_there_is_no_session_there_is_nothing_to_put_aside(
    make: Make, ledger: FilteredLedger, tmp_path: Path
) -> None:
    await make().rotate()

    assert await kept(ledger, tmp_path) == []
    assert not (tmp_path / "runtime").exists()


async def test_a_damaged_session_fails_fast_until_it_is_put_aside(
    make: Make, ledger: FilteredLedger, tmp_path: Path
) -> None:
    state = cold().state(AT)
    store = make()
    if isinstance(store, SessionFile):
        (tmp_path / "runtime").mkdir()
        store.path.write_bytes(state.body[:-1])
    else:
        async with store.saving(state, None) as beside:
            (saved,) = beside
            damaged = saved._replace(body=b'{"sessionId":1}')  # type: ignore[call-arg]
            await end(ledger, "c1", [damaged])

    with pytest.raises(SessionDamaged) as caught:
        await make().load()
    assert caught.value.code == "plan.fail_fast.session_damaged"
    await make().rotate()
    assert await make().load() is None
    assert len(await kept(ledger, tmp_path)) == 1
