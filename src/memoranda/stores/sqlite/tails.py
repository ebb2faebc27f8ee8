"""What the entries of a stretch change in the index of a SQLite journal (`stores.tail`)."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import apsw

from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.stores.shorthand import first_bytes
from memoranda.stores.sqlite.connection import SEQ_BITS, place
from memoranda.stores.sqlite.words import BODY_AT, INDEXED_VERSION
from memoranda.stores.tail import NOTHING, Tail, newest, replacing
from memoranda.stores.words import LARGE, Known, WordCache, Words

# Only those of entries about objects: of the rest there are many, traces above all, and no words.
_OBJECTS: Final = ", ".join(f"x'{data.hex()}'" for data in first_bytes(OBJECT_KINDS))
# A large body is read when its words are not known.
BODIES: Final = (
    f"SELECT b.place, iif(length(b.body) > {LARGE}, NULL, b.body), b.salt"  # noqa: S608 - ours
    " FROM entries e CROSS JOIN bodies b ON b.place = e.place"
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
    found = newest(words_at(connection, bodies.fetchall(), words))
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


def words_at(
    connection: apsw.Connection, rows: Iterable[tuple[int, bytes | None, bytes]], words: WordCache
) -> Iterator[tuple[int, Words | None]]:
    """The words of the rows of `BODIES`, each with the number of its entry."""
    for where, body, salt in rows:
        known = words.known(salt) if body is None else None
        if known is None:
            known = Known(words.of(body or _large(connection, where), salt))
        yield where & _SEQ, known.words


def _large(connection: apsw.Connection, where: int) -> bytes:
    found: Any = connection.execute(BODY_AT, (where,)).fetchone()
    body: bytes = found[0]
    return body
