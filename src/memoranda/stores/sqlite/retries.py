"""Idempotency keys in SQLite: what an earlier call with a key came to, until that is erased.

A row has a digest of the whole request, which can be guessed by whoever knows the rest of it. So it
goes as soon as anything is erased that the request wrote; where it wrote nothing, with the object
that it is about. The requests of a journal wrote intervals of entries that don't overlap: the
newest that begins at an entry or before it is the only one that may have written it.
"""

from collections.abc import Sequence
from typing import Any, Final

import apsw
import orjson

from memoranda.kernel.given import RetryKey
from memoranda.ledger.entry import entry_hash
from memoranda.ledger.retry import check_bound, key_digest
from memoranda.ledger.unit import Committed, EntryPlace, Unit
from memoranda.stores.shorthand import ENTRY
from memoranda.stores.sqlite.connection import place

_FIRST: Final = (
    "SELECT fingerprint, nonce, about, seq, entries FROM retries"
    " WHERE journal = ? AND key_digest = ?"
)
_SALT: Final = "SELECT salt FROM bodies WHERE place = ?"
_ENTRIES: Final = "SELECT entry FROM entries WHERE place >= ? AND place < ? ORDER BY place"
_KEEP: Final = """
INSERT INTO retries (journal, key_digest, fingerprint, nonce, about, seq, entries, at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_GOING: Final = """
SELECT r.key_digest FROM json_each(?2) e CROSS JOIN retries r INDEXED BY retries_by_entry
  ON r.journal = ?1 AND r.entries > 0 AND r.seq + r.entries > e.value AND r.seq = (
    SELECT max(b.seq) FROM retries b
    WHERE b.journal = ?1 AND b.entries > 0 AND b.seq <= e.value)
UNION ALL
SELECT r.key_digest FROM retries r WHERE r.journal = ?1 AND r.entries = 0 AND r.about = ?3
"""
_VERSIONS: Final = "SELECT seq FROM versions WHERE journal = ? AND id = ?"
_FORGET: Final = "DELETE FROM retries WHERE journal = ? AND key_digest = ?"


def first_outcome(connection: apsw.Connection, journal: int, key: RetryKey) -> Committed | None:
    """What the call with this key came to; IdempotencyConflict if it asked for something else.

    EntryDamaged where the key was led to another write.
    """
    found: Any = connection.execute(_FIRST, (journal, key_digest(key.key))).fetchone()
    if found is None:
        return None
    fingerprint, nonce, about, seq, count = found
    key.check_same(fingerprint)
    if count:
        salt: Any = connection.execute(_SALT, (place(journal, seq),)).fetchone()
        check_bound(seq, nonce, key, None if salt is None else salt[0])
    rows: Any = connection.execute(_ENTRIES, (place(journal, seq), place(journal, seq + count)))
    places = [
        EntryPlace(number, entry_hash(ENTRY.unpack(entry)))
        for number, (entry,) in enumerate(rows, seq)
    ]
    return Committed(places, about, fresh=False)


def keep_outcome(
    connection: apsw.Connection,
    journal: int,
    unit: Unit,
    seq: int,
    committed: Committed,
    nonce: bytes,
) -> None:
    """Note what a unit with a key came to, in the unit's own transaction."""
    assert unit.key is not None  # noqa: S101 - only such units are noted
    digest, fingerprint = key_digest(unit.key.key), unit.key.fingerprint
    came_to = (committed.about, seq, len(committed.places), unit.at)
    connection.execute(_KEEP, (journal, digest, fingerprint, nonce, *came_to))


def retries_of_object(connection: apsw.Connection, journal: int, id: str) -> set[bytes]:
    """The keys that go with an object: of what wrote one of its versions, or found nothing."""
    seqs: Any = connection.execute(_VERSIONS, (journal, id))
    return _going(connection, journal, [seq for (seq,) in seqs], id)


def retries_of_entries(
    connection: apsw.Connection, journal: int, seqs: Sequence[int]
) -> set[bytes]:
    return _going(connection, journal, seqs, None)


def forget_retries(connection: apsw.Connection, journal: int, keys: set[bytes]) -> None:
    for key in keys:
        connection.execute(_FORGET, (journal, key))


def _going(
    connection: apsw.Connection, journal: int, seqs: Sequence[int], about: str | None
) -> set[bytes]:
    entries = orjson.dumps(seqs).decode()  # noqa: TID251 - a parameter
    rows: Any = connection.execute(_GOING, (journal, entries, about))
    return {key for (key,) in rows}
