"""Merging segments of the word index in SQLite, some tokens at a time (`stores.postings`).

1. of each old segment some rows are read, from the first token on that was not moved yet
2. up to where all of them were read, postings of a token become one list
3. they are written into the new segment, and deleted from the old ones
4. when nothing is left in the old ones, they go
"""

from collections.abc import Callable, Sequence
from operator import itemgetter
from time import perf_counter, sleep
from typing import Any, Final, NamedTuple

import apsw

from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.snapshot import INDEX_FORM, REBUILDING
from memoranda.stores.postings import Chunk, Segment, due, joined
from memoranda.stores.sqlite.connection import place
from memoranda.stores.sqlite.words import (
    BODIES,
    POSTING_ROWS,
    SEGMENT_ROWS,
    changes,
    put,
    segments_of,
    take_out,
    words_at,
)
from memoranda.stores.words import (
    BATCH,
    MERGED_ANYWAY,
    MERGED_WHEN_IDLE,
    WordCache,
    closing_seconds,
)

ROWS: Final = 4_096
"""Rows that one transaction reads at most, but for what is left of the last token: about 20 ms."""

_LAST_MOVED: Final = (
    "SELECT token FROM postings WHERE journal = ? AND segment = ? ORDER BY token DESC LIMIT 1"
)
_SOME: Final = """
SELECT token, first, body FROM postings
WHERE journal = ? AND segment = ? AND token > ? ORDER BY token, first LIMIT ?
"""
_REST: Final = """
SELECT token, first, body FROM postings
WHERE journal = ? AND segment = ? AND token = ? AND first > ? ORDER BY first
"""
_MOVED: Final = (
    "DELETE FROM postings WHERE journal = ? AND segment = ? AND token > ? AND token <= ?"
)
_GONE: Final = "DELETE FROM segments WHERE journal = ? AND number = ?"


class _SegmentRows(NamedTuple):
    """Some rows of one segment: every token in them is whole."""

    rows: Sequence[tuple[str, int, bytes]]
    is_all: bool


def is_due(connection: apsw.Connection, journal: int) -> bool:
    return due(segments_of(connection, journal)) is not None


def merge_some(connection: apsw.Connection, journal: int) -> bool:
    """Go on with merging segments, inside a transaction; whether something is left to do."""
    merge = due(segments_of(connection, journal))
    if merge is None:
        return False
    into = merge.into.number
    if not merge.is_begun:
        SEGMENT_ROWS.run(connection, [(journal, *merge.into)])
    moved: Any = connection.execute(_LAST_MOVED, (journal, into)).fetchone()
    after = "" if moved is None else moved[0]
    # 1.
    each = max(ROWS // len(merge.of), 1)
    read = [_read(connection, journal, segment, after, each) for segment in merge.of]
    # 2.
    is_all = all(some.is_all for some in read)
    lasts = [some.rows[-1][0] for some in read if some.rows and (is_all or not some.is_all)]
    upto = (max if is_all else min)(lasts, default=after)
    tokens: dict[str, list[Chunk]] = {}
    for some in read:
        for token, first, body in some.rows:
            if token <= upto:
                tokens.setdefault(token, []).append(Chunk(first, body))
    # 3.
    whole = [
        (journal, into, token, *chunk)
        for token in sorted(tokens)
        for chunk in joined(tokens[token])
    ]
    for segment in merge.of:
        connection.execute(_MOVED, (journal, segment.number, after, upto))
    POSTING_ROWS.run(connection, whole)
    # 4.
    if is_all:
        for segment in merge.of:
            connection.execute(_GONE, (journal, segment.number))
    return not is_all or is_due(connection, journal)


def _read(
    connection: apsw.Connection, journal: int, segment: Segment, after: str, limit: int
) -> _SegmentRows:
    found: Any = connection.execute(_SOME, (journal, segment.number, after, limit)).fetchall()
    if len(found) < limit:
        return _SegmentRows(found, is_all=True)
    token, first, _ = found[-1]
    found += connection.execute(_REST, (journal, segment.number, token, first)).fetchall()
    return _SegmentRows(found, is_all=False)


# ------------------------------------------------------------------------------------------------
# Bringing the word index forward, in spare time.
#
# No word is looked at while a caller waits. The journal itself says what is not yet in the index:
# the entries from `indexed` on. A batch of them is read, the words of what is active at its end are
# added and those of what it replaced are removed, and `indexed` moves, all in one transaction. What
# is added is a segment of its own; segments are merged later, in transactions that are as short.

STATE: Final = "SELECT indexed, size, tokenizer, documents, length FROM journals WHERE number = ?"
_ADVANCE: Final = "UPDATE journals SET indexed = ?, tokenizer = ? WHERE number = ?"
_STEPS: Final = 3
"""Steps of merging segments after each batch: more than it takes to keep up with batches."""


def merge(
    connection: apsw.Connection,
    journal: int,
    words: WordCache,
    *,
    entries: int = BATCH,
    rebuilding: bool = False,
) -> int:
    """Bring the index forward by up to so many entries, in a transaction; how many are left.

    An index of another tokenizer is left alone, and so is one that another makes anew.
    """
    state: Any = connection.execute(STATE, (journal,)).fetchone()
    indexed, size, tokenizer, _, _ = state
    if tokenizer not in ((REBUILDING,) if rebuilding else ("", INDEX_FORM)):
        return 0
    end = min(size, indexed + entries)
    if end > indexed:
        change = changes(connection, journal, indexed, end, words)
        if change.gone:
            take_out(connection, journal, change.gone)
        put(connection, journal, indexed, end, change)
        connection.execute(_ADVANCE, (end, tokenizer or INDEX_FORM, journal))
    return int(size - end)


class Merger:
    """What the writer does when nobody waits for it: it merges what was written.

    It counts the entries that are not in the index, as far as this process knows; how many there
    are is looked up when it merges.
    """

    def __init__(self, bodies: BodyCodec) -> None:
        self.words = WordCache(bodies)
        self._tails: dict[int, int] = {}
        self._due: set[int] = set()
        self._segmented: set[int] = set()
        self._written: set[int] = set()

    def note_written(self, journal: int, entries: int) -> None:
        self._written.add(journal)
        self.note(journal, entries)

    def note(self, journal: int, entries: int) -> None:
        """Some entries are not in the index yet; whoever has only read leaves them to others."""
        tail = self._tails[journal] = self._tails.get(journal, 0) + entries
        if tail >= MERGED_WHEN_IDLE and journal in self._written:
            self._due.add(journal)

    @property
    def is_due(self) -> bool:
        """Whether there is something to do once nobody waits."""
        return bool(self._due or self._segmented)

    @property
    def is_pressing(self) -> bool:
        """Whether there is so much to do that it is done although somebody may wait."""
        return any(self._tails.get(journal, 0) >= MERGED_ANYWAY for journal in list(self._due))

    def use(self, connection: apsw.Connection, is_wanted: Callable[[], bool]) -> None:
        """Merge a batch of the longest tail, then segments; give up when the writer is wanted.

        Finding the words takes long and needs no transaction: they are remembered, and the
        transaction that writes them is short.
        """
        if self._due:
            journal = max(list(self._due), key=lambda number: self._tails.get(number, 0))
            if not self._read_ahead(connection, journal, is_wanted):
                return
            self._merged(connection, journal)
        for _ in range(_STEPS):
            if self._segmented and not is_wanted():
                self._merge_segments(connection, next(iter(self._segmented)))
                sleep(0)

    def finish(self, connection: apsw.Connection) -> None:
        """Merge what this process wrote before it closes; who has only read writes nothing."""
        started = perf_counter()
        tails = {journal: self._tails.get(journal, 0) for journal in self._written}
        for journal, tail in sorted(tails.items(), key=itemgetter(1), reverse=True):
            until = started + closing_seconds(tail)
            while perf_counter() < until and self._merged(connection, journal):
                pass
            while perf_counter() < until and self._merge_segments(connection, journal):
                pass

    def give_up(self) -> None:
        """It could not be done now; later writes bring it up again."""
        self._tails.clear()
        self._due.clear()
        self._segmented.clear()

    def _read_ahead(
        self, connection: apsw.Connection, journal: int, is_wanted: Callable[[], bool]
    ) -> bool:
        state: Any = connection.execute(STATE, (journal,)).fetchone()
        start = place(journal, state[0])
        bodies: Any = connection.execute(BODIES, (start, start + BATCH)).fetchall()
        for _ in words_at(connection, bodies, self.words):
            if is_wanted():
                return False
            sleep(0)  # lets the event loop have its turn
        return True

    def _merged(self, connection: apsw.Connection, journal: int) -> int:
        connection.execute("BEGIN IMMEDIATE")
        left = self._tails[journal] = merge(connection, journal, self.words)
        connection.execute("COMMIT")
        if left < MERGED_WHEN_IDLE:
            self._due.discard(journal)
        self.note_segments(connection, journal)
        return left

    def note_segments(self, connection: apsw.Connection, journal: int) -> None:
        """A segment was added; there may be enough of them to be merged."""
        if is_due(connection, journal):
            self._segmented.add(journal)

    def _merge_segments(self, connection: apsw.Connection, journal: int) -> bool:
        connection.execute("BEGIN IMMEDIATE")
        is_left = merge_some(connection, journal)
        connection.execute("COMMIT")
        if not is_left:
            self._segmented.discard(journal)
        return is_left
