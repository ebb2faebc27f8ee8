"""What stands around a record counts for it too, the less the further away.

A question is put in one record of a conversation and answered in the next: the answer has none of
the words that lead to it. So each word that is asked for counts once for a record, where it weighs
most: in the record itself, or in one up to `REACH` places before or after it in its thread and at
most `GAP` apart, damped by the distance. Two places halve it.

Words are taken from the `SEEDS` best records only (by their own words; from more, if more results
are asked for): so the work has a bound, and a store need read no more than these and who stands
around them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from typing import Final

from memoranda.recall.bm25 import Candidate, added
from memoranda.recall.question import ParsedQuestion

DAMPING: Final = (1.0, 0.7, 0.5, 0.35, 0.25)
"""What a word counts that is 0, 1, 2 … places away."""

REACH: Final = len(DAMPING) - 1

GAP: Final = 3_600_000
"""Milliseconds between two records from which on they are no neighbours."""

SEEDS: Final = 64
"""Records whose words count for their neighbours."""

_NOTHING: Final[Mapping[int, Candidate]] = {}
_AROUND: Final = tuple(offset for offset in range(-REACH, REACH + 1) if offset)


Seed = tuple[Candidate, Mapping[str, float]]
"""A record, and what each token that is asked for weighs in it."""


class Neighbourhood:
    """The seeds of one question, and whom their words reach.

    Nothing depends on the order of seeds or candidates: of several weights the greatest counts.
    """

    def __init__(self, seeds: Sequence[Seed], tokens: Sequence[str]) -> None:
        self._seeds = seeds
        self._tokens = tuple(tokens)
        self._by_place: dict[tuple[str, int], list[Seed]] = {}
        for seed in seeds:
            if seed[0].thread is not None:
                self._by_place.setdefault((seed[0].thread, seed[0].place), []).append(seed)

    def reached(self, candidates: Iterable[Candidate]) -> Iterator[tuple[Candidate, list[float]]]:
        """Each candidate that the words of a seed reach, with the greatest weight of each token.

        From the seeds outward: there are fewer of them, and this is most of the work of a ranking.
        """
        by_place: dict[str | None, dict[int, Candidate]] = {}
        for candidate in candidates:
            if candidate.thread is not None:
                by_place.setdefault(candidate.thread, {})[candidate.place] = candidate
        number = {token: place for place, token in enumerate(self._tokens)}
        found: dict[str, tuple[Candidate, list[float]]] = {}
        for seed, own in self._seeds:
            weights = [(number[token], weight) for token, weight in own.items()]
            _raise(found, seed, weights, 1.0, len(number))
            around, place, at = by_place.get(seed.thread, _NOTHING), seed.place, seed.created_at
            for offset in _AROUND if around else ():
                near = around.get(place + offset)
                if near is not None and -GAP <= near.created_at - at <= GAP:
                    _raise(found, near, weights, DAMPING[abs(offset)], len(number))
        yield from found.values()

    def distances(self, candidate: Candidate) -> dict[str, int]:
        """How many places after a candidate each token stands that counts for it; 0 is in itself.

        Negative is before it. Of equal weights the nearest counts, then the one before.
        """
        best: dict[str, tuple[float, int, int]] = {}
        for seed, own in self._around(candidate):
            offset = candidate.place - seed.place if seed.id != candidate.id else 0
            for token, weight in own.items():
                share = (weight * DAMPING[abs(offset)], -abs(offset), offset)
                if token not in best or share > best[token]:
                    best[token] = share
        return {token: -offset for token, (_, _, offset) in best.items()}

    def _around(self, candidate: Candidate) -> Iterator[Seed]:
        if candidate.thread is None:
            yield from (seed for seed in self._seeds if seed[0].id == candidate.id)
            return
        for offset in range(-REACH, REACH + 1):
            for seed in self._by_place.get((candidate.thread, candidate.place + offset), ()):
                is_near = offset and abs(seed[0].created_at - candidate.created_at) <= GAP
                if is_near or seed[0].id == candidate.id:
                    yield seed


def _raise(
    found: dict[str, tuple[Candidate, list[float]]],
    candidate: Candidate,
    weights: list[tuple[int, float]],
    damping: float,
    size: int,
) -> None:
    known = found.get(candidate.id)
    if known is None:
        known = found[candidate.id] = (candidate, [0.0] * size)
    highest = known[1]
    for number, weight in weights:
        damped = weight * damping
        if damped > highest[number]:  # noqa: PLR1730 - a call of max for each would double it
            highest[number] = damped


# ------------------------------------------------------------------------------------------------
# What a score is multiplied with: who says a record, and when it was made.

SAID_BY: Final = 1.5
"""What a score is multiplied with when the question names who says the record."""

IN_TIME: Final = 2.0
"""What a score is multiplied with when the record was made at the time the question names."""


class Emphasis:
    """What one question puts weight on."""

    def __init__(self, asked: ParsedQuestion, tokens: Iterable[str]) -> None:
        self._period = asked.period
        self._tokens = frozenset(tokens)

    def of(self, score: float, candidate: Candidate) -> float:
        """The score of a record, multiplied with what is so of it."""
        if candidate.speaker and self.names(candidate.speaker):
            score *= SAID_BY
        if self._period is not None and self._period.has(candidate.created_at):
            score *= IN_TIME
        return score

    def names(self, speaker: Iterable[str]) -> bool:
        """Whether the question names somebody by any of these tokens."""
        return not self._tokens.isdisjoint(speaker)

    def most(self, score: float, *, is_named: bool) -> float:
        """What the score of no record becomes more than; `is_named` if one may be said by whom."""
        if is_named:
            score *= SAID_BY
        return score if self._period is None else score * IN_TIME


# ------------------------------------------------------------------------------------------------
# Whose surroundings are worth reading: what can't be among the first results is left unread.
#
# Each seed has at least what its own words weigh, so that a number of results have at least what
# the best so many seeds have: that is the line. What stands around seeds has at most what all words
# of the seeds of its thread weigh together, the next place damped: where that does not reach the
# line, nothing of that thread comes first but the seeds themselves, if they stand alone in it.
#
# Bounds are added and multiplied in the same order as scores. Rounding keeps the order of sums and
# of products, so that no score is above its bound by a bit.


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
            own = (emphasis.of(added(weights.values()), candidate) for candidate, weights in seeds)
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
