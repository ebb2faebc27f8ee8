"""What stands around a record in its thread, among what is active now, the tail included.

A store reads, for each seed, a few rows before and after it in the order of its thread; here they
become places (`recall.neighbours`): records that follow each other are one place apart, and what
no window has side by side is further apart than any word reaches.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from recollect.ledger.unit import StoredThread
from recollect.recall.neighbours import GAP, REACH
from recollect.stores.tail import Tail


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
        return next(self.windows([seed], stored))

    def windows(
        self, seeds: Sequence[StoredThread], stored: Iterable[StoredThread]
    ) -> Iterator[Sequence[StoredThread]]:
        """The same for several seeds of one thread, from all rows that were read of it."""
        rows = {row.seq: row for row in stored if row.seq not in self._gone}
        rows |= {row.seq: row for row in self._added.get(seeds[0].thread, ())}
        rows |= {seed.seq: seed for seed in seeds}
        ordered = sorted(rows.values(), key=_order)
        places = {row.seq: at for at, row in enumerate(ordered)}
        for seed in seeds:
            at = places[seed.seq]
            yield ordered[max(at - REACH, 0) : at + REACH + 1]


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


def placed(windows: Iterable[Sequence[StoredThread]]) -> dict[int, tuple[StoredThread, int]]:
    """Every row of some windows with its place in its thread, by the number of its entry."""
    rows: dict[int, StoredThread] = {}
    beside: set[tuple[int, int]] = set()
    for one in windows:
        rows |= {row.seq: row for row in one}
        beside |= {(row.seq, after.seq) for row, after in pairwise(one)}
    found: dict[int, tuple[StoredThread, int]] = {}
    before: StoredThread | None = None
    place = 0
    for row in sorted(rows.values(), key=_order):
        if before is not None:
            place += 1 if (before.seq, row.seq) in beside else REACH + 1
        found[row.seq] = (row, place)
        before = row
    return found


def _order(row: StoredThread) -> tuple[str, int, str]:
    return row.thread, row.created_at, row.id
