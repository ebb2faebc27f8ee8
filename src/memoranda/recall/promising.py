"""Whose surroundings are worth reading: what can't be among the first results is left unread.

Each seed has at least what its own words weigh, so that a number of results have at least what the
best so many seeds have: that is the line. What stands around seeds has at most what all words of
the seeds of its thread weigh together, the next place damped: where that does not reach the line,
nothing of that thread comes first but the seeds themselves, if they stand alone in it.

Bounds are added and multiplied in the same order as scores. Rounding keeps the order of sums and
of products, so that no score is above its bound by a bit.
"""

from collections.abc import Sequence
from heapq import nlargest

from memoranda.recall.bm25 import added
from memoranda.recall.emphasis import Emphasis
from memoranda.recall.neighbours import DAMPING, Seed


class Promising:
    """The threads that may lead to one of the first results, and what these have at least."""

    def __init__(
        self, seeds: Sequence[Seed], tokens: Sequence[str], wanted: int, emphasis: Emphasis
    ) -> None:
        """For the first so many results; of fewer seeds than these, all threads may."""
        self._seeds: dict[str, list[Seed]] = {}
        for seed in seeds:
            if seed[0].thread is not None:
                self._seeds.setdefault(seed[0].thread, []).append(seed)
        self._tokens = tokens
        self._emphasis = emphasis
        self.line = float("-inf")
        """What the first results have at least."""
        if 0 < wanted <= len(seeds):
            own = (emphasis.of(added(weights.values()), one) for one, weights in seeds)
            self.line = nlargest(wanted, own)[-1]

    def may(self, thread: str, *, is_named: bool = True) -> bool:
        """Whether a thread may; `is_named` says that the question may name who says its records."""
        return self._bound(thread, is_named=is_named) >= self.line

    def _bound(self, thread: str, *, is_named: bool) -> float:
        """What nothing in a thread has more than, but for a seed that stands alone in it."""
        seeds = self._seeds[thread]
        if len(seeds) == 1:
            ((_, weights),) = seeds
            each = (weight * DAMPING[1] for weight in weights.values())
        else:
            each = (max(own.get(token, 0.0) for _, own in seeds) for token in self._tokens)
        return self._emphasis.most(added(each), is_named=is_named)
