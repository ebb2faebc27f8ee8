"""Storing long bodies of executions in fewer bytes: snapshots that are kept whole, mostly.

A body is never changed, so its row is written anew in the same transaction, with the same salt and
the same body in another form (`stores.shorthand`). Nothing else of it is touched: it reads as
before, byte for byte, and whoever reads it compares it with the digest in its entry as ever.
"""

from typing import Any, Final

import apsw

from memoranda.ledger.port import Compacted
from memoranda.stores.shorthand import InShorthand, first_bytes
from memoranda.stores.sqlite.connection import SEQ, place

LONG: Final = 1_024
"""Shorter bodies stay as they are."""
PORTION: Final = 64
"""Bodies that are looked at in one transaction: a few milliseconds."""

_SOME: Final = """
SELECT b.place, b.salt, b.body FROM bodies b JOIN entries e ON e.place = b.place
WHERE b.place >= ? AND b.place < ? AND length(b.body) > ? AND substr(e.entry, 1, 1) = ?
ORDER BY b.place LIMIT ?
"""
_OUT: Final = "DELETE FROM bodies WHERE place = ?"
_IN: Final = "INSERT INTO bodies (place, salt, body) VALUES (?, ?, ?)"
_EXECUTION: Final = first_bytes(["execution"])[0]


def compact(
    connection: apsw.Connection, journal: int, after: int, bodies: InShorthand, *, dry_run: bool
) -> Compacted:
    """Go on from an entry, inside a transaction."""
    start, end = place(journal, after + 1), place(journal + 1, 0)
    asked = (start, end, LONG, _EXECUTION, PORTION)
    found: Any = connection.execute(_SOME, asked).fetchall()
    count = saved = 0
    for where, salt, stored in found:
        shorter = bodies.compacted(stored)
        if shorter is None:
            continue
        count, saved = count + 1, saved + len(stored) - len(shorter)
        if not dry_run:
            connection.execute(_OUT, (where,))
            connection.execute(_IN, (where, salt, shorter))
    upto = found[-1][0] & SEQ if found else after
    return Compacted(count, saved, upto, is_all=len(found) < PORTION)
