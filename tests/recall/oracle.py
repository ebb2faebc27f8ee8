"""The rankings by their definition, record by record: what the engine must agree with."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from heapq import nsmallest
from typing import Final, NamedTuple

import numpy as np

from memoranda.recall import ranking
from memoranda.recall.bm25 import K1, B, Scored, Statistics
from memoranda.recall.columns import GAP, REACH
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import CALIBRATIONS, DAMPING, SEED_IN_TIME, RankingMode
from memoranda.recall.reasons import Reason
from memoranda.recall.scores import (
    NOTHING_BY_WORDS,
    NOTHING_IN_THREADS,
    SHARPER,
    STEPS,
    Evidence,
    alone,
    confidences,
    in_threads,
    nothing_among,
)
from memoranda.text import QueryWord
from memoranda.text.tokens import BEGINS_WITH, LENGTHS, class_of, kind_of

_NOBODY: Final[frozenset[str]] = frozenset()
_NOTHING: Final[Mapping[int, "Candidate"]] = {}
_AROUND: Final = tuple(offset for offset in range(-REACH, REACH + 1) if offset)


def even(score: float) -> float:
    """A score as it is ordered by."""
    return round(score * STEPS) / STEPS


def total_length(lengths: Iterable[int]) -> int:
    """What documents of these lengths count for together."""
    return sum(LENGTHS[class_of(length)] for length in lengths)


class Weights:
    """The weights of some tokens in the documents of a scope."""

    __slots__ = ("_idf", "_longer", "_short", "bound", "tokens")

    def __init__(
        self, tokens: Sequence[str], statistics: Statistics, *, k1: float = K1, b: float = B
    ) -> None:
        frequencies = statistics.frequencies
        self.tokens = tuple(sorted(tokens, key=lambda token: -frequencies.get(token, 0)))
        """The most frequent first, ties in the order of the question."""
        self._idf = {token: statistics.idf(token) * (k1 + 1) for token in self.tokens}
        self._short = k1 * (1 - b)
        self._longer = k1 * b / statistics.average_length
        self.bound = added(self._idf[token] for token in self.tokens)
        """What no document reaches, however often it has all of the tokens."""

    def weight(self, token: str, count: int, length: int) -> float:
        """What a token weighs that a document of this length has so often."""
        return self.weight_of(token, kind_of(count, length))

    def weight_of(self, token: str, kind: int) -> float:
        """The same, of a count and a length as a posting has them (`lengths.kind_of`)."""
        count, length = kind >> 8, LENGTHS[kind & 0xFF]
        return self._idf[token] * count / (count + (self._short + self._longer * length))

    def of(self, counts: Mapping[str, int], length: int) -> dict[str, float]:
        """What each token that the document has weighs in it, in the order of the tokens."""
        return {
            token: self.weight(token, count, length)
            for token in self.tokens
            if (count := counts.get(token, 0)) > 0
        }


def added(weights: Iterable[float]) -> float:
    """The sum, added one after the other: `sum` adds otherwise from Python 3.12 on."""
    total = 0.0
    for weight in weights:
        total += weight
    return total


class Candidate(NamedTuple):
    """A record as a ranking sees it.

    `seq` is the number of the entry that led to this version of it: no two have the same, and the
    highest is the newest. `counts` holds how often it has each token that is asked for (others may
    be in it); `length` is the number of all its tokens. `thread` is the conversation or the source
    that it is a part of and `place` its place in time there, each place once; a record of no
    thread stands alone. `speaker` holds the tokens of whoever says it.
    """

    id: str
    seq: int
    created_at: int
    counts: Mapping[str, int]
    length: int
    place: int = 0
    thread: str | None = None
    speaker: frozenset[str] = _NOBODY
    is_question: bool = False


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


def ranked(
    mode: RankingMode,
    asked: ParsedQuestion,
    candidates: Iterable[Candidate],
    statistics: Statistics,
    *,
    limit: int | None = None,
    among: int | None = None,
    scope: Sequence[Candidate] | None = None,
) -> list[Scored]:
    """The candidates that have anything of what is asked for, the best first.

    Reasons are made for what is returned, not for what is left out. In `CONTEXT` the words of
    `seeds_for(limit)` records count; `among` says so where another number is wanted. Where only
    some of a `scope` are candidates, who says more and what has neighbours is seen in all of it.
    """
    found = one_by_one(mode, asked, candidates, statistics, limit=limit, among=among, scope=scope)
    return list(found)


def one_by_one(
    mode: RankingMode,
    asked: ParsedQuestion,
    candidates: Iterable[Candidate],
    statistics: Statistics,
    *,
    limit: int | None = None,
    among: int | None = None,
    scope: Sequence[Candidate] | None = None,
) -> Iterator[Scored]:
    """The same: all are scored at once, and reasons made as they are asked for, ten for ten."""
    weights = Weights(asked.tokens, statistics)
    bound = weights.bound
    if mode is RankingMode.KEYWORD:
        bound, found = float(len(asked.words)), _by_count(asked, candidates)
    elif mode is RankingMode.FULL_TEXT:
        found = _by_weight(weights, candidates)
    else:
        number = (
            (ranking.SEEDS if limit is None else max(ranking.SEEDS, limit))
            if among is None
            else among
        )
        looked_at = list(candidates)
        found_there = _in_context(
            asked, weights, looked_at, number, looked_at if scope is None else scope
        )
        return iter(found_there[:limit])
    calibration = CALIBRATIONS[mode]

    def made(draft: _Draft) -> Scored:
        score, candidate, reason_of = -draft[0], draft[2], draft[3]
        sure = calibration.confidence(score, bound, statistics.documents)
        return Scored(
            candidate.id,
            candidate.seq,
            candidate.created_at,
            score,
            sure,
            reason_of(candidate, asked),
        )

    return map(made, sorted(found) if limit is None else nsmallest(limit, found))


# ----------------------------------------------------------------------------- the modes


_Draft = tuple[float, int, Candidate, Callable[[Candidate, ParsedQuestion], Reason]]
"""A candidate by its place in the order, and how its reason is made if anybody will read it.

Score and number of the entry are negative: so drafts stand in their order as they are, and no two
have the same."""


def _by_count(asked: ParsedQuestion, candidates: Iterable[Candidate]) -> Iterable[_Draft]:
    for candidate in candidates:
        if has := tuple(word.text for word in asked.words if word.is_in(candidate.counts)):
            yield -float(len(has)), -candidate.seq, candidate, partial(_matched, has)


def _by_weight(weights: Weights, candidates: Iterable[Candidate]) -> Iterable[_Draft]:
    for candidate in candidates:
        if own := weights.of(candidate.counts, candidate.length):
            yield -even(added(own.values())), -candidate.seq, candidate, partial(_weighed, own)


def _in_context(
    asked: ParsedQuestion,
    weights: Weights,
    candidates: list[Candidate],
    number: int,
    scope: Sequence[Candidate],
) -> list[Scored]:
    """BM25 in context.

    1. the best records by their own words are the seeds, those of the time asked for before others
    2. each word counts once for a record: where it weighs most, here or nearby
    3. all that is known of a record is added up; where most seeds stand alone, less of it counts
    """
    bound = weights.bound or 1.0
    # 1. and 2.
    seeds = _seeds(weights, candidates, number, asked)
    own = {seed.id: even(added(found.values())) / bound for seed, found in seeds}
    around = Neighbourhood(seeds, weights.tokens)
    reached = sorted(around.reached(candidates), key=lambda found: found[0].seq)
    # 3.
    rows = [
        (
            own.get(one.id, 0.0),
            max(added(highest) / bound, own.get(one.id, 0.0)),
            _is_named(one, asked, scope),
            asked.period is not None and asked.period.has(one.created_at),
            LENGTHS[class_of(one.length)],
            one.is_question,
            max((own[seed.id] for seed, _ in seeds if _answers(one, seed)), default=0.0),
            0.0,
        )
        for one, highest in reached
    ]
    columns = zip(*rows, strict=True) if rows else [()] * len(Evidence._fields)
    evidence = Evidence(*(np.array(list(column), float) for column in columns))
    near = sum(any(_near(seed, other) for other in scope) for seed, _ in seeds)
    is_threaded = 2 * near > len(seeds)
    scores = (in_threads if is_threaded else alone)(evidence)
    sharpness = SHARPER if is_threaded else 1.0
    named = [word for word in asked.words if word.text.removesuffix("'s") in asked.names]
    sure = confidences(
        scores * sharpness,
        nothing_among(len(scope), NOTHING_IN_THREADS if is_threaded else NOTHING_BY_WORDS)
        * sharpness,
        is_unheard=bool(named)
        and not any(_has(named[0], {*one.counts, *one.speaker}) for one in scope),
    )
    found = [
        Scored(one.id, one.seq, one.created_at, points, confidence, _placed(around, one, asked))
        for (one, _), points, confidence in zip(
            reached, scores.tolist(), sure.tolist(), strict=True
        )
    ]
    return sorted(found, key=lambda scored: (-scored.score, -scored.seq))


def _near(one: Candidate, other: Candidate) -> bool:
    """Whether two are neighbours in a thread."""
    return (
        one.thread is not None
        and one.thread == other.thread
        and 0 < abs(one.place - other.place) <= REACH
        and abs(one.created_at - other.created_at) <= GAP
    )


def _answers(one: Candidate, before: Candidate) -> bool:
    return before.is_question and _near(one, before) and one.place == before.place + 1


def _is_named(one: Candidate, asked: ParsedQuestion, scope: Sequence[Candidate]) -> bool:
    """Whether the question names who says it: somebody who was given, or says more than that."""
    says = sum(other.speaker == one.speaker for other in scope)
    return not one.speaker.isdisjoint(asked.tokens) and (BEGINS_WITH not in one.speaker or says > 1)


def _seeds(
    weights: Weights, candidates: Iterable[Candidate], number: int, asked: ParsedQuestion
) -> list[Seed]:
    weighed = (
        (candidate, weights.of(candidate.counts, candidate.length))
        for candidate in candidates
        if candidate.counts
    )

    def place(pair: Seed) -> tuple[float, int]:
        one, own = pair
        in_time = asked.period is not None and asked.period.has(one.created_at)
        score = even(added(own.values())) * (SEED_IN_TIME if in_time else 1.0)
        return -score, -one.seq

    return nsmallest(number, ((one, own) for one, own in weighed if own), key=place)


# ---------------------------------------------------------------------------- the reasons


def _matched(has: tuple[str, ...], _one: Candidate, _: ParsedQuestion) -> Reason:
    return Reason(matched=has)


def _weighed(own: Collection[str], _one: Candidate, asked: ParsedQuestion) -> Reason:
    return Reason(matched=tuple(word.text for word in asked.words if _has(word, own)))


def _placed(around: Neighbourhood, candidate: Candidate, asked: ParsedQuestion) -> Reason:
    distances = around.distances(candidate)
    away = [(word.text, _distance(word, distances)) for word in asked.words]
    in_time = asked.period is not None and asked.period.has(candidate.created_at)
    return Reason(
        matched=tuple(word for word, distance in away if distance == 0),
        next_to=tuple(dict.fromkeys(distance for _, distance in away if distance)),
        said_by=tuple(word.text for word in asked.words if _has(word, candidate.speaker)),
        period=asked.period.text if asked.period is not None and in_time else None,
    )


def _has(word: QueryWord, tokens: Collection[str]) -> bool:
    return any(token in tokens for needed in word.alternatives for token in needed)


def _distance(word: QueryWord, distances: Mapping[str, int]) -> int | None:
    """How far away the nearest of a word's tokens is; None if it is nowhere."""
    found = [distances[t] for needed in word.alternatives for t in needed if t in distances]
    return min(found, key=lambda distance: (abs(distance), distance)) if found else None
