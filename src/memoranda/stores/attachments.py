"""What landed with the entries of a journal, read back as what lands elsewhere.

Both databases have these tables and columns; each row of a table becomes one value.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from memoranda.ledger.attachments import (
    Attachment,
    CycleSalt,
    CycleValues,
    ItemOrigin,
    Left,
    NewItem,
    SessionAside,
    SessionSaved,
    StoredRecording,
    StoredRetry,
    StoredSession,
)
from memoranda.ledger.codec import BodyCodec, check_readable
from memoranda.plans.items import read_item
from memoranda.stores.items import id_of

MakesLeft = Callable[[BodyCodec, Sequence[Any]], Left]
MakesAttachment = Callable[[BodyCodec, Sequence[Any]], Attachment]


def _item(bodies: BodyCodec, row: Sequence[Any]) -> NewItem:
    id, session, body = row
    kept = read_item(_unpacked(bodies, body), id=_named(id), session_ref=session)
    return NewItem(kept.id, kept.session_ref, kept.timestamp, kept.summary, tuple(kept.keywords))


def _named(id: Any) -> str:
    """An id, whether it is stored as its bytes or is a UUID of the database."""
    return id_of(id) if isinstance(id, bytes) else str(id)


def _unpacked(bodies: BodyCodec, stored: bytes) -> bytes:
    """A body; BodyUnreadable if it can't be unpacked, also where that is only marked."""
    body = bodies.unpack(stored)
    check_readable([body])
    return body


def _session(bodies: BodyCodec, row: Sequence[Any]) -> SessionSaved:
    name, session_id, body, cycle = row
    return SessionSaved(name, session_id, _unpacked(bodies, body), None, cycle)


def _aside(bodies: BodyCodec, row: Sequence[Any]) -> SessionAside:
    name, at, body = row
    return SessionAside(name, at, _unpacked(bodies, body))


def _recording(bodies: BodyCodec, row: Sequence[Any]) -> CycleValues:
    cycle, body = row
    return CycleValues(cycle, _unpacked(bodies, body))


def _salt(_: BodyCodec, row: Sequence[Any]) -> CycleSalt:
    return CycleSalt(*row)


def _origin(_: BodyCodec, row: Sequence[Any]) -> ItemOrigin:
    session, id, cycle, terms = row
    return ItemOrigin(session, _named(id), cycle, terms)


def _left_session(bodies: BodyCodec, row: Sequence[Any]) -> Left:
    name, session_id, body, cycle, salt = row
    return StoredSession(name, session_id, bodies.unpack(body), cycle, salt)


def _left_recording(bodies: BodyCodec, row: Sequence[Any]) -> Left:
    cycle, body, salt = row
    return StoredRecording(cycle, bodies.unpack(body), salt)


def _left_retry(_: BodyCodec, row: Sequence[Any]) -> Left:
    return StoredRetry(*row)


_WITH_SALT: Final = (
    " t LEFT JOIN {schema}cycle_salts s ON s.journal = t.journal AND s.cycle = t.cycle"
    " WHERE t.journal = {journal}"
)
_RETRIES: Final = (
    "SELECT about, seq, entries, at, key_digest, fingerprint, nonce FROM {schema}retries"
    " WHERE journal = {journal}"
)
_LEFT: Final[tuple[tuple[str, MakesLeft], ...]] = (
    (
        "SELECT t.name, t.session_id, t.body, t.cycle, s.salt FROM {schema}sessions" + _WITH_SALT,  # noqa: S608 - ours
        _left_session,
    ),
    ("SELECT t.cycle, t.body, s.salt FROM {schema}recordings" + _WITH_SALT, _left_recording),  # noqa: S608 - ours
    (_RETRIES, _left_retry),
)


def left(schema: str, journal: str) -> dict[str, MakesLeft]:
    """What is attached to a journal, for a verification: statements, and what rows become.

    `schema` stands before the names of tables, `journal` for the one parameter.
    """
    return {sql.format(schema=schema, journal=journal): make for sql, make in _LEFT}


_CARRIED: Final[tuple[tuple[str, str, str, MakesAttachment], ...]] = (
    ("memories", "id, session, body", "session, id", _item),
    ("sessions", "name, session_id, body, cycle", "name", _session),
    ("sessions_aside", "name, at, body", "name, number", _aside),
    ("recordings", "cycle, body", "cycle", _recording),
    ("cycle_salts", "cycle, salt", "cycle", _salt),
    ("item_origins", "session, id, cycle, terms", "session, id", _origin),
)


def carried(schema: str, journal: str) -> dict[str, MakesAttachment]:
    """What is carried into another database: statements as for `left`, and what rows become."""
    return {
        f"SELECT {columns} FROM {schema}{table} WHERE journal = {journal} ORDER BY {order}": make  # noqa: S608 - ours
        for table, columns, order, make in _CARRIED
    }
