"""What stands around a record in its thread, among what is active now, the tail included.

A store reads, for each seed, a few rows before and after it in the order of its thread; here they
become places (`recall.neighbours`): records that follow each other are one place apart, and what
no window has side by side is further apart than any word reaches.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from memoranda.ledger.unit import StoredThread
from memoranda.recall.neighbours import GAP, REACH
from memoranda.stores.tail import Tail

Row = tuple[str, int, str, int, str]
"""A `StoredThread` as a database gives it: there are many, and few of them are looked at."""

_SEQ: Final = StoredThread._fields.index("seq")


class Threads:
    """The threads of a scope as its index has them, made exact by the tail."""

    def __init__(self, tail: Tail) -> None:
        self._gone = tail.gone.keys()
        self._gone_from = Counter(
            words.thread.thread for words in tail.gone.values() if words.thread is not None
        )
        self._added: dict[str, list[StoredThread]] = {}
        for row in tail.threads():
            self._added.setdefault(row.thread, []).append(row)

    def reach(self, thread: str) -> int:
        """How many rows are to be read before a seed, and after it: some of them may be gone."""
        return REACH + self._gone_from[thread]

    def window(self, seed: StoredThread, stored: Iterable[StoredThread]) -> Sequence[StoredThread]:
        """The seed and up to `REACH` records before and after it, in order, of what is active."""
        ordered = self._exact([seed], stored)
        at = ordered.index(seed)
        return ordered[max(at - REACH, 0) : at + REACH + 1]

    def active(self, seeds: Sequence[StoredThread], stored: Sequence[Row]) -> Sequence[Row]:
        """All that is active in the stretches of these seeds of one thread, in order.

        `stored` is all that the index has there (`stretches_of`), in order.
        """
        thread = seeds[0].thread
        if self._gone_from[thread] or thread in self._added:
            return self._exact(seeds, map(StoredThread._make, stored))
        return stored

    def _exact(
        self, seeds: Sequence[StoredThread], stored: Iterable[StoredThread]
    ) -> list[StoredThread]:
        """Rows of one thread in order, without what is gone, and with what is added."""
        rows = {row.seq: row for row in stored if row.seq not in self._gone}
        rows |= {row.seq: row for row in self._added.get(seeds[0].thread, ())}
        rows |= {seed.seq: seed for seed in seeds}
        return sorted(rows.values(), key=_order)


def around(seeds: Iterable[StoredThread], active: Sequence[Row]) -> Iterator[tuple[Row, int]]:
    """What stands around seeds of one thread in their stretches, each with its place.

    Two rows of two stretches may be further apart than their places tell; but then one is more
    than `GAP` away from every seed in the other's.
    """
    wanted = {seed.seq for seed in seeds}
    end = 0
    for place in [place for place, row in enumerate(active) if row[_SEQ] in wanted]:
        last = min(place + REACH + 1, len(active))
        for near in range(max(place - REACH, end), last):
            yield active[near], near
        end = last


class Stretch(NamedTuple):
    """A part of a thread: from one time to another, both included."""

    thread: str
    start: int
    end: int


def stretches_of(seeds: Iterable[StoredThread]) -> list[Stretch]:
    """Where the neighbours of some records may be: no more than `GAP` away, each part once."""
    found: list[Stretch] = []
    for one in sorted(seeds, key=_order):
        start, end = one.created_at - GAP, one.created_at + GAP
        if found and found[-1].thread == one.thread and start <= found[-1].end:
            found[-1] = found[-1]._replace(end=end)
        else:
            found.append(Stretch(one.thread, start, end))
    return found


def placed(windows: Iterable[Sequence[StoredThread]]) -> Iterator[tuple[StoredThread, int]]:
    """Every row of some windows with its place in its thread."""
    rows: dict[int, StoredThread] = {}
    beside: set[tuple[int, int]] = set()
    for one in windows:
        rows |= {row.seq: row for row in one}
        beside |= {(row.seq, after.seq) for row, after in pairwise(one)}
    before: StoredThread | None = None
    place = 0
    for row in sorted(rows.values(), key=_order):
        if before is not None:
            place += 1 if (before.seq, row.seq) in beside else REACH + 1
        yield row, place
        before = row


def _order(row: StoredThread) -> tuple[str, int, str]:
    return row.thread, row.created_at, row.id
