"""What the entries of a stretch change in the index of a SQLite journal (`stores.tail`)."""

from typing import Any, Final

import apsw

from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.stores.shorthand import first_bytes
from memoranda.stores.sqlite.places import SEQ_BITS, place
from memoranda.stores.sqlite.words import BODY_AT, INDEXED_VERSION
from memoranda.stores.tail import NOTHING, Tail, newest, replacing
from memoranda.stores.words import WordCache, Words

# Only those of entries about objects: of the rest there are many, traces above all, and no words.
_OBJECTS: Final = ", ".join(f"x'{one.hex()}'" for one in first_bytes(OBJECT_KINDS))
BODIES: Final = (
    "SELECT b.place, b.body FROM entries e CROSS JOIN bodies b ON b.place = e.place"  # noqa: S608 - ours
    f" WHERE e.place >= ? AND e.place < ? AND substr(e.entry, 1, 1) IN ({_OBJECTS})"
    " ORDER BY e.place"
)
_SEQ: Final = (1 << SEQ_BITS) - 1


def changes(
    connection: apsw.Connection, journal: int, indexed: int, end: int, words: WordCache
) -> Tail:
    """What comes and goes with the entries from `indexed` up to `end`."""
    if end <= indexed:
        return NOTHING
    bodies: Any = connection.execute(BODIES, (place(journal, indexed), place(journal, end)))
    found = newest((where & _SEQ, words.of(body)) for where, body in bodies.fetchall())
    before: dict[str, tuple[int, Words]] = {}
    for id in replacing(found):
        version: Any = connection.execute(INDEXED_VERSION, (journal, id, indexed)).fetchone()
        if version is None or version[1] != "active":
            continue
        body: Any = connection.execute(BODY_AT, (place(journal, version[0]),)).fetchone()
        own = words.of(body[0]) if body is not None else None
        if own is not None:
            before[id] = (version[0], own)
    return Tail.of(found, before)
