"""Merging segments of the word index in PostgreSQL, token by token, in short transactions.

1. what is due is read, with the chunks of the next tokens, and these are joined: without a lock
2. under the lock of the head they are moved, unless the index was changed meanwhile; then it is
   looked at again

Whoever comes next, or another process, goes on from the rows that are left.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from psycopg.types.numeric import Int8

from memoranda.stores.postgres.arrays import Blobs, Integers, Texts
from memoranda.stores.postgres.beside import beside_the_loop
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postings import Chunk, joined
from memoranda.stores.segments import Merge, Segment, due

CHUNKS_AT_ONCE: Final = 256
"""Chunks that are read of each segment: what is moved while others wait takes some 20 ms."""

_STATE: Final = "SELECT revision FROM memoranda.index_of(%s, %s)"
_SEGMENTS: Final = (
    "SELECT s.number, s.first, s.until, s.level FROM memoranda.segments s WHERE s.journal = %s"
)
_LAST_MOVED: Final = (
    "SELECT p.token FROM memoranda.postings p WHERE p.journal = %s AND p.segment = %s"
    " ORDER BY p.token DESC LIMIT 1"
)
_NEXT: Final = """
SELECT n.number, p.token, p.first, p.body FROM unnest(%s) AS n (number) CROSS JOIN LATERAL (
  SELECT p.token, p.first, p.body FROM memoranda.postings p
  WHERE p.journal = %s AND p.segment = n.number AND p.token > %s
  ORDER BY p.token, p.first LIMIT %s
) AS p
"""
_MOVE: Final = "SELECT memoranda.merge_segments(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"


class Step(NamedTuple):
    """The chunks of the tokens after one, to be moved: up to another, or all that are left."""

    after: str
    upto: str | None
    tokens: Sequence[str]
    chunks: Sequence[Chunk]


async def segments_of(connection: Connection, journal: Int8) -> list[Segment]:
    """The segments of a journal's index."""
    found = await connection.execute(_SEGMENTS, (journal,), prepare=True, binary=True)
    return [Segment._make(row) for row in await found.fetchall()]


class SegmentMerger:
    """Merges the segments of one journal."""

    def __init__(self, calls: Pool, scope: str, journal: int, begin: bytes) -> None:
        self._calls = calls
        self._numbered = Int8(journal)
        self._named = (scope, self._numbered)
        self._begin = begin

    async def step(self) -> bool:
        """Go on with what is due, for some tokens; whether anything was.

        If the index was changed meanwhile, nothing was moved: it is still due.
        """
        async with self._calls.transaction(self._begin) as connection:
            found = await connection.execute(_STATE, self._named, prepare=True, binary=True)
            ((revision,),) = await found.fetchall()
            merge = due(await segments_of(connection, self._numbered))
            if merge is None:
                return False
            step = await self._next(connection, merge)
        await self._move(revision, merge, step)
        return True

    async def _next(self, connection: Connection, merge: Merge) -> Step:
        """The chunks that come next: more of them as long as they are all of one token."""
        limit, into = CHUNKS_AT_ONCE, (self._numbered, Int8(merge.into.number))
        moved = await connection.execute(_LAST_MOVED, into, prepare=True, binary=True)
        last = await moved.fetchall()
        after = str(last[0][0]) if last else ""
        while True:
            asked = (
                Integers(one.number for one in merge.of),
                *(self._numbered, after, Int8(limit)),
            )
            found = await connection.execute(_NEXT, asked, prepare=True, binary=True)
            rows = await found.fetchall()
            size = sum(len(row[-1]) for row in rows)
            step = await beside_the_loop(size, lambda: step_of(rows, after, limit))  # noqa: B023 - awaited
            if step is not None:
                return step
            limit *= 2

    async def _move(self, revision: int, merge: Merge, step: Step) -> None:
        into = merge.into
        values = (
            *(Int8(revision), Int8(into.number), Int8(into.first), Int8(into.until)),
            *(Int8(into.level), Integers(one.number for one in merge.of)),
            *(step.after, step.upto, Texts(step.tokens)),
            Integers(chunk.first for chunk in step.chunks),
            Blobs(chunk.body for chunk in step.chunks),
        )
        async with self._calls.connection(writes=True) as connection:
            await connection.execute(_MOVE, (*self._named, *values), prepare=True)


def step_of(rows: Sequence[tuple[Any, ...]], after: str, limit: int) -> Step | None:
    """What can be moved of the chunks of several segments, of each by token and at most so many.

    Of a segment that has more, the last token may not be whole. None if no token is.
    """
    last, count = dict[int, str](), dict[int, int]()
    tokens: dict[str, list[Chunk]] = {}
    for segment, token, first, body in rows:
        last[segment] = token
        count[segment] = count.get(segment, 0) + 1
        tokens.setdefault(token, []).append(Chunk(first, body))
    unfinished = [last[segment] for segment, number in count.items() if number == limit]
    if not unfinished:
        return Step(after, None, *_joined(sorted(tokens), tokens))
    whole = sorted(token for token in tokens if token < min(unfinished))
    return Step(after, whole[-1], *_joined(whole, tokens)) if whole else None


def _joined(
    names: Sequence[str], tokens: Mapping[str, Sequence[Chunk]]
) -> tuple[list[str], list[Chunk]]:
    moved_names: list[str] = []
    moved: list[Chunk] = []
    for name in names:
        chunks = tokens[name]
        whole = joined(sorted(chunks)) if len(chunks) > 1 else chunks  # most are of rare words
        moved_names += [name] * len(whole)
        moved += whole
    return moved_names, moved
