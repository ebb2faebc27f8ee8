"""Idempotency keys in SQLite that go with what is erased.

A row has a digest of the whole request, which can be guessed by whoever knows the rest of it. So it
goes as soon as anything is erased that the request wrote; where it wrote nothing, with the object
that it is about. The requests of a journal wrote intervals of entries that don't overlap: the
newest that begins at an entry or before it is the only one that may have written it.
"""

from collections.abc import Sequence
from typing import Any, Final

import apsw
import orjson

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
_COUNT: Final = "SELECT count(*) FROM retries WHERE journal = ?"
_FORGET_ALL: Final = "DELETE FROM retries WHERE journal = ?"


def retries_of_object(connection: apsw.Connection, journal: int, id: str) -> set[bytes]:
    """The keys that go with an object: of what wrote one of its versions, or found nothing."""
    seqs: Any = connection.execute(_VERSIONS, (journal, id))
    return _going(connection, journal, [seq for (seq,) in seqs], id)


def retries_of_entries(
    connection: apsw.Connection, journal: int, seqs: Sequence[int]
) -> set[bytes]:
    """The keys that go with these entries."""
    return _going(connection, journal, seqs, None)


def forget_retries(connection: apsw.Connection, journal: int, keys: set[bytes]) -> None:
    """Remove what calls with these keys came to."""
    for key in keys:
        connection.execute(_FORGET, (journal, key))


def count_retries(connection: apsw.Connection, journal: int) -> int:
    """How many keys a journal has."""
    found: Any = connection.execute(_COUNT, (journal,)).fetchone()
    return int(found[0])


def forget_all_retries(connection: apsw.Connection, journal: int) -> None:
    """Remove every key of a journal."""
    connection.execute(_FORGET_ALL, (journal,))


def _going(
    connection: apsw.Connection, journal: int, seqs: Sequence[int], about: str | None
) -> set[bytes]:
    entries = orjson.dumps(seqs).decode()  # noqa: TID251 - a parameter
    rows: Any = connection.execute(_GOING, (journal, entries, about))
    return {key for (key,) in rows}
