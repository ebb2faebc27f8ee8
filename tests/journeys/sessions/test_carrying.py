"""What landed with a journal goes where the journal goes, and is stored as its codec says."""

from pathlib import Path
from typing import Any

import pytest

from memoranda.app.databases import acquire, file_of, release
from memoranda.app.maintain import copy_scopes
from memoranda.journeys.turn.facts import read_recording
from memoranda.kernel.errors import BodyUnreadable, ItemDamaged, SessionDamaged
from memoranda.ledger.attachments import Attachment, NewItem, SessionSaved
from memoranda.plans.items import MemoryItem
from memoranda.plans.session import Session, SessionStore
from memoranda.stores.dictionary import DictDatabase
from memoranda.stores.sqlite.connection import connect
from memoranda.testkit.strategies import FrozenClock
from tests.handles import inside
from tests.handles import opened as handle_on
from tests.journeys.sessions.conftest import opened
from tests.journeys.sessions.cycles import AT, cold, end, item, recording
from tests.stores.toy_codec import ToyCodec


async def leave(ledger: Any, session: Session) -> None:
    """Some cycles with all that they can leave."""
    before = None
    for number in range(3):
        body = session.state(AT + number).body
        saved = SessionSaved(session.name, session.session_id, body, before)
        kept = item(session, f"6a2f41a3-c54c-4fcb-9a6d-0e1c5f1f7a{number:02d}")
        kept = kept._replace(summary=f"the refund of order {number} was paid")
        attachments: list[Attachment] = [kept, saved, recording(f"c{number}").attachment]
        await end(ledger, f"c{number}", attachments)
        before = session.session_id
        if number < 2:
            await ledger.attachments.put_aside(session.name, AT + number, 10)
            before = None


async def all_of(database: Any, scope: str, session: Session) -> list[Any]:
    """All that there is beside the journal of a scope, as it is read."""
    ledger = await database.ledger(scope, "another", 0)
    items = await database.items(scope, session.session_id)
    return [
        await items.search("what about my refund?", 10),
        await ledger.attachments.session(session.name),
        await ledger.attachments.kept_sessions(session.name),
        [await read_recording(ledger.attachments, f"c{number}") for number in range(3)],
    ]


async def left(url: str, scope: str, session: Session) -> list[Any]:
    """What there is after such cycles in a scope that is new."""
    async with handle_on(url, scope=scope, clock=FrozenClock(AT)) as memory:
        await leave(inside(memory).table.ledger, session)
    async with opened(url) as database:
        return await all_of(database, scope, session)


async def test_a_copy_of_a_scope_has_all_that_landed_beside_it(
    url: str, scope: str, tmp_path: Path
) -> None:
    session = cold()
    before = await left(url, scope, session)

    other = f"sqlite:///{tmp_path}/other.db"
    await copy_scopes(url, other, scopes=[scope])

    async with opened(other) as database:
        assert await all_of(database, scope, session) == before
    items, stored, aside, recordings = before
    assert len(items) == len(recordings) == 3
    assert stored == session.state(AT + 2).body
    assert [one.at for one in aside] == [AT + 1, AT]


@pytest.mark.backend("postgres")
async def test_a_scope_travels_into_postgres_too(
    shared_postgres: Any, scope: str, tmp_path: Path
) -> None:
    session, source = cold(), f"sqlite:///{tmp_path}/source.db"
    before = await left(source, scope, session)

    await copy_scopes(source, shared_postgres.app, scopes=[scope])

    async with opened(shared_postgres.app) as database:
        assert await all_of(database, scope, session) == before


async def test_an_item_that_is_damaged_is_not_copied_in_silence(tmp_path: Path) -> None:
    source, session = f"sqlite:///{tmp_path}/source.db", cold()
    await left(source, "one", session)
    connection = connect(str(file_of(source)))
    connection.execute("UPDATE memories SET body = CAST('{}' AS BLOB)")
    connection.close()

    with pytest.raises(ItemDamaged):
        await copy_scopes(source, f"sqlite:///{tmp_path}/other.db", scopes=["one"])
    async with opened(f"sqlite:///{tmp_path}/other.db") as database:
        assert await database.scopes() == []


async def test_sessions_and_recordings_are_stored_as_the_codec_says(url: str, scope: str) -> None:
    codec, session = ToyCodec(), cold()
    database, lease = await acquire(url, FrozenClock(), bodies=codec)
    assert not isinstance(database, DictDatabase)
    try:
        ledger: Any = await database.ledger(scope, f"origin of {scope}", 0)
        await leave(ledger, session)
        store = SessionStore(ledger.attachments, FrozenClock())
        assert await store.load() == session.state(AT + 2)
        assert await read_recording(ledger.attachments, "c1") == recording("c1")

        codec.keys.clear()
        with pytest.raises(SessionDamaged):
            await store.load()
        with pytest.raises(BodyUnreadable):
            await read_recording(ledger.attachments, "c1")
    finally:
        await release(lease)


def test_an_item_beside_a_unit_has_the_fields_of_an_item() -> None:
    assert set(NewItem._fields) == set(MemoryItem.model_fields)
