"""Merging segments of the word index in PostgreSQL, token by token, in short transactions.

1. what is due is read, with the chunks of the next tokens, and these are joined: without a lock
2. under the lock of the head they are moved, unless the index was changed meanwhile; then it is
   looked at again

Whoever comes next, or another process, goes on from the rows that are left.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from psycopg.types.numeric import Int8

from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.snapshot import INDEX_FORM
from memoranda.ledger.unit import Current, Draft
from memoranda.recall.postings import BLOCK_BITS
from memoranda.stores.postgres.connection import Connection, off_the_loop
from memoranda.stores.postgres.index import UNREADABLE, IndexReader, rows_of
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postings import (
    Chunk,
    ChunkDamaged,
    Segment,
    SegmentMerge,
    due,
    joined,
    run_of,
    without,
)
from memoranda.stores.statements import Blobs, Integers, Texts
from memoranda.stores.words import WordCache, Words

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


class ChunkMove(NamedTuple):
    """The chunks of the tokens after one, to be moved: up to another, or all that are left."""

    after: str
    upto: str | None
    tokens: Sequence[str]
    chunks: Sequence[Chunk]


async def segments_of(connection: Connection, journal: Int8) -> list[Segment]:
    found = await connection.execute(_SEGMENTS, (journal,), prepare=True, binary=True)
    return [Segment._make(row) for row in await found.fetchall()]


class SegmentMerger:
    """Merges the segments of one journal."""

    def __init__(self, calls: Pool, journal: int, origin: str, begin: bytes) -> None:
        self._calls = calls
        self._numbered = Int8(journal)
        self._named = (self._numbered, origin)
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

    async def _next(self, connection: Connection, merge: SegmentMerge) -> ChunkMove:
        """The chunks that come next: more of them as long as they are all of one token."""
        limit, into = CHUNKS_AT_ONCE, (self._numbered, Int8(merge.into.number))
        moved = await connection.execute(_LAST_MOVED, into, prepare=True, binary=True)
        last = await moved.fetchall()
        after = str(last[0][0]) if last else ""
        while True:
            asked = (
                Integers(segment.number for segment in merge.of),
                *(self._numbered, after, Int8(limit)),
            )
            found = await connection.execute(_NEXT, asked, prepare=True, binary=True)
            rows = await found.fetchall()
            size = sum(len(row[-1]) for row in rows)
            step = await off_the_loop(size, lambda: step_of(rows, after, limit))  # noqa: B023 - awaited
            if step is not None:
                return step
            limit *= 2

    async def _move(self, revision: int, merge: SegmentMerge, step: ChunkMove) -> None:
        into = merge.into
        values = (
            *(Int8(revision), Int8(into.number), Int8(into.first), Int8(into.until)),
            *(Int8(into.level), Integers(segment.number for segment in merge.of)),
            *(step.after, step.upto, Texts(step.tokens)),
            Integers(chunk.first for chunk in step.chunks),
            Blobs(chunk.body for chunk in step.chunks),
        )
        async with self._calls.connection(writes=True) as connection:
            await connection.execute(_MOVE, (*self._named, *values), prepare=True)


def step_of(rows: Sequence[tuple[Any, ...]], after: str, limit: int) -> ChunkMove | None:
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
        return ChunkMove(after, None, *_joined(sorted(tokens), tokens))
    whole = sorted(token for token in tokens if token < min(unfinished))
    return ChunkMove(after, whole[-1], *_joined(whole, tokens)) if whole else None


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


# ------------------------------------------------------------------------------------------------
# Taking documents out of the word index in PostgreSQL: the chunks that hold them, without them.
#
# Only the words of a document lead to its postings. When they can't be found any more, because its
# body can't be read or the index is another tokenizer's, all of the index goes, and is made anew.

PAIRS_AT_ONCE: Final = 8_192

# Each chunk once, whoever is in it: first where they are, then what they have.
_HOLDING: Final = """
WITH k AS (
  SELECT DISTINCT p.segment, p.token, p.first
  FROM unnest(%s, %s) AS n (seq, token)
  CROSS JOIN LATERAL (
    SELECT s.number FROM memoranda.segments s
    WHERE s.journal = %s AND s.first <= n.seq AND s.until > n.seq OFFSET 0
  ) AS s
  CROSS JOIN LATERAL (
    SELECT p.segment, p.token, p.first FROM memoranda.postings p
    WHERE p.journal = %s AND p.segment = s.number AND p.token = n.token AND p.first <= n.seq
    ORDER BY p.first DESC LIMIT 1
  ) AS p
)
SELECT k.segment, k.token, k.first, p.body FROM k CROSS JOIN LATERAL (
  SELECT p.body FROM memoranda.postings p
  WHERE p.journal = %s AND p.segment = k.segment AND p.token = k.token AND p.first = k.first
  LIMIT 1
) AS p
"""


class ChunkRow(NamedTuple):
    """A chunk where it stands: its segment, its token."""

    segment: int
    token: str
    chunk: Chunk


class Taken(NamedTuple):
    """What is written for documents that go: these rows go, and those come."""

    gone: Mapping[int, Words]
    old: Sequence[ChunkRow]
    left: Sequence[ChunkRow]

    @property
    def parameters(self) -> tuple[object, ...]:
        """Those of `memoranda.take_documents`, after the journal."""
        length = sum(words.length for words in self.gone.values())
        return (
            *(Int8(len(self.gone)), Int8(length)),
            *_keys(self.old),
            *_keys(self.left),
            Blobs(row.chunk.body for row in self.left),
            Integers(self.gone),
        )


async def taking(connection: Connection, journal: int, gone: Mapping[int, Words]) -> Taken:
    """What is to be written so that these documents are not in the index, by their entries."""
    if not gone:
        return Taken({}, (), ())
    pairs = [(seq, token) for seq, words in gone.items() for token in words.counts]
    numbered = Int8(journal)
    found: set[ChunkRow] = set()
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        some = pairs[start : start + PAIRS_AT_ONCE]
        asked = (Integers(seq for seq, _ in some), Texts(token for _, token in some))
        rows: Any = await rows_of(connection, _HOLDING, (*asked, numbered, numbered, numbered))
        found |= {
            ChunkRow(segment, token, Chunk(first, body)) for segment, token, first, body in rows
        }
    return Taken(gone, *without_these(sorted(found), pairs))


def without_these(
    rows: Sequence[ChunkRow], pairs: Sequence[tuple[int, str]]
) -> tuple[list[ChunkRow], list[ChunkRow]]:
    """The rows that hold a posting of these entries and tokens, and what is left of them."""
    by_token: dict[str, list[ChunkRow]] = {}
    for row in rows:
        by_token.setdefault(row.token, []).append(row)
    seqs: dict[ChunkRow, list[int]] = {}
    for held in by_token.values():
        held.sort(key=_first)
    for seq, token in pairs:
        holding = by_token.get(token, [])
        at = bisect_right(holding, seq, key=_first) - 1
        if at >= 0:
            seqs.setdefault(holding[at], []).append(seq)
    old, left = [], []
    for row, taken in seqs.items():
        chunks = [row.chunk]
        for seq in taken:
            chunks = [rest for chunk in chunks for rest in without(chunk, seq)]
        if chunks != [row.chunk]:
            old.append(row)
            left += [row._replace(chunk=chunk) for chunk in chunks]
    return old, left


def _first(row: ChunkRow) -> int:
    return row.chunk.first


def _keys(rows: Sequence[ChunkRow]) -> tuple[Integers, Texts, Integers]:
    return (
        Integers(row.segment for row in rows),
        Texts(row.token for row in rows),
        Integers(row.chunk.first for row in rows),
    )


# ------------------------------------------------------------------------------------------------
# What objects that are erased take with them from the word index, in the erasing transaction.
#
# Only the tokens that an object was added with lead to its postings. An index of another tokenizer,
# or one with something in it that can't be read any more, goes as a whole: it is made anew. So it
# is with an object whose body is not what was written; of that, all tags go by its id.

_TAKE: Final = "SELECT memoranda.take_documents(" + ", ".join(["%s"] * 11) + ")"
_CLEAR: Final = "SELECT memoranda.clear_index(%s)"
_FORGET_TAGS: Final = "DELETE FROM memoranda.tags t WHERE t.journal = %s AND t.id = ANY (%s)"
_ALL_CHUNKS: Final = "SELECT p.first, p.body FROM memoranda.postings p WHERE p.journal = %s"
_VERSIONS: Final = (
    "SELECT v.id, v.seq FROM memoranda.versions v WHERE v.journal = %s AND v.id = ANY (%s)"
)


class Leaving:
    """For one unit that erases, inside its transaction, which holds the lock of the head."""

    def __init__(self, journal: int, origin: str, bodies: BodyCodec) -> None:
        self._journal = journal
        self._numbered = Int8(journal)
        self._reader = IndexReader(journal, origin, WordCache(bodies))
        self._by_entry: Counter[int] | None = None
        """The postings of each entry, of an index that goes as a whole with the first object that
        is erased: so it is counted once for all portions."""

    async def postings(self, connection: Connection, found: Sequence[Current]) -> Mapping[str, int]:
        """How many postings `take_out` takes out, or would if it could take them alone."""
        ids = [each.id for each in found]
        state = await self._reader.state(connection)
        goes_whole = state.tokenizer != INDEX_FORM or any(each.damaged for each in found)
        if self._by_entry is None and state.indexed and goes_whole:
            self._by_entry = await self._counted(connection)
        counts = Counter[str]()
        if self._by_entry is None:
            indexed = await self._reader.indexed(connection, ids, state.indexed)
            counts.update({id: len(words.counts) for id, (_, words) in indexed.items()})
        else:
            for id, seq in await rows_of(connection, _VERSIONS, (self._numbered, Texts(ids))):
                counts[id] += self._by_entry[seq]
        return counts

    async def take_out(self, connection: Connection, drafts: Sequence[Draft]) -> None:
        """Take what these erase out of the index, while its words are still there."""
        erased = [draft.replaces for draft in drafts if draft.erases and draft.replaces is not None]
        damaged = [current.id for current in erased if current.damaged]
        if damaged:
            asked = (self._numbered, Texts(damaged))
            await connection.execute(_FORGET_TAGS, asked, prepare=True)
        state = await self._reader.state(connection) if erased else None
        if state is None or not state.indexed:
            return
        indexed = await self._reader.indexed(
            connection, [current.id for current in erased], state.indexed
        )
        gone = {seq: words for seq, words in indexed.values() if words.is_indexed}
        is_known = not damaged and all(words.number != UNREADABLE for words in gone.values())
        try:
            if state.tokenizer == INDEX_FORM and is_known:
                taken = await taking(connection, self._journal, gone)
                await connection.execute(_TAKE, (self._numbered, *taken.parameters), prepare=True)
                return
        except ChunkDamaged:
            pass  # what can't be read is no reason to keep it
        await connection.execute(_CLEAR, (self._numbered,), prepare=True)

    async def _counted(self, connection: Connection) -> Counter[int]:
        counts = Counter[int]()
        for first, body in await rows_of(connection, _ALL_CHUNKS, (self._numbered,)):
            with suppress(ChunkDamaged):  # then nobody can count it
                block, places, _ = run_of(Chunk(first, body))
                counts.update(block << BLOCK_BITS | place for place in places)
        return counts
