"""What landed beside the entries of a journal, read back as what lands elsewhere.

Both databases have these tables and columns; each row of a table becomes one value.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from recollect.ledger.beside import (
    Beside,
    CycleSalt,
    ItemOrigin,
    NewItem,
    Recorded,
    SessionAside,
    SessionFilePending,
    SessionSaved,
)
from recollect.ledger.codec import BodyCodec, check_readable
from recollect.plans.items import read_item
from recollect.stores.item_ids import id_of


class Carried(NamedTuple):
    """A table: its columns, their order, and what a row of it becomes."""

    table: str
    columns: str
    order: str
    make: Callable[[BodyCodec, Sequence[Any]], Beside]


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
    name, session_id, body = row
    return SessionSaved(name, session_id, _unpacked(bodies, body), None)


def _aside(bodies: BodyCodec, row: Sequence[Any]) -> SessionAside:
    name, at, body = row
    return SessionAside(name, at, _unpacked(bodies, body))


def _file(_: BodyCodec, row: Sequence[Any]) -> SessionFilePending:
    return SessionFilePending(*row)


def _recording(bodies: BodyCodec, row: Sequence[Any]) -> Recorded:
    cycle, body = row
    return Recorded(cycle, _unpacked(bodies, body))


def _salt(_: BodyCodec, row: Sequence[Any]) -> CycleSalt:
    return CycleSalt(*row)


def _origin(_: BodyCodec, row: Sequence[Any]) -> ItemOrigin:
    session, id, cycle = row
    return ItemOrigin(session, _named(id), cycle)


CARRIED: Final = (
    Carried("items", "id, session, body", "session, id", _item),
    Carried("sessions", "name, session_id, body", "name", _session),
    Carried("sessions_aside", "name, at, body", "name, number", _aside),
    Carried("session_files", "file, token", "file", _file),
    Carried("recordings", "cycle, body", "cycle", _recording),
    Carried("cycle_salts", "cycle, salt", "cycle", _salt),
    Carried("item_origins", "session, id, cycle", "session, id", _origin),
)
