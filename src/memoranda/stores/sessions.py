"""Sessions and recordings: rows attached to a journal, which know nothing of items."""

from operator import itemgetter
from typing import Final

from memoranda.kernel.errors import MarkMoved, RecordExists
from memoranda.ledger.attachments import (
    SESSION,
    CycleValues,
    KeptSession,
    NamedSession,
    SessionAside,
    SessionSaved,
)
from memoranda.ledger.codec import BodyCodec
from memoranda.stores.statements import JournalRows, Procedure, Statement, ask, shared

# Nothing is written if neither the session itself nor what it replaces stands there.
_SAVE_SESSION: Final = shared("""
INSERT INTO {sessions} AS s (journal, name, session_id, body, cycle)
SELECT :journal, :name, :session_id, :body, :cycle
WHERE CAST(:replaces AS text) IS NULL
  OR EXISTS (SELECT 1 FROM {sessions} o WHERE o.journal = :journal AND o.name = :name)
ON CONFLICT (journal, name) DO UPDATE
SET session_id = excluded.session_id, body = excluded.body, cycle = excluded.cycle
WHERE s.session_id IN (excluded.session_id, CAST(:replaces AS text))
RETURNING 1
""")
_KEEP_ASIDE: Final = shared("""
INSERT INTO {sessions_aside} (journal, name, number, at, body)
SELECT :journal, :name, 1 + coalesce(max(a.number), 0), :at, :body FROM {sessions_aside} a
WHERE a.journal = :journal AND a.name = :name
""")
_RECORD: Final = shared("""
INSERT INTO {recordings} (journal, cycle, body) VALUES (:journal, :cycle, :body)
ON CONFLICT DO NOTHING RETURNING 1
""")


def save_session(saved: SessionSaved, bodies: BodyCodec) -> Procedure[None]:
    """Write a session; MarkMoved if another one than expected stands there."""
    values = saved._asdict() | {"body": bodies.pack(saved.body, None)}
    if not (yield ask(_SAVE_SESSION, **values)):
        raise MarkMoved(SESSION + saved.name)


def keep_aside(aside: SessionAside, bodies: BodyCodec) -> Procedure[None]:
    """Keep a session that was put aside elsewhere."""
    name, at, body = aside
    yield ask(_KEEP_ASIDE, name=name, at=at, body=bodies.pack(body, None))


def record(recorded: CycleValues, bodies: BodyCodec) -> Procedure[None]:
    """Keep a recording; RecordExists if the cycle has one."""
    cycle, body = recorded
    if not (yield ask(_RECORD, cycle=cycle, body=bodies.pack(body, None))):
        raise RecordExists(cycle)


_SESSION: Final = Statement(
    "SELECT body FROM sessions WHERE journal = :journal AND name = :name",
    "SELECT memoranda.session_of(:journal, :origin, :name)",
)
_SESSIONS: Final = Statement(
    "SELECT name, body, cycle FROM sessions WHERE journal = :journal AND name > :after"
    " ORDER BY name LIMIT :limit",
    "SELECT name, body, cycle FROM memoranda.sessions_after(:journal, :origin, :after, :limit)",
)
_SAVED_BY: Final = Statement(
    "SELECT cycle FROM sessions WHERE journal = :journal AND name = :name",
    "SELECT memoranda.session_saved_by(:journal, :origin, :name)",
)
_PUT_ASIDE: Final = Statement(
    """
    INSERT INTO sessions_aside (journal, name, number, at, body)
    SELECT s.journal, s.name, 1 + coalesce((
      SELECT max(a.number) FROM sessions_aside a WHERE a.journal = s.journal AND a.name = s.name
    ), 0), :at, s.body FROM sessions s WHERE s.journal = :journal AND s.name = :name
    """,
    "SELECT memoranda.put_session_aside(:journal, :origin, :name, :at, :keep)",
)
_FORGET_SESSION: Final = Statement(
    "DELETE FROM sessions WHERE journal = :journal AND name = :name", ""
)
_FORGET_OLDEST: Final = Statement(
    """
    DELETE FROM sessions_aside WHERE journal = :journal AND name = :name AND number <= (
      SELECT max(number) FROM sessions_aside WHERE journal = :journal AND name = :name
    ) - :keep
    """,
    "",
)
_ASIDE: Final = Statement(
    "SELECT at, body FROM sessions_aside WHERE journal = :journal AND name = :name"
    " ORDER BY number DESC",
    "SELECT at, body FROM memoranda.sessions_put_aside(:journal, :origin, :name)",
)
_RECORDING: Final = Statement(
    "SELECT body FROM recordings WHERE journal = :journal AND cycle = :name",
    "SELECT memoranda.recording_of(:journal, :origin, :name)",
)


class StoredAttachments:
    """What landed with the entries of one journal (`AttachmentRows`)."""

    def __init__(self, journal: JournalRows) -> None:
        self._journal = journal

    async def session(self, name: str) -> bytes | None:
        return await self._body(_SESSION, name)

    async def sessions(self, after: str, limit: int) -> list[NamedSession]:
        unpack = self._journal.bodies.unpack
        return await self._journal.rows(
            lambda row: NamedSession(row[0], unpack(row[1]), row[2]),
            _SESSIONS,
            after=after,
            limit=limit,
        )

    async def saved_by(self, name: str) -> str | None:
        found = await self._journal.rows(_first, _SAVED_BY, name=name)
        return found[0] if found else None

    async def put_aside(self, name: str, at: int, keep: int) -> None:
        def put() -> Procedure[None]:
            for statement in (_PUT_ASIDE, _FORGET_SESSION, _FORGET_OLDEST):
                yield ask(statement, name=name, at=at, keep=keep)

        await self._journal.change(put)

    async def kept_sessions(self, name: str) -> list[KeptSession]:
        unpack = self._journal.bodies.unpack
        return await self._journal.rows(
            lambda row: KeptSession(row[0], unpack(row[1])), _ASIDE, name=name
        )

    async def recording(self, cycle: str) -> bytes | None:
        return await self._body(_RECORDING, cycle)

    async def _body(self, statement: Statement, name: str) -> bytes | None:
        found = await self._journal.rows(_first, statement, name=name)
        return self._journal.bodies.unpack(found[0]) if found else None


_first: Final = itemgetter(0)
