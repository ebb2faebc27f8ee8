"""Finding objects by their words in SQLite: postings, and what is not in the index yet.

1. entries beyond the end of the index are read themselves, and judged by the definition
2. few postings: each is looked up, and they are sorted
3. many: what is active is walked, newest first, and compared with the postings of the same
   stretch of the journal, until there are enough; so a frequent word costs no more than a rare one

Whatever was found, only what is active and newest counts: the index may still have what was
replaced since.
"""

from collections.abc import Callable, Collection, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import apsw

from recollect.identity import decode
from recollect.kernel.errors import IndexStale
from recollect.ledger.codec import BodyCodec
from recollect.ledger.object import version_of
from recollect.ledger.unit import Current, Index
from recollect.stores.selection import COLUMNS
from recollect.stores.sqlite.merging import BODIES, STATE
from recollect.stores.sqlite.places import SEQ_BITS, place
from recollect.stores.sqlite.words import BODY_AT, expression
from recollect.stores.words import MERGED_ANYWAY, WordCache
from recollect.text import TOKENIZER, Query, matches

R = TypeVar("R")

FEW: Final = 512
_STRETCH: Final = 256
_WIDE: Final = 64 * _STRETCH
_SEQ: Final = (1 << SEQ_BITS) - 1

_ROW: Final = COLUMNS.replace(", b.body", "")
_PLACES: Final = "SELECT rowid FROM words WHERE words MATCH ? AND rowid >= ? AND rowid < ?"
_SOME_PLACES: Final = f"{_PLACES} LIMIT {FEW + 1}"
_VERSION: Final = (
    f"SELECT {_ROW} FROM versions v WHERE v.journal = ? AND v.id = ? AND v.number = ?"  # noqa: S608 - ours
    " AND v.seq = ? AND v.is_newest AND v.status = 'active'"
)
_NEWEST_FIRST: Final = (
    f"SELECT v.seq, {_ROW} FROM versions v"  # noqa: S608 - ours
    " WHERE v.journal = ? AND v.is_newest AND v.status = 'active'"
    " ORDER BY v.created_at DESC, v.id"
)


class Asked(NamedTuple):
    """What is looked for, and what is made of it."""

    query: Query
    every: bool
    make: Callable[[Current], Any]
    limit: int | None
    bodies: BodyCodec


def find(
    connection: apsw.Connection, journal: int, words: WordCache, asked: Asked
) -> list[Any] | None:
    """What is found, newest first; None if too much is not in the index yet."""
    state: Any = connection.execute(STATE, (journal,)).fetchone()
    indexed, size, tokenizer = state
    if Index(indexed, tokenizer).is_stale:
        raise IndexStale(tokenizer, TOKENIZER)
    if size - indexed > MERGED_ANYWAY:
        return None
    if not asked.query.words or asked.limit == 0:
        return []
    return _Search(connection, journal, indexed, words, asked).found()


class _Search:
    def __init__(
        self,
        connection: apsw.Connection,
        journal: int,
        indexed: int,
        words: WordCache,
        asked: Asked,
    ) -> None:
        self._connection = connection
        self._journal = journal
        self._query, self._every, self._make, self._limit, self._bodies = asked
        self._start, self._end = place(journal, 0), place(journal, indexed)
        self._match = expression(journal, self._query, every=self._every)
        self._tail = self._in_tail(words)  # 1.

    def found(self) -> list[Any]:
        """What is found, made into values, newest first."""
        asked = (self._match, self._start, self._end)
        rows: Any = self._connection.execute(_SOME_PLACES, asked).fetchall()
        few = len(rows) <= FEW
        candidates = self._looked_up([where for (where,) in rows]) if few else self._walked()
        made: list[Any] = []
        for candidate in candidates:
            if len(made) == self._limit:
                break
            value = self._make(candidate)
            if value is not None:
                made.append(value)
        return made

    def _in_tail(self, words: WordCache) -> set[int]:
        bodies: Any = self._connection.execute(BODIES, (self._end, place(self._journal + 1, 0)))
        found = set()
        for where, body in bodies:
            known = words.of(body)
            if known is not None and matches(self._query, known.tokens, every=self._every):
                found.add(where)
        return found

    # ---------------------------------------------------------------------------- few

    def _looked_up(self, places: Collection[int]) -> list[Current]:
        # 2.
        found = [self._at(where) for where in (*places, *self._tail)]
        current = [one for one in found if one is not None]
        return sorted(current, key=lambda one: (-one.created_at, one.id))

    def _at(self, where: int) -> Current | None:
        body = self._body(where)
        if body is None:
            return None
        document = decode(body)
        key = (self._journal, document["id"], version_of(document), where & _SEQ)
        row: Any = self._connection.execute(_VERSION, key).fetchone()
        return None if row is None else Current(*[*row, body])

    def _body(self, where: int) -> bytes | None:
        row: Any = self._connection.execute(BODY_AT, (where,)).fetchone()
        return None if row is None else self._bodies.unpack(row[0])

    # --------------------------------------------------------------------------- many

    def _walked(self) -> Iterator[Current]:
        # 3.
        everything: set[int] | None = None
        cursor: Any = self._connection.execute(_NEWEST_FIRST, (self._journal,))
        while rows := list(islice(cursor, _STRETCH)):
            places = [place(self._journal, row[0]) for row in rows]
            indexed = [where for where in places if where < self._end]
            first, last = min(indexed, default=0), max(indexed, default=0)
            if everything is None and last - first > _WIDE:
                # The journal is not in the order of creation here: stretches would be long.
                everything = self._postings(self._start, self._end)
            hits = self._postings(first, last + 1) if everything is None else everything
            for where, (_, *row) in zip(places, rows, strict=True):
                if where in hits or where in self._tail:
                    body = self._body(where)
                    if body is not None:
                        yield Current(*[*row, body])

    def _postings(self, start: int, end: int) -> set[int]:
        if start >= end:
            return set()
        rows: Any = self._connection.execute(_PLACES, (self._match, start, end))
        return {where for (where,) in rows}
