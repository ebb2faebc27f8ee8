"""Recordings: kept when asked for, reached by nothing else, gone when they are erased."""

import ast
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

import memoranda
from memoranda import Memory
from memoranda.app.databases import file_of
from memoranda.journeys.turn.facts import read_recording
from memoranda.kernel.errors import BodyUnreadable, NotRecorded, RecordExists
from memoranda.ledger.attachments import CycleValues, SessionSaved
from memoranda.ledger.snapshot import ENTRIES
from memoranda.ledger.unit import Unit
from memoranda.testkit.strategies import FrozenClock
from tests.handles import inside, opened
from tests.journeys.sessions.cycles import ACTOR, AT, cold, end, item, recording
from tests.journeys.sessions.sabotage import rows

CANARY = "canary-8d1f-조용한-새"
ATTACHMENTS = (
    "memories", "item_keywords", "item_postings", "item_origins", "cycle_salts",
    "sessions", "sessions_aside", "recordings",
)  # fmt: skip
SOURCE = Path(memoranda.__file__).parent


@pytest.fixture
async def memory(url: str, scope: str) -> AsyncIterator[Memory[Any]]:
    async with opened(url, scope=scope, clock=FrozenClock(AT)) as memory:
        yield memory


async def take_turns(memory: Memory[Any], said: str = CANARY, count: int = 3) -> None:
    """Some turns of a session, recorded, then put aside; and a recording that no fact names."""
    ledger, before = inside(memory).table.ledger, None
    session = cold()
    for number in range(count):
        saved = SessionSaved("default", session.session_id, session.state(AT).body, before)
        kept = item(session, f"6a2f41a3-c54c-4fcb-9a6d-0e1c5f1f7a{number:02d}")
        kept = kept._replace(summary=f"{said} {number}", keywords=(said,))
        await end(ledger, f"c{number}", [kept, saved, recording(f"c{number}", said).attachment])
        before = session.session_id
    await ledger.attachments.put_aside("default", AT, 10)
    await ledger.commit(
        Unit(ACTOR, AT, lambda _: [], attachments=[recording("lone", said).attachment])
    )


async def test_a_cycle_that_was_not_recorded_says_so(memory: Memory[Any]) -> None:
    await end(inside(memory).table.ledger, "c1", [])

    with pytest.raises(NotRecorded) as caught:
        await read_recording(inside(memory).table.ledger.attachments, "c1")
    assert caught.value.code == "plan.not_recorded"


async def test_a_recording_comes_back_as_it_was(memory: Memory[Any]) -> None:
    whole = recording("c1", f"{CANARY} \U0001f600 e\u0301")
    await end(inside(memory).table.ledger, "c1", [whole.attachment])

    again = await read_recording(inside(memory).table.ledger.attachments, "c1")
    assert again == whole
    assert again.outputs["answer"] == whole.steps[0].output


async def test_a_cycle_is_recorded_once(memory: Memory[Any]) -> None:
    ledger = inside(memory).table.ledger
    await end(ledger, "c1", [recording("c1").attachment])

    with pytest.raises(RecordExists):
        await end(ledger, "c2", [recording("c1", "something else").attachment])
    assert await read_recording(ledger.attachments, "c1") == recording("c1")


@pytest.mark.parametrize("body", [b"{}", b"not json", b'{"version":2}'])
async def test_what_is_no_recording_is_not_read_as_one(memory: Memory[Any], body: bytes) -> None:
    await end(inside(memory).table.ledger, "c1", [CycleValues("c1", body)])

    with pytest.raises(BodyUnreadable):
        await read_recording(inside(memory).table.ledger.attachments, "c1")


async def test_nothing_finds_what_is_only_in_a_recording(memory: Memory[Any]) -> None:
    ledger = inside(memory).table.ledger
    await end(ledger, "c1", [recording("c1", CANARY).attachment])

    assert await memory.list(text=CANARY) == []
    async with ledger.snapshot() as snapshot:
        async for entries in snapshot.rows(ENTRIES):
            assert not any(CANARY.encode() in (one.body or b"") for one in entries)


def test_no_step_no_item_store_and_no_search_reaches_a_recording() -> None:
    for path in SOURCE.rglob("*.py"):
        module = ".".join(("memoranda", *path.relative_to(SOURCE).with_suffix("").parts))
        if not module.startswith(("memoranda.plans", "memoranda.recall")):
            continue
        imported = {
            name.name if isinstance(node, ast.Import) else f"{node.module}.{name.name}"
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for name in node.names
        }
        assert "memoranda.ledger.attachments.CycleValues" not in imported, module
        assert ".recording(" not in path.read_text("utf-8"), module


# ---------------------------------------------------------------------------- erasing


async def test_erasing_a_whole_scope_takes_all_that_landed_beside_its_entries(
    memory: Memory[Any], owner_url: str
) -> None:
    before = rows(owner_url, *ATTACHMENTS)
    await take_turns(memory)

    dry = await memory.erase(whole_scope=True, reason="asked", dry_run=True)
    assert rows(owner_url, *ATTACHMENTS)["recordings"] == before["recordings"] + 4
    done = await memory.erase(whole_scope=True, reason="asked")

    assert rows(owner_url, *ATTACHMENTS) == before
    assert done.counts == dry.counts
    counts = done.counts
    assert (counts.cycles, counts.recordings, counts.sessions, counts.items) == (3, 4, 1, 3)
    assert await memory.erase(whole_scope=True, reason="again") == done
    with pytest.raises(NotRecorded):
        await read_recording(inside(memory).table.ledger.attachments, "c1")
    assert (await memory.verify()).is_sound


async def test_erasing_a_cycle_takes_its_recording_and_no_other(memory: Memory[Any]) -> None:
    await take_turns(memory)

    dry = await memory.erase("c1", reason="asked", dry_run=True)
    done = await memory.erase("c1", reason="asked")

    assert done.counts == dry.counts
    assert (done.counts.cycles, done.counts.recordings, done.counts.items) == (1, 1, 1)
    attachments = inside(memory).table.ledger.attachments
    assert await attachments.recording("c1") is None
    assert await read_recording(attachments, "c2") == recording("c2", CANARY)
    (damage,) = (await memory.verify()).report.damages.found
    assert (damage.check, "'lone'" in damage.why) == ("recording", True)


async def test_what_was_erased_is_in_no_byte_of_the_database(
    memory: Memory[Any], url: str, owner_url: str, scope: str
) -> None:
    canary = f"{CANARY} of {scope}"
    await take_turns(memory, canary)
    assert _is_in(url, owner_url, canary)

    await memory.erase(whole_scope=True, reason="asked")

    assert not _is_in(url, owner_url, canary)


async def test_erasing_a_scope_leaves_what_landed_beside_others(
    memory: Memory[Any], url: str, scope: str
) -> None:
    await take_turns(memory)
    async with opened(url, scope=f"{scope}-other", clock=FrozenClock(AT)) as other:
        await take_turns(other)
        await other.erase(whole_scope=True, reason="asked")
        assert await inside(other).table.ledger.attachments.recording("c1") is None

    assert await read_recording(inside(memory).table.ledger.attachments, "c1") == recording(
        "c1", CANARY
    )


def _is_in(url: str, owner_url: str, text: str) -> bool:
    """Whether a text is in the files of SQLite, or in what PostgreSQL shows of any table."""
    path = file_of(url)
    if path is not None:
        apsw.Connection(path).close()
        files = Path(path).parent.glob(f"{Path(path).name}*")
        return any(text.encode() in file.read_bytes() for file in files)
    with psycopg.connect(owner_url) as server:
        for table in ATTACHMENTS:
            found = server.execute(f"SELECT t.* FROM memoranda.{table} t".encode())  # noqa: S608
            if any(text.encode() in _bytes(value) for row in found for value in row):
                return True
    return False


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()
