"""What the writer of a SQLite file does when nobody waits: it merges words (`stores.merge`)."""

from collections.abc import Callable
from operator import itemgetter
from time import perf_counter
from typing import Final

import apsw

from memoranda.ledger.codec import BodyCodec, LenientCodec
from memoranda.stores.merge import (
    SegmentStep,
    WordBatch,
    batch,
    segment_step,
    write_batch,
    write_segments,
)
from memoranda.stores.scope_words import KnownScopes
from memoranda.stores.sqlite.reader import run
from memoranda.stores.tail import TailReader
from memoranda.stores.words import BATCH, MERGED_ANYWAY, MERGED_WHEN_IDLE, closing_seconds

_STEPS: Final = 3
"""Steps of merging segments after each batch: more than it takes to keep up with batches."""


def merge(
    connection: apsw.Connection,
    journal: int,
    bodies: BodyCodec,
    *,
    entries: int = BATCH,
    rebuilding: bool = False,
) -> int:
    """Bring the index forward by up to so many entries; how many are left.

    Words are found outside of the transaction that writes them: that takes long.
    """
    made: WordBatch | None = run(
        connection, journal, batch(bodies, entries=entries, rebuilding=rebuilding)
    )
    if made is None:
        return 0
    is_done = _written(connection, journal, lambda: write_batch(made))
    return made.left if is_done else made.state.size


def merge_segments(connection: apsw.Connection, journal: int) -> bool:
    """Go on with merging segments; whether any were due."""
    step: SegmentStep | None = run(connection, journal, segment_step())
    if step is None:
        return False
    _written(connection, journal, lambda: write_segments(step))
    return True


def _written(connection: apsw.Connection, journal: int, procedure: Callable[[], object]) -> bool:
    connection.execute("BEGIN IMMEDIATE")
    try:
        is_done = bool(run(connection, journal, procedure()))  # type: ignore[arg-type]
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return is_done


class Merger:
    """It counts the entries that are not in the index, as far as this process knows.

    How many there are is looked up when it merges.
    """

    def __init__(self, bodies: BodyCodec) -> None:
        self._bodies = bodies
        self.known = KnownScopes()
        """What is remembered of the scopes of the file; what was written is read into it."""
        self._unread: set[int] = set()
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
            self._unread.add(journal)

    @property
    def is_due(self) -> bool:
        """Whether there is something to do once nobody waits."""
        return bool(self._due or self._segmented or self._unread)

    @property
    def is_pressing(self) -> bool:
        """Whether there is so much to do that it is done although somebody may wait."""
        return any(self._tails.get(journal, 0) >= MERGED_ANYWAY for journal in list(self._due))

    def use(self, connection: apsw.Connection, is_wanted: Callable[[], bool]) -> None:
        """Read a few entries ahead; if all are, merge. Give up when the writer is wanted."""
        if self._unread:
            journal = self._longest(self._unread)
            if not self._read_ahead(connection, journal):
                self._unread.discard(journal)
        else:
            self.catch_up(connection, is_wanted)

    def catch_up(self, connection: apsw.Connection, is_wanted: Callable[[], bool]) -> None:
        """Merge a batch of the longest tail, then segments; give up when the writer is wanted."""
        if self._due:
            journal = self._longest(self._due)
            self._merge(connection, journal)
            if journal not in self._due:
                self._read_ahead(connection, journal)  # so what is merged is let go
        for _ in range(_STEPS):
            if self._segmented and not is_wanted():
                self._merge_segments(connection, next(iter(self._segmented)))

    def finish(self, connection: apsw.Connection) -> None:
        """Merge what this process wrote before it closes; who has only read writes nothing."""
        started = perf_counter()
        tails = {journal: self._tails.get(journal, 0) for journal in self._written}
        for journal, tail in sorted(tails.items(), key=itemgetter(1), reverse=True):
            until = started + closing_seconds(tail)
            while perf_counter() < until and self._merge(connection, journal):
                pass
            while perf_counter() < until and self._merge_segments(connection, journal):
                pass

    def give_up(self) -> None:
        """It could not be done now; later writes bring it up again."""
        self._tails.clear()
        self._due.clear()
        self._unread.clear()
        self._segmented.clear()

    def _longest(self, journals: set[int]) -> int:
        return max(list(journals), key=lambda number: self._tails.get(number, 0))

    def _read_ahead(self, connection: apsw.Connection, journal: int) -> bool:
        tail = TailReader(journal, LenientCodec(self._bodies), self.known)
        return run(connection, journal, tail.ahead())

    def _merge(self, connection: apsw.Connection, journal: int) -> int:
        left = self._tails[journal] = merge(connection, journal, self._bodies)
        if left < MERGED_WHEN_IDLE:
            self._due.discard(journal)
        self._segmented.add(journal)
        return left

    def _merge_segments(self, connection: apsw.Connection, journal: int) -> bool:
        is_due = merge_segments(connection, journal)
        if not is_due:
            self._segmented.discard(journal)
        return is_due
