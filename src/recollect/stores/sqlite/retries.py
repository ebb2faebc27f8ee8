"""Idempotency keys in SQLite: what an earlier call with a key came to."""

from typing import Any, Final

import apsw

from recollect.ledger.entry import entry_hash
from recollect.ledger.unit import Committed, Place, Unit
from recollect.stores.shorthand import ENTRY, unpacked
from recollect.stores.sqlite.places import place

_FIRST: Final = "SELECT fingerprint, about, seq, entries FROM retries WHERE journal = ? AND key = ?"
_ENTRIES: Final = "SELECT entry FROM entries WHERE place >= ? AND place < ? ORDER BY place"
_REMEMBER: Final = """
INSERT INTO retries (journal, key, fingerprint, about, seq, entries, at)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""


def first_outcome(connection: apsw.Connection, journal: int, unit: Unit) -> Committed | None:
    """What a unit with this key came to; IdempotencyConflict if it asked for something else."""
    if unit.key is None:
        return None
    found: Any = connection.execute(_FIRST, (journal, unit.key.key)).fetchone()
    if found is None:
        return None
    fingerprint, about, seq, count = found
    unit.key.check_same(fingerprint)
    rows: list[Any] = connection.execute(
        _ENTRIES, (place(journal, seq), place(journal, seq + count))
    ).fetchall()
    places = [
        Place(seq + number, entry_hash(unpacked(entry, ENTRY)))
        for number, (entry,) in enumerate(rows)
    ]
    return Committed(places, about, fresh=False)


def remember(
    connection: apsw.Connection, journal: int, unit: Unit, seq: int, committed: Committed
) -> None:
    """Note what a unit with a key came to, in the unit's own transaction."""
    if unit.key is not None:
        key, fingerprint = unit.key
        row = (journal, key, fingerprint, committed.about, seq, len(committed.places), unit.at)
        connection.execute(_REMEMBER, row)
