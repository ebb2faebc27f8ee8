"""The three rankings that need no model.

============  ==========================================  ==================================
mode          what counts                                 what a store gives for it
============  ==========================================  ==================================
`KEYWORD`     how many of the words                       postings
`FULL_TEXT`   BM25                                        postings with counts, lengths;
                                                          statistics of the scope
`CONTEXT`     BM25 with what stands around, who says it   the same; of the best (`seeds`)
              and when                                    their threads, places and neighbours
============  ==========================================  ==================================

Pure functions over values: the same result for the same candidates in any order, and for the same
state on every machine and database. The order is total: score, then the newest entry.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from heapq import nsmallest
from typing import Final

from memoranda.recall.bm25 import Candidate, Scored, Statistics, Weights, added
from memoranda.recall.confidence import Calibration
from memoranda.recall.neighbours import SEEDS, Emphasis, Neighbourhood, Seed
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.reasons import Reason
from memoranda.text import QueryWord


class RankingMode(StrEnum):
    """How records are ranked."""

    KEYWORD = "keyword"
    FULL_TEXT = "full-text"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a store must give for a mode, besides the postings of the tokens that are asked for."""

    counts_and_lengths: bool = False
    statistics: bool = False
    neighbours: bool = False


NEEDS: Final[Mapping[RankingMode, Needs]] = {
    RankingMode.KEYWORD: Needs(),
    RankingMode.FULL_TEXT: Needs(counts_and_lengths=True, statistics=True),
    RankingMode.CONTEXT: Needs(counts_and_lengths=True, statistics=True, neighbours=True),
}

CALIBRATIONS: Final[Mapping[RankingMode, Calibration]] = {
    RankingMode.KEYWORD: Calibration(even=4.0, power=4),
    RankingMode.FULL_TEXT: Calibration(even=6.0, power=2),
    RankingMode.CONTEXT: Calibration(even=17.0, power=2),
}


def ranked(
    mode: RankingMode,
    asked: ParsedQuestion,
    candidates: Iterable[Candidate],
    statistics: Statistics,
    *,
    limit: int | None = None,
    among: int | None = None,
) -> list[Scored]:
    """The candidates that have anything of what is asked for, the best first.

    Reasons are made for what is returned, not for what is left out. In `CONTEXT` the words of
    `seeds_for(limit)` records count; `among` says so where another number is wanted.
    """
    return list(one_by_one(mode, asked, candidates, statistics, limit=limit, among=among))


def one_by_one(
    mode: RankingMode,
    asked: ParsedQuestion,
    candidates: Iterable[Candidate],
    statistics: Statistics,
    *,
    limit: int | None = None,
    among: int | None = None,
) -> Iterator[Scored]:
    """The same: all are scored at once, and reasons made as they are asked for, ten for ten."""
    weights = Weights(asked.tokens, statistics)
    bound = weights.bound
    if mode is RankingMode.KEYWORD:
        bound, found = float(len(asked.words)), _by_count(asked, candidates)
    elif mode is RankingMode.FULL_TEXT:
        found = _by_weight(weights, candidates)
    else:
        number = seeds_for(limit) if among is None else among
        found = _in_context(asked, weights, list(candidates), number)
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


def seeds_for(limit: int | None) -> int:
    """Of how many records the words count in `CONTEXT`, where so many results are asked for."""
    return SEEDS if limit is None else max(SEEDS, limit)


def seeds(
    asked: ParsedQuestion,
    candidates: Iterable[Candidate],
    statistics: Statistics,
    among: int = SEEDS,
) -> list[Candidate]:
    """The candidates whose words count in `CONTEXT`.

    A store that has many finds these first, and then hands `ranked` no others but them and what
    stands around them: the result is the same.
    """
    return [
        candidate for candidate, _ in _seeds(Weights(asked.tokens, statistics), candidates, among)
    ]


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
            yield -added(own.values()), -candidate.seq, candidate, partial(_weighed, own)


def _in_context(
    asked: ParsedQuestion, weights: Weights, candidates: list[Candidate], number: int
) -> Iterable[_Draft]:
    """BM25 in context.

    1. the best records by their own words are the seeds
    2. each word counts once for a record: where it weighs most, here or nearby
    3. who says it, and when, multiply the sum
    """
    emphasis = Emphasis(asked, weights.tokens)
    # 1. and 2.
    around = Neighbourhood(_seeds(weights, candidates, number), weights.tokens)
    reason_of = partial(_placed, around)
    for candidate, highest in around.reached(candidates):
        score = emphasis.of(added(highest), candidate)  # 3.
        yield -score, -candidate.seq, candidate, reason_of


def _seeds(weights: Weights, candidates: Iterable[Candidate], number: int) -> list[Seed]:
    weighed = (
        (candidate, weights.of(candidate.counts, candidate.length))
        for candidate in candidates
        if candidate.counts
    )
    return nsmallest(
        number,
        ((candidate, own) for candidate, own in weighed if own),
        key=lambda pair: (-added(pair[1].values()), -pair[0].seq),
    )


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
