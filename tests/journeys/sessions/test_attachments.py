"""What lands with the entries of a unit lands with them, or nothing does."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from memoranda.app.databases import LedgerDatabase
from memoranda.journeys.govern.table import FilteredLedger
from memoranda.journeys.turn.facts import read_recording
from memoranda.kernel.errors import (
    InvalidItem,
    MarkMoved,
    RecordExists,
    StoreError,
    StoreFailed,
)
from memoranda.kernel.given import RetryKey
from memoranda.ledger.attachments import CYCLE, Attachment, SessionSaved
from memoranda.ledger.unit import Expected, Unit
from memoranda.plans.session import Session
from tests.journeys.sessions.cycles import ACTOR, AT, cold, end, ending, item, recording
from tests.journeys.sessions.sabotage import refusing, rows

TABLES = (
    "memories", "item_keywords", "item_postings", "item_origins", "cycle_salts",
    "sessions", "recordings",
)  # fmt: skip


def left_by(session: Session, cycle: str) -> list[Attachment]:
    """All that a cycle can leave."""
    saved = SessionSaved(session.name, session.session_id, session.state(AT).body, None)
    return [item(session), saved, recording(cycle).attachment]


async def found(ledger: FilteredLedger, session: Session, cycle: str) -> list[bool]:
    """Which of these there are: the fact, the session, the recording."""
    attachments = ledger.attachments
    return [
        bool(await ledger.marked(CYCLE + cycle)),
        await attachments.session(session.name) is not None,
        await attachments.recording(cycle) is not None,
    ]


@pytest.mark.rule("ING-PERSIST")
async def test_all_that_a_cycle_leaves_lands_with_its_fact(
    ledger: FilteredLedger, database: Any, scope: str
) -> None:
    session = cold()
    committed = await end(ledger, "c1", left_by(session, "c1"))

    assert len(committed.places) == 1
    assert await found(ledger, session, "c1") == [True] * 3
    items = await database.items(scope, session.session_id)
    (kept,) = await items.search("where is my refund?", 3)
    assert kept.summary == "the refund was paid"
    assert await read_recording(ledger.attachments, "c1") == recording("c1")


@pytest.mark.rule("ING-PERSIST", "ING-FAILFAST")
@pytest.mark.parametrize("table", [*TABLES, "bodies", "entries", "marks", "retries"])
async def test_whichever_table_refuses_nothing_of_the_cycle_is_stored(
    ledger: FilteredLedger, owner_url: str, table: str
) -> None:
    before = rows(owner_url, *TABLES, "entries", "bodies", "marks", "retries")
    session = cold()
    key = RetryKey("c1", b"f" * 32)

    with refusing(owner_url, table), pytest.raises(StoreError) as caught:
        await end(ledger, "c1", left_by(session, "c1"), key=key)

    assert isinstance(caught.value, StoreFailed)
    assert await found(ledger, session, "c1") == [False] * 3
    assert rows(owner_url, *before) == before
    assert (await end(ledger, "c1", left_by(session, "c1"), key=key)).fresh


def _another_item(session: Session) -> list[Attachment]:
    return [item(session)._replace(summary="something else")]


def _no_item(session: Session) -> list[Attachment]:
    return [item(session, "not an id")]


def _another_session(session: Session) -> list[Attachment]:
    other = cold(session.name)
    return [SessionSaved(session.name, other.session_id, other.state(AT).body, None)]


def _recorded_before(_: Session) -> list[Attachment]:
    return [recording("c1", "something else").attachment]


@pytest.mark.rule("ING-PERSIST")
@pytest.mark.parametrize(
    ("bad", "error"),
    [
        (_another_item, RecordExists),
        (_no_item, InvalidItem),
        (_another_session, MarkMoved),
        (_recorded_before, RecordExists),
    ],
)
@pytest.mark.parametrize("is_first", [True, False], ids=["first", "last"])
async def test_a_unit_of_which_a_part_is_refused_lands_in_no_part(
    ledger: FilteredLedger,
    owner_url: str,
    bad: Callable[[Session], list[Attachment]],
    error: type[Exception],
    *,
    is_first: bool,
) -> None:
    session = cold()
    await end(ledger, "c1", left_by(session, "c1"))
    before = rows(owner_url, *TABLES, "entries")
    other = cold("another")
    rest = left_by(other, "c2")[1:]
    attachments = [*bad(session), *rest] if is_first else [*rest, *bad(session)]

    with pytest.raises(error):
        await end(ledger, "c2", attachments)

    assert rows(owner_url, *before) == before
    assert await found(ledger, other, "c2") == [False] * 3


async def test_a_unit_whose_expectation_does_not_hold_leaves_nothing(
    ledger: FilteredLedger,
) -> None:
    session = cold()
    unit = ending("c1", left_by(session, "c1"))._replace(expects=[Expected("a name", 7)])

    with pytest.raises(MarkMoved):
        await ledger.commit(unit)
    assert await found(ledger, session, "c1") == [False] * 3


async def test_a_unit_that_raises_while_it_decides_leaves_nothing(ledger: FilteredLedger) -> None:
    session = cold()

    def decide(_: Sequence[object]) -> list[Any]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await ledger.commit(Unit(ACTOR, AT, decide, attachments=left_by(session, "c1")))
    assert await found(ledger, session, "c1") == [False] * 3


async def test_of_many_cycles_at_once_the_one_that_is_refused_fails_alone(
    ledger: FilteredLedger, owner_url: str
) -> None:
    before = rows(owner_url, "sessions")["sessions"]
    sessions = [cold(f"s{number}") for number in range(20)]
    ids = [f"6a2f41a3-c54c-4fcb-9a6d-0e1c5f1f7a{number:02d}" for number in range(20)]

    def leaves(number: int) -> list[Attachment]:
        session = sessions[number]
        replaces = "another" if number == 7 else None
        body = session.state(AT).body
        saved = SessionSaved(session.name, session.session_id, body, replaces)
        return [item(session, ids[number]), saved, recording(f"c{number}").attachment]

    outcomes = await asyncio.gather(
        *(end(ledger, f"c{number}", leaves(number)) for number in range(20)),
        return_exceptions=True,
    )

    assert [number for number, one in enumerate(outcomes) if isinstance(one, Exception)] == [7]
    assert isinstance(outcomes[7], MarkMoved)
    assert (await ledger.head()).size == 19
    assert rows(owner_url, "sessions")["sessions"] == before + 19
    assert await ledger.attachments.recording("c7") is None


@pytest.mark.rule("ING-SESSION")
async def test_what_lands_beside_one_scope_is_seen_from_no_other(
    database: LedgerDatabase, ledger: FilteredLedger, scope: str
) -> None:
    session = cold()
    other = await database.ledger(f"{scope}-other", "another origin", 0)
    await end(ledger, "c1", left_by(session, "c1"))

    assert await found(other, session, "c1") == [False] * 3
    await other.attachments.put_aside("default", AT, 10)
    assert await found(ledger, session, "c1") == [True] * 3
    await end(other, "c1", left_by(cold(), "c1"))
    assert await read_recording(ledger.attachments, "c1") == recording("c1")
