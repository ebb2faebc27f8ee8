"""A ranking in context, in two steps: what may come first is read first (`recall.promising`).

1. the surroundings of the seeds in promising threads are read, and looked at where that still
   promises something; what reaches the line comes first, in its order
2. only if that is not enough, say because some of it is not wanted, all surroundings are read; the
   rest comes in its order

So the result is the same as if all had been read at once.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from memoranda.ledger.unit import StoredThread
from memoranda.recall.candidates import Candidate, Scored
from memoranda.recall.emphasis import Emphasis
from memoranda.recall.promising import Promising
from memoranda.recall.ranking import seeds_for
from memoranda.stores.scoring import Scoring
from memoranda.stores.threads import Row

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
        self._seeds = {one.seq: one for one, _ in seeds}
        self._limit, self._only = limit, only
        self.all = [row for _, row in seeds if row is not None]
        """The seeds that have a thread."""
        weights = scoring.weights
        weighed = [
            (one if row is None else one._replace(thread=row.thread), own)
            for one, row in seeds
            if (own := weights.of(one.counts, one.length))
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
        return takewhile(lambda one: one.score >= self._promising.line, self._ranked(around))

    def found_then(self, around: Placed, before: Collection[int]) -> Iterator[Scored]:
        """What comes after these entries, from the surroundings of `all`: 2."""
        return (one for one in self._ranked(around) if one.seq not in before)

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
