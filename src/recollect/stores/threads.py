"""What stands around a record in its thread, among what is active now, the tail included.

A store reads, for each seed, a few rows before and after it in the order of its thread; here they
become places (`recall.neighbours`): records that follow each other are one place apart, and what
no window has side by side is further apart than any word reaches.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from recollect.ledger.unit import StoredThread
from recollect.recall.neighbours import REACH
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
        rows = {row.seq: row for row in stored if row.seq not in self._gone}
        rows |= {row.seq: row for row in self._added.get(seed.thread, ())}
        rows[seed.seq] = seed
        ordered = sorted(rows.values(), key=_order)
        at = ordered.index(seed)
        return ordered[max(at - REACH, 0) : at + REACH + 1]


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
