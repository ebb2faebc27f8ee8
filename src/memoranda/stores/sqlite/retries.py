"""Idempotency keys in SQLite: what an earlier call with a key came to."""

from typing import Any, Final

import apsw

from memoranda.ledger.entry import entry_hash
from memoranda.ledger.retry import check_bound, key_digest
from memoranda.ledger.unit import Committed, Place, Unit
from memoranda.stores.shorthand import ENTRY, unpacked
from memoranda.stores.sqlite.appending import Appender
from memoranda.stores.sqlite.places import place

_FIRST: Final = (
    "SELECT fingerprint, nonce, about, seq, entries FROM retries"
    " WHERE journal = ? AND key_digest = ?"
)
_SALT: Final = "SELECT salt FROM bodies WHERE place = ?"
_ENTRIES: Final = "SELECT entry FROM entries WHERE place >= ? AND place < ? ORDER BY place"
_REMEMBER: Final = """
INSERT INTO retries (journal, key_digest, fingerprint, nonce, about, seq, entries, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""


def first_outcome(connection: apsw.Connection, appender: Appender, unit: Unit) -> Committed | None:
    """What a unit with this key came to; IdempotencyConflict if it asked for something else.

    EntryDamaged where the key was led to another write.
    """
    if unit.key is None:
        return None
    journal = appender.journal
    found: Any = connection.execute(_FIRST, (journal, key_digest(unit.key.key))).fetchone()
    if found is None:
        return None
    fingerprint, nonce, about, seq, count = found
    unit.key.check_same(fingerprint)
    appender.flush()  # it may be a unit of this very commit, whose entries are still to be written
    if count:
        salt: Any = connection.execute(_SALT, (place(journal, seq),)).fetchone()
        check_bound(seq, nonce, unit.key, None if salt is None else salt[0])
    rows: list[Any] = connection.execute(
        _ENTRIES, (place(journal, seq), place(journal, seq + count))
    ).fetchall()
    places = [
        Place(seq + number, entry_hash(unpacked(entry, ENTRY)))
        for number, (entry,) in enumerate(rows)
    ]
    return Committed(places, about, fresh=False)


def remember(
    connection: apsw.Connection,
    journal: int,
    unit: Unit,
    seq: int,
    committed: Committed,
    nonce: bytes,
) -> None:
    """Note what a unit with a key came to, in the unit's own transaction."""
    if unit.key is not None:
        asked = (key_digest(unit.key.key), unit.key.fingerprint, nonce)
        came_to = (committed.about, seq, len(committed.places), unit.at)
        connection.execute(_REMEMBER, (journal, *asked, *came_to))
