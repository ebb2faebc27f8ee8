"""Sessions and recordings in PostgreSQL: rows attached to a journal, without items."""

from typing import Any, Final

from psycopg.types.numeric import Int8

from memoranda.kernel.errors import MarkMoved, RecordExists
from memoranda.ledger.attachments import (
    SESSION,
    CycleValues,
    KeptSession,
    SessionAside,
    SessionSaved,
)
from memoranda.ledger.codec import BodyCodec
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.pool import Pool

_SAVE_SESSION: Final = "SELECT memoranda.save_session(%s, %s, %s, %s, %s, %s)"
_KEEP_ASIDE: Final = """
INSERT INTO memoranda.sessions_aside (journal, name, number, at, body)
SELECT %s, %s, 1 + coalesce(max(a.number), 0), %s, %s FROM memoranda.sessions_aside a
WHERE a.journal = %s AND a.name = %s
"""
_RECORD: Final = "SELECT memoranda.record_cycle(%s, %s, %s)"
_ERASE: Final = "SELECT sessions, recordings FROM memoranda.erase_sessions(%s, %s)"

_SESSION: Final = "SELECT memoranda.session_of(%s, %s, %s)"
_SAVED_BY: Final = "SELECT memoranda.session_saved_by(%s, %s, %s)"
_PUT_ASIDE: Final = "SELECT memoranda.put_session_aside(%s, %s, %s, %s, %s)"
_ASIDE: Final = "SELECT at, body FROM memoranda.sessions_put_aside(%s, %s, %s)"
_RECORDING: Final = "SELECT memoranda.recording_of(%s, %s, %s)"


async def save_session(
    connection: Connection, journal: Int8, saved: SessionSaved, bodies: BodyCodec
) -> None:
    """Write a session in a transaction; MarkMoved if another one than expected stands there."""
    name, session_id, body, replaces, cycle = saved
    row = (journal, name, session_id, bodies.pack(body, None), replaces, cycle)
    if not await _said(connection, _SAVE_SESSION, row):
        raise MarkMoved(SESSION + name)


async def keep_aside(
    connection: Connection, journal: Int8, aside: SessionAside, bodies: BodyCodec
) -> None:
    """Keep a session that was put aside elsewhere, in a transaction."""
    name, at, body = aside
    row = (journal, name, Int8(at), bodies.pack(body, None), journal, name)
    await connection.execute(_KEEP_ASIDE, row)


async def record(
    connection: Connection, journal: Int8, recorded: CycleValues, bodies: BodyCodec
) -> None:
    """Keep a recording, in a transaction; RecordExists if the cycle has one."""
    row = (journal, recorded.cycle, bodies.pack(recorded.body, None))
    if not await _said(connection, _RECORD, row):
        raise RecordExists(recorded.cycle)


async def erase_sessions(
    connection: Connection, journal: Int8, *, is_dry_run: bool
) -> tuple[int, int]:
    """Remove every session and every recording of a journal; how many there were of each."""
    found = await connection.execute(_ERASE, (journal, is_dry_run), prepare=True, binary=True)
    ((sessions, recordings),) = await found.fetchall()
    return sessions, recordings


async def _said(connection: Connection, statement: str, values: tuple[object, ...]) -> Any:
    found = await connection.execute(statement, values, prepare=True, binary=True)
    ((said,),) = await found.fetchall()
    return said


# ---------------------------------------------------------------------------- reading


class PostgresAttachments:
    """What landed with the entries of one journal."""

    def __init__(self, calls: Pool, journal: int, origin: str, bodies: BodyCodec) -> None:
        self._calls = calls
        self._named = (Int8(journal), origin)
        self._bodies = bodies

    async def session(self, name: str) -> bytes | None:
        return await self._body(_SESSION, name)

    async def saved_by(self, name: str) -> str | None:
        """The cycle that saved the session of a name; None if there is none of this name."""
        found = await self._call(_SAVED_BY, name)
        return found[0][0] if found else None

    async def put_aside(self, name: str, at: int, keep: int) -> None:
        """Put the session of a name aside, in one transaction; the oldest beyond `keep` go."""
        await self._call(_PUT_ASIDE, name, Int8(at), Int8(keep), writes=True)

    async def kept_sessions(self, name: str) -> list[KeptSession]:
        found = await self._call(_ASIDE, name)
        return [KeptSession(at, self._bodies.unpack(body)) for at, body in found]

    async def recording(self, cycle: str) -> bytes | None:
        return await self._body(_RECORDING, cycle)

    async def _body(self, statement: str, key: str) -> bytes | None:
        found = await self._call(statement, key)
        return self._bodies.unpack(found[0][0]) if found else None

    async def _call(
        self, statement: str, *values: object, writes: bool = False
    ) -> list[tuple[Any, ...]]:
        async with self._calls.connection(writes=writes) as connection:
            named = (*self._named, *values)
            found = await connection.execute(statement, named, prepare=True, binary=True)
            return await found.fetchall()
