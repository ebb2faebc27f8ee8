"""Finding objects by their words in PostgreSQL: postings, and what is not in the index yet.

1. entries beyond the end of the index are judged by the definition
2. few postings are read all, and those that were found are looked up
3. of a frequent word, what is active is walked, newest first, and compared with the postings of
   the same stretch of the journal, until there are enough; so it costs no more than a rare one

Several words that are all needed are read whole: walking would not end where they never meet.
"""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from psycopg.types.numeric import Int8

from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.unit import Current
from memoranda.recall.postings import PostingRun, matching
from memoranda.stores.postgres.connection import Connection, off_the_loop
from memoranda.stores.postgres.index import IndexReader, State, rows_of
from memoranda.stores.postgres.journal import compared
from memoranda.stores.postings import Chunk, run_of
from memoranda.stores.selection import PLACED, ROW
from memoranda.stores.statements import Integers, Texts
from memoranda.stores.words import BATCH
from memoranda.text import Query, matches

R = TypeVar("R")

FEW: Final = 512
"""Entries that are looked up one by one."""

MANY_BYTES: Final = 64 * 1024
"""Postings of a word from which on it is frequent."""

STRETCH: Final = 256
WIDE: Final = 64 * STRETCH
_AT_LEAST: Final = 16
_LATEST: Final = 2**63 - 1

_BYTES: Final = """
SELECT coalesce(sum(octet_length(p.body)), 0)::bigint
FROM memoranda.segments s CROSS JOIN unnest(%s) AS n (token) CROSS JOIN LATERAL (
  SELECT p.body FROM memoranda.postings p
  WHERE p.journal = %s AND p.segment = s.number AND p.token = n.token OFFSET 0
) AS p
WHERE s.journal = %s
"""
# Those that begin in the stretch, and the last one before it.
_IN_STRETCH: Final = """
SELECT p.token, p.first, p.body
FROM memoranda.segments s CROSS JOIN unnest(%s) AS n (token) CROSS JOIN LATERAL (
  (SELECT p.token, p.first, p.body FROM memoranda.postings p
   WHERE p.journal = %s AND p.segment = s.number AND p.token = n.token
     AND p.first > %s AND p.first <= %s)
  UNION ALL
  (SELECT p.token, p.first, p.body FROM memoranda.postings p
   WHERE p.journal = %s AND p.segment = s.number AND p.token = n.token AND p.first <= %s
   ORDER BY p.first DESC LIMIT 1)
) AS p
WHERE s.journal = %s AND s.first <= %s AND s.until > %s
"""
# OFFSET 0 and the LIMITs of one make the planner look each up, whatever it believes of tables; what
# must be said of a version is said outside, where no other index leads to it.
_LOOK_UP: Final = (
    f"SELECT {PLACED} FROM (SELECT v.* FROM unnest(%s) AS n (seq)"  # noqa: S608 - ours
    " CROSS JOIN LATERAL (SELECT * FROM memoranda.versions v"
    " WHERE v.journal = %s AND v.seq = n.seq LIMIT 1) AS v"
    " WHERE v.is_newest AND v.status = 'active' AND (v.created_at, v.since) < (%s, %s)"
    " ORDER BY v.created_at DESC, v.since DESC OFFSET 0) AS v"
    " LEFT JOIN LATERAL (SELECT b.salt, b.body FROM memoranda.entries b"
    " WHERE b.journal = %s AND b.seq = v.seq LIMIT 1) AS b ON true"
    " LEFT JOIN LATERAL (SELECT e.entry FROM memoranda.entries e"
    " WHERE e.journal = %s AND e.seq = v.seq LIMIT 1) AS e ON true"
    " ORDER BY v.created_at DESC, v.since DESC"
)
_WALK: Final = (
    f"SELECT v.seq, v.since, {ROW} FROM memoranda.versions v"  # noqa: S608 - ours
    " WHERE v.journal = %s AND v.is_newest AND v.status = 'active'"
    " AND (v.created_at, v.since) < (%s, %s)"
    " ORDER BY v.created_at DESC, v.since DESC"
)
_BODIES: Final = (
    "SELECT e.seq, e.entry, b.salt, b.body FROM memoranda.entries e"
    " LEFT JOIN memoranda.entries b ON b.journal = e.journal AND b.seq = e.seq"
    " WHERE e.journal = %s AND e.seq = ANY (%s)"
)


_MISSING: Final = (None, None, None)
"""Stands for an entry that is not there, its salt and its body."""


class PostgresWordSearch(NamedTuple):
    """What is looked for: every word or any, and at most so many."""

    query: Query
    every: bool
    limit: int | None
    after: tuple[int, int] | None = None

    @property
    def before(self) -> tuple[Int8, Int8]:
        """The time and the entry before which whatever is found was made."""
        time, since = self.after or (_LATEST, _LATEST)
        return Int8(time), Int8(since)

    @property
    def at_once(self) -> int:
        """How many bodies are read at a time: no more than are likely to be wanted."""
        return BATCH if self.limit is None else min(max(self.limit, _AT_LEAST), BATCH)

    @property
    def is_dense(self) -> bool:
        """Whether whatever has a posting is found, so that a walk soon has enough."""
        words = self.query.words
        is_any = not self.every or len(words) == 1
        alone = all(len(tokens) == 1 for word in words for tokens in word.alternatives)
        return self.limit is not None and is_any and alone


class Finder:
    """Finds objects of one journal, inside a transaction that has entered it."""

    def __init__(self, journal: int, bodies: BodyCodec, reader: IndexReader) -> None:
        self._journal = Int8(journal)
        self._compared = compared(bodies)
        self._reader = reader

    async def find(
        self,
        connection: Connection,
        state: State,
        wanted: PostgresWordSearch,
        make: Callable[[Current], R | None],
    ) -> list[R]:
        """What has the words of a query, newest first.

        Whatever was found, only what is active and newest counts: the index may still have what
        was replaced since.
        """
        tail = await self._reader.tail(connection, state.indexed, state.size)
        # 1.
        tailing = {
            seq
            for seq, words in tail.added.items()
            if matches(wanted.query, words.tokens, every=wanted.every)
        }
        hits: set[int] | None = None
        if not wanted.is_dense or await self._bytes(connection, wanted) <= MANY_BYTES:
            hits = await self._hits(connection, wanted) | tailing
            if len(hits) <= FEW:
                return await self._looked_up(connection, hits, wanted, make)  # 2.
        return await self._walked(connection, state, wanted, make, tailing, hits)  # 3.

    async def _looked_up(
        self,
        connection: Connection,
        hits: Collection[int],
        wanted: PostgresWordSearch,
        make: Callable[[Current], R | None],
    ) -> list[R]:
        made: list[R] = []
        asked = (Integers(hits), self._journal, *wanted.before, self._journal, self._journal)
        async with connection.cursor("memoranda_find") as cursor:
            await cursor.execute(_LOOK_UP.encode(), asked, binary=True)
            while rows := await cursor.fetchmany(wanted.at_once):
                if self._make(made, rows, wanted, make):
                    return made
                await asyncio.sleep(0)
        return made

    async def _walked(
        self,
        connection: Connection,
        state: State,
        wanted: PostgresWordSearch,
        make: Callable[[Current], R | None],
        tailing: set[int],
        hits: set[int] | None,
    ) -> list[R]:
        made: list[R] = []
        async with connection.cursor("memoranda_walk") as cursor:
            await cursor.execute(_WALK.encode(), (self._journal, *wanted.before), binary=True)
            while rows := await cursor.fetchmany(STRETCH):
                indexed = [seq for seq, *_ in rows if seq < state.indexed]
                first, last = min(indexed, default=0), max(indexed, default=-1)
                if hits is None and last - first > WIDE:
                    # The journal is not in the order of creation here: stretches would be long.
                    hits = await self._hits(connection, wanted)
                found = hits
                if found is None:
                    found = await self._hits_in(connection, wanted, first, last)
                chosen = [row for row in rows if row[0] in found or row[0] in tailing]
                at_once = wanted.at_once
                for start in range(0, len(chosen), at_once):
                    whole = await self._whole(connection, chosen[start : start + at_once])
                    if self._make(made, whole, wanted, make):
                        return made
        return made

    def _make(
        self,
        made: list[R],
        rows: Sequence[Sequence[Any]],
        wanted: PostgresWordSearch,
        make: Callable[[Current], R | None],
    ) -> bool:
        """Add what is made of these rows; whether there are enough."""
        for row in rows:
            if len(made) == wanted.limit:
                return True
            value = make(self._compared.placed(row))
            if value is not None:
                made.append(value)
        return len(made) == wanted.limit

    # ---------------------------------------------------------------------- statements

    async def _bytes(self, connection: Connection, wanted: PostgresWordSearch) -> int:
        asked = (Texts(wanted.query.tokens), self._journal, self._journal)
        ((size,),) = await rows_of(connection, _BYTES, asked)
        return int(size)

    async def _hits(self, connection: Connection, wanted: PostgresWordSearch) -> set[int]:
        chunks = await self._reader.chunks(connection, wanted.query.tokens)
        return await _having(wanted, chunks)

    async def _hits_in(
        self, connection: Connection, wanted: PostgresWordSearch, first: int, last: int
    ) -> set[int]:
        """Those among the entries from one to another, both included; others may be among them."""
        if first > last:
            return set()
        start, end = Int8(first), Int8(last)
        asked = (Texts(wanted.query.tokens), self._journal, start, end, self._journal, start)
        rows = await rows_of(connection, _IN_STRETCH, (*asked, self._journal, end, start))
        return await _having(wanted, [(token, Chunk(at, body)) for token, at, body in rows])

    async def _whole(
        self, connection: Connection, rows: Sequence[Sequence[Any]]
    ) -> list[Sequence[Any]]:
        if not rows:
            return []
        asked = (self._journal, Integers(seq for seq, *_ in rows))
        entries = {seq: rest for seq, *rest in await rows_of(connection, _BODIES, asked)}
        return [(since, *row, seq, *entries.get(seq, _MISSING)) for seq, since, *row in rows]


async def _having(wanted: PostgresWordSearch, chunks: Sequence[tuple[str, Chunk]]) -> set[int]:
    size = sum(len(chunk.body) for _, chunk in chunks)
    return await off_the_loop(size, lambda: _matching(wanted, chunks))


def _matching(wanted: PostgresWordSearch, chunks: Sequence[tuple[str, Chunk]]) -> set[int]:
    runs: dict[str, list[PostingRun]] = {}
    for token, chunk in chunks:
        runs.setdefault(token, []).append(run_of(chunk))
    return matching(wanted.query, runs, every=wanted.every)
