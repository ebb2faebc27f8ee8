"""What stands around a record in its thread, among what is active now, the tail included.

A store reads, for each seed, a few rows before and after it in the order of its thread; here they
become places (`recall.neighbours`): records that follow each other are one place apart, and what
no window has side by side is further apart than any word reaches.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Final, NamedTuple

from memoranda.ledger.snapshot import StoredThread
from memoranda.recall.bm25 import Candidate, Scored
from memoranda.recall.neighbours import GAP, REACH, Emphasis, Promising
from memoranda.recall.ranking import seeds_for
from memoranda.stores.scoring import Scoring
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
    for seed in sorted(seeds, key=_order):
        start, end = seed.created_at - GAP, seed.created_at + GAP
        if found and found[-1].thread == seed.thread and start <= found[-1].end:
            found[-1] = found[-1]._replace(end=end)
        else:
            found.append(Stretch(seed.thread, start, end))
    return found


def placed(windows: Iterable[Sequence[StoredThread]]) -> Iterator[tuple[StoredThread, int]]:
    """Every row of some windows with its place in its thread."""
    rows: dict[int, StoredThread] = {}
    adjacent: set[tuple[int, int]] = set()
    for window in windows:
        rows |= {row.seq: row for row in window}
        adjacent |= {(row.seq, after.seq) for row, after in pairwise(window)}
    before: StoredThread | None = None
    place = 0
    for row in sorted(rows.values(), key=_order):
        if before is not None:
            place += 1 if (before.seq, row.seq) in adjacent else REACH + 1
        yield row, place
        before = row


def _order(row: StoredThread) -> tuple[str, int, str]:
    return row.thread, row.created_at, row.id


# ------------------------------------------------------------------------------------------------
# A ranking in context, in two steps: what may come first is read first (`recall.neighbours`).
#
# 1. the surroundings of the seeds in promising threads are read, and looked at where that still
#    promises something; what reaches the line comes first, in its order
# 2. only if that is not enough, say because some of it is not wanted, all surroundings are read;
#    the rest comes in its order
#
# So the result is the same as if all had been read at once.

Placed = Iterable[tuple[Row, int]]
"""Rows of threads with their places there, each once."""

_NONE: Final[Mapping[str, int]] = {}
_NOBODY: Final[frozenset[str]] = frozenset()


class InContext:
    """One question in context, from its seeds: the best hits, `seeds_for(limit)` of them."""

    def __init__(
        self,
        scoring: Scoring,
        seeds: Sequence[tuple[Candidate, StoredThread | None]],
        *,
        limit: int,
        below: int,
        only: Collection[int] | None,
    ) -> None:
        """`below` more results than `limit` are wanted; `only` says which entries are looked at."""
        self._scoring = scoring
        self._seeds = {candidate.seq: candidate for candidate, _ in seeds}
        self._limit, self._only = limit, only
        self.all = [row for _, row in seeds if row is not None]
        """The seeds that have a thread."""
        weights = scoring.weights
        weighed = [
            (candidate if row is None else candidate._replace(thread=row.thread), own)
            for candidate, row in seeds
            if (own := weights.of(candidate.counts, candidate.length))
        ]
        self._emphasis = Emphasis(scoring.asked, weights.tokens)
        self._promising = Promising(weighed, weights.tokens, limit + below, self._emphasis)
        threads = {row.thread for row in self.all}
        read = {thread for thread in threads if self._promising.may(thread)}
        self.first = [row for row in self.all if row.thread in read]
        """Those whose surroundings are read first."""

    @property
    def has_more(self) -> bool:
        """Whether anything may come after what comes first: where all is wanted, nothing does."""
        return self._promising.line > float("-inf")

    def may(self, thread: str, speakers: Collection[str]) -> bool:
        """Whether a thread in which these speak may lead to anything that comes first."""
        named = any(self._emphasis.names(speaker.split()) for speaker in speakers if speaker)
        return self._promising.may(thread, is_named=named)

    def found_first(self, around: Placed) -> Iterator[Scored]:
        """What comes first, from the surroundings of `first`: 1."""
        return takewhile(lambda scored: scored.score >= self._promising.line, self._ranked(around))

    def found_then(self, around: Placed, before: Collection[int]) -> Iterator[Scored]:
        """What comes after these entries, from the surroundings of `all`: 2."""
        return (scored for scored in self._ranked(around) if scored.seq not in before)

    def _ranked(self, around: Placed) -> Iterator[Scored]:
        found = dict(self._seeds)
        for (thread, created_at, id, seq, speaker), place in around:
            own = found.get(seq)
            if own is None and self._only is not None and seq not in self._only:
                continue
            counts, length = (_NONE, 0) if own is None else (own.counts, own.length)
            said_by = frozenset(speaker.split()) if speaker else _NOBODY
            found[seq] = Candidate(id, seq, created_at, counts, length, place, thread, said_by)
        return self._scoring.one_by_one(found.values(), among=seeds_for(self._limit))
