"""Sessions and recordings in SQLite: rows attached to a journal, which know nothing of items."""

from functools import partial
from typing import Any, Final, TypeVar

import apsw

from memoranda.kernel.errors import MarkMoved, RecordExists
from memoranda.ledger.attachments import (
    SESSION,
    CycleValues,
    KeptSession,
    SessionAside,
    SessionSaved,
)
from memoranda.ledger.codec import BodyCodec
from memoranda.stores.sqlite.reader import OpenDatabase

R = TypeVar("R")

_SESSION_ID: Final = "SELECT session_id FROM sessions WHERE journal = ? AND name = ?"
_SAVE_SESSION: Final = """
INSERT INTO sessions (journal, name, session_id, body, cycle) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (journal, name) DO UPDATE
SET session_id = excluded.session_id, body = excluded.body, cycle = excluded.cycle
"""
_IS_RECORDED: Final = "SELECT 1 FROM recordings WHERE journal = ? AND cycle = ?"
_RECORD: Final = "INSERT INTO recordings (journal, cycle, body) VALUES (?, ?, ?)"

_SAVED_BY: Final = "SELECT cycle, '' FROM sessions WHERE journal = ? AND name = ?"
_SESSION: Final = "SELECT body FROM sessions WHERE journal = ? AND name = ?"
_PUT_ASIDE: Final = """
INSERT INTO sessions_aside (journal, name, number, at, body)
SELECT s.journal, s.name, 1 + coalesce((
  SELECT max(a.number) FROM sessions_aside a WHERE a.journal = s.journal AND a.name = s.name
), 0), ?, s.body FROM sessions s WHERE s.journal = ? AND s.name = ?
"""
_KEEP_ASIDE: Final = """
INSERT INTO sessions_aside (journal, name, number, at, body)
SELECT ?1, ?2, 1 + coalesce(max(number), 0), ?3, ?4 FROM sessions_aside
WHERE journal = ?1 AND name = ?2
"""
_FORGET_SESSION: Final = "DELETE FROM sessions WHERE journal = ? AND name = ?"
_FORGET_OLDEST: Final = """
DELETE FROM sessions_aside WHERE journal = ?1 AND name = ?2 AND number <= (
  SELECT max(number) FROM sessions_aside WHERE journal = ?1 AND name = ?2
) - ?3
"""
_ASIDE: Final = """
SELECT at, body FROM sessions_aside WHERE journal = ? AND name = ? ORDER BY number DESC
"""
_RECORDING: Final = "SELECT body FROM recordings WHERE journal = ? AND cycle = ?"

_COUNT: Final = """
SELECT (SELECT count(*) FROM sessions WHERE journal = ?1)
  + (SELECT count(*) FROM sessions_aside WHERE journal = ?1),
  (SELECT count(*) FROM recordings WHERE journal = ?1)
"""
_FORGET_ALL: Final = (
    "DELETE FROM sessions WHERE journal = ?",
    "DELETE FROM sessions_aside WHERE journal = ?",
    "DELETE FROM recordings WHERE journal = ?",
)


def save_session(
    connection: apsw.Connection, journal: int, saved: SessionSaved, bodies: BodyCodec
) -> None:
    """Write a session in a transaction; MarkMoved if another one than expected stands there."""
    found: Any = connection.execute(_SESSION_ID, (journal, saved.name)).fetchone()
    if (found and found[0]) not in (saved.replaces, saved.session_id):
        raise MarkMoved(SESSION + saved.name)
    row = (journal, saved.name, saved.session_id, bodies.pack(saved.body, None), saved.cycle)
    connection.execute(_SAVE_SESSION, row)


def keep_aside(
    connection: apsw.Connection, journal: int, aside: SessionAside, bodies: BodyCodec
) -> None:
    """Keep a session that was put aside elsewhere, in a transaction."""
    name, at, body = aside
    connection.execute(_KEEP_ASIDE, (journal, name, at, bodies.pack(body, None)))


def record(
    connection: apsw.Connection, journal: int, recorded: CycleValues, bodies: BodyCodec
) -> None:
    """Keep a recording, in a transaction; RecordExists if the cycle has one."""
    if connection.execute(_IS_RECORDED, (journal, recorded.cycle)).fetchall():
        raise RecordExists(recorded.cycle)
    row = (journal, recorded.cycle, bodies.pack(recorded.body, None))
    connection.execute(_RECORD, row)


def count_sessions(connection: apsw.Connection, journal: int) -> tuple[int, int]:
    """How many sessions a journal has, those put aside too, and how many recordings."""
    counted: Any = connection.execute(_COUNT, (journal,)).fetchone()
    return counted[0], counted[1]


def forget_sessions(connection: apsw.Connection, journal: int) -> None:
    """Remove every session and every recording of a journal, in a transaction."""
    for statement in _FORGET_ALL:
        connection.execute(statement, (journal,))


# ---------------------------------------------------------------------------- reading


class SqliteAttachments:
    """What landed with the entries of one journal."""

    def __init__(self, database: OpenDatabase, journal: int) -> None:
        self._database = database
        self._journal = journal

    async def session(self, name: str) -> bytes | None:
        return await self._body(_SESSION, name)

    async def saved_by(self, name: str) -> str | None:
        """The cycle that saved the session of a name; None if there is none of this name."""
        found = await self._database.rows(_SAVED_BY, (self._journal, name), _first)
        return found[0] if found else None

    async def put_aside(self, name: str, at: int, keep: int) -> None:
        """Put the session of a name aside, in one transaction; the oldest beyond `keep` go."""
        await self._database.write(partial(_put_aside, self._journal, name, at, keep))

    async def kept_sessions(self, name: str) -> list[KeptSession]:
        unpack = self._database.bodies.unpack
        return await self._database.rows(
            _ASIDE, (self._journal, name), lambda row: KeptSession(row[0], unpack(row[1]))
        )

    async def recording(self, cycle: str) -> bytes | None:
        return await self._body(_RECORDING, cycle)

    async def _body(self, sql: str, key: str) -> bytes | None:
        found = await self._database.rows(sql, (self._journal, key), _first)
        return self._database.bodies.unpack(found[0]) if found else None


def _put_aside(journal: int, name: str, at: int, keep: int, connection: apsw.Connection) -> None:
    connection.execute(_PUT_ASIDE, (at, journal, name))
    connection.execute(_FORGET_SESSION, (journal, name))
    connection.execute(_FORGET_OLDEST, (journal, name, keep))


def _first(row: Any) -> Any:
    return row[0]
