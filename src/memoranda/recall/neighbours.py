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
from typing import Final

from memoranda.recall.candidates import Candidate

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


class Surroundings:
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
        for one in candidates:
            if one.thread is not None:
                by_place.setdefault(one.thread, {})[one.place] = one
        number = {token: place for place, token in enumerate(self._tokens)}
        found: dict[str, tuple[Candidate, list[float]]] = {}
        for seed, own in self._seeds:
            weights = [(number[token], weight) for token, weight in own.items()]
            _raise(found, seed, weights, 1.0, len(number))
            beside, place, at = by_place.get(seed.thread, _NOTHING), seed.place, seed.created_at
            for offset in _AROUND if beside else ():
                near = beside.get(place + offset)
                if near is not None and -GAP <= near.created_at - at <= GAP:
                    _raise(found, near, weights, DAMPING[abs(offset)], len(number))
        yield from found.values()

    def distances(self, one: Candidate) -> dict[str, int]:
        """How many places after a candidate each token stands that counts for it; 0 is in itself.

        Negative is before it. Of equal weights the nearest counts, then the one before.
        """
        best: dict[str, tuple[float, int, int]] = {}
        for seed, own in self._around(one):
            offset = one.place - seed.place if seed.id != one.id else 0
            for token, weight in own.items():
                share = (weight * DAMPING[abs(offset)], -abs(offset), offset)
                if token not in best or share > best[token]:
                    best[token] = share
        return {token: -offset for token, (_, _, offset) in best.items()}

    def _around(self, one: Candidate) -> Iterator[Seed]:
        """The seeds whose words reach a candidate."""
        if one.thread is None:
            yield from (seed for seed in self._seeds if seed[0].id == one.id)
            return
        for offset in range(-REACH, REACH + 1):
            for seed in self._by_place.get((one.thread, one.place + offset), ()):
                is_near = offset and abs(seed[0].created_at - one.created_at) <= GAP
                if is_near or seed[0].id == one.id:
                    yield seed


def _raise(
    found: dict[str, tuple[Candidate, list[float]]],
    one: Candidate,
    weights: list[tuple[int, float]],
    damping: float,
    size: int,
) -> None:
    """Raise the weights of a candidate to those given, damped, where these are greater."""
    known = found.get(one.id)
    if known is None:
        known = found[one.id] = (one, [0.0] * size)
    highest = known[1]
    for number, weight in weights:
        damped = weight * damping
        if damped > highest[number]:  # noqa: PLR1730 - a call of max for each would double it
            highest[number] = damped
