"""Finding objects by their words in SQLite: postings, and what is not in the index yet.

1. entries beyond the end of the index are read themselves, and judged by the definition
2. few postings: each is looked up, and they are sorted
3. many: what is active is walked, newest first, and compared with the postings of the same
   stretch of the journal, until there are enough; so a frequent word costs no more than a rare one

Whatever was found, only what is active and newest counts: the index may still have what was
replaced since.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple, TypeVar

import apsw
import orjson

from memoranda.identity import decode
from memoranda.kernel.errors import EntryDamaged, IndexStale
from memoranda.ledger.object import version_of
from memoranda.ledger.snapshot import INDEX_FORM, Index
from memoranda.ledger.unit import Current
from memoranda.recall.postings import PostingRun, matching
from memoranda.stores.compared import Compared
from memoranda.stores.postings import POSTING_BYTES, Chunk, run_of
from memoranda.stores.selection import ROW
from memoranda.stores.sqlite.connection import SEQ, place
from memoranda.stores.sqlite.merging import STATE
from memoranda.stores.sqlite.words import BODIES, words_at
from memoranda.stores.words import MERGED_ANYWAY, WordCache
from memoranda.text import Query, matches

R = TypeVar("R")

FEW: Final = 512
_STRETCH: Final = 256
_WIDE: Final = 64 * _STRETCH

_SIZES: Final = """
SELECT t.value, sum(length(p.body))
FROM json_each(?2) t CROSS JOIN segments s CROSS JOIN postings p
WHERE s.journal = ?1 AND p.journal = ?1 AND p.segment = s.number AND p.token = t.value
GROUP BY t.value
"""
# The chunk before the first one that begins inside may reach into the stretch as well.
_CHUNKS: Final = """
SELECT p.token, p.first, p.body
FROM json_each(?2) t CROSS JOIN segments s CROSS JOIN postings p
WHERE s.journal = ?1 AND s.first < ?4 AND s.until > ?3
  AND p.journal = ?1 AND p.segment = s.number AND p.token = t.value AND p.first < ?4
  AND p.first >= coalesce((
    SELECT max(q.first) FROM postings q
    WHERE q.journal = ?1 AND q.segment = s.number AND q.token = t.value AND q.first <= ?3
  ), 0)
"""
_BODIES: Final = (
    f"SELECT n.value & {SEQ}, e.entry, b.salt, b.body FROM json_each(?) n"  # noqa: S608 - ours
    " LEFT JOIN bodies b ON b.place = n.value LEFT JOIN entries e ON e.place = n.value"
)
_VERSIONS: Final = (
    f"SELECT v.seq, v.since, {ROW} FROM json_each(?2) n CROSS JOIN versions v ON v.journal = ?1"  # noqa: S608 - ours
    " AND v.id = n.value ->> 0 AND v.number = n.value ->> 1"
    " WHERE v.seq = n.value ->> 2 AND v.is_newest AND v.status = 'active'"
    " ORDER BY v.created_at DESC, v.since DESC"
)
_NEWEST_FIRST: Final = (
    f"SELECT v.seq, v.since, {ROW} FROM versions v"  # noqa: S608 - ours
    " WHERE v.journal = ? AND v.is_newest AND v.status = 'active'"
    " AND (v.created_at, v.since) < (?, ?)"
    " ORDER BY v.created_at DESC, v.since DESC"
)


BEFORE_ALL: Final = (2**63 - 1, 2**63 - 1)
"""The position that all there is comes after."""


class SqliteWordSearch(NamedTuple):
    """What is looked for, and what is made of it."""

    query: Query
    every: bool
    make: Callable[[Current], Any]
    limit: int | None
    compared: Compared
    after: tuple[int, int] = BEFORE_ALL
    """What is made before this time is found, or at it and active since an earlier entry."""


class JournalRecords:
    """The records of a journal, by the number of the entry that led to them."""

    def __init__(
        self,
        connection: apsw.Connection,
        journal: int,
        compared: Compared,
        damaged: list[EntryDamaged] | None = None,
    ) -> None:
        """Where there is a list for them, the damaged ones are left out and go there."""
        self._connection, self._journal = connection, journal
        self._compared, self._damaged = compared, damaged

    def at(self, seqs: Iterable[int]) -> dict[int, Current]:
        """The versions that some entries led to, if they are current; the newest first."""
        found: dict[int, bytes] = {}
        asked = []
        for seq, body in self.bodies(seqs):
            found[seq] = body
            document = head_of(body)
            asked.append((document["id"], version_of(document), seq))
        named = orjson.dumps(asked).decode()  # noqa: TID251 - a parameter
        rows: Any = self._connection.execute(_VERSIONS, (self._journal, named))
        return {
            seq: Current(*[*row, found[seq]])._replace(since=since) for seq, since, *row in rows
        }

    def bodies(self, seqs: Iterable[int]) -> list[tuple[int, bytes]]:
        """The bodies of some entries; what was erased is in no index."""
        places = orjson.dumps([place(self._journal, seq) for seq in seqs])  # noqa: TID251 - a parameter
        rows: Any = self._connection.execute(_BODIES, (places.decode(),)).fetchall()
        return list(self._compared.bodies(rows, self._damaged))


def head_of(body: bytes) -> dict[str, Any]:
    """The document of a body, for its id, version, times and sources.

    Large numbers in it may not be as `decode` gives them, which takes eight times as long.
    """
    try:
        document: dict[str, Any] = orjson.loads(body)
    except orjson.JSONDecodeError:
        document = decode(body)  # which says what is wrong
    return document


def find(
    connection: apsw.Connection, journal: int, words: WordCache, asked: SqliteWordSearch
) -> list[Any] | None:
    """What is found, newest first; None if too much is not in the index yet."""
    state: Any = connection.execute(STATE, (journal,)).fetchone()
    indexed, size, tokenizer, _, _ = state
    if Index(indexed, tokenizer).is_stale:
        raise IndexStale(tokenizer, INDEX_FORM)
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
        asked: SqliteWordSearch,
    ) -> None:
        self._connection = connection
        self._journal = journal
        self._query, self._every, self._make, self._limit, compared, self._after = asked
        self._records = JournalRecords(connection, journal, compared)
        self._indexed = indexed
        self._tokens = orjson.dumps(self._query.tokens).decode()  # noqa: TID251 - a parameter
        self._tail = self._in_tail(words)  # 1.

    def found(self) -> list[Any]:
        if self._most() <= FEW:
            candidates: Iterator[Current] = iter(self._looked_up(self._hits(0, self._indexed)))
        else:
            candidates = self._walked()
        made: list[Any] = []
        for candidate in candidates:
            if len(made) == self._limit:
                break
            value = self._make(candidate)
            if value is not None:
                made.append(value)
        return made

    def _in_tail(self, words: WordCache) -> set[int]:
        places = (place(self._journal, self._indexed), place(self._journal + 1, 0))
        bodies: Any = self._connection.execute(BODIES, places)
        return {
            seq
            for seq, known in words_at(self._connection, bodies.fetchall(), words)
            if known is not None and matches(self._query, known.counts, every=self._every)
        }

    def _most(self) -> int:
        """How many entries there can be that have what is asked for: as many as have its words."""
        sizes: Any = self._connection.execute(_SIZES, (self._journal, self._tokens))
        having = {token: size // POSTING_BYTES for token, size in sizes}
        words = [
            sum(min(having.get(token, 0) for token in needed) for needed in word.alternatives)
            for word in self._query.words
        ]
        return min(words) if self._every else sum(words)

    # ---------------------------------------------------------------------------- few

    def _looked_up(self, seqs: Collection[int]) -> list[Current]:
        # 2.
        found = self._records.at((*seqs, *self._tail)).values()
        return [current for current in found if (current.created_at, current.since) < self._after]

    # --------------------------------------------------------------------------- many

    def _walked(self) -> Iterator[Current]:
        # 3.
        everything: set[int] | None = None
        cursor: Any = self._connection.execute(_NEWEST_FIRST, (self._journal, *self._after))
        while rows := list(islice(cursor, _STRETCH)):
            indexed = [row[0] for row in rows if row[0] < self._indexed]
            first, last = min(indexed, default=0), max(indexed, default=-1)
            if everything is None and last - first > _WIDE:
                # The journal is not in the order of creation here: stretches would be long.
                everything = self._hits(0, self._indexed)
            hits = self._hits(first, last + 1) if everything is None else everything
            for seq, since, *row in rows:
                if seq in hits or seq in self._tail:
                    for _, body in self._records.bodies((seq,)):
                        yield Current(*[*row, body])._replace(since=since)

    def _hits(self, start: int, end: int) -> set[int]:
        """The entries between these that have what is asked for; some outside may be among them."""
        if start >= end:
            return set()
        asked = (self._journal, self._tokens, start, end)
        rows: Any = self._connection.execute(_CHUNKS, asked).fetchall()
        runs: dict[str, list[PostingRun]] = {}
        for token, first, body in rows:
            runs.setdefault(token, []).append(run_of(Chunk(first, body)))
        return matching(self._query, runs, every=self._every)
