"""The three rankings, over arrays: one text for every database, and for none. No model is needed.

============  ==============================================================================
mode          what counts
============  ==============================================================================
`KEYWORD`     how many of the words
`FULL_TEXT`   BM25
`CONTEXT`     BM25 with what stands around a record, who says it and when, and with its meaning
============  ==============================================================================

A store gives the postings of the tokens that are asked for, and its documents in columns
(`columns`). Nothing is made for a hit but numbers. Scores are rounded before anything is ordered
by them, so that the order is the same on every machine and database; of equal ones the newest
entry comes first. Weights are computed and added in one order, element by element: no sum here
depends on how a library cuts it up.

In context, a question is put in one record of a conversation and answered in the next: the answer
has none of the words that lead to it. So each word that is asked for counts once for a record,
where it weighs most: in the record itself, or in one up to `REACH` places before or after it in
its thread and at most `GAP` apart, damped by the distance. Words are taken from the `SEEDS` best
records only (by their own words; from more, if more results are asked for), so that the work has
a bound. What that and the rest come to is added up in `scores`.

With a model, other words may stand for those of the question (`near_words`), and what is nearest in
meaning is looked at as well.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple, Protocol

from memoranda.recall.arrays import np
from memoranda.recall.bm25 import Scored, Statistics, Weights
from memoranda.recall.columns import Columns, Neighbours, Numbers
from memoranda.recall.confidence import Calibration
from memoranda.recall.near_words import NO_STAND_INS, StandIns
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.reasons import Reason
from memoranda.recall.scores import (
    NOTHING,
    NOTHING_BY_WORDS,
    NOTHING_IN_THREADS,
    SHARPER,
    Evidence,
    alone,
    confidences,
    in_threads,
    nothing_among,
    rounded,
)
from memoranda.text import Query, QueryWord
from memoranda.text.tokens import LENGTHS

DAMPING: Final = (1.0, 0.7, 0.5, 0.35, 0.25)
"""What a word counts that is 0, 1, 2 … places away."""

SEEDS: Final = 64
"""Records whose words count for their neighbours."""

SEED_IN_TIME: Final = 2.0
"""What a record's words count for the choice of seeds, said at the time that is asked for."""

ALIKE: Final = 2.0
"""Deviations from which on a reason says that a record is near in meaning."""

NEAREST: Final = 40
"""So many of the nearest in meaning are looked at, whatever words they have."""

_SPARSE: Final = 4
_MORE: Final = 16


class RankingMode(StrEnum):
    """How records are ranked."""

    KEYWORD = "keyword"
    FULL_TEXT = "full-text"
    CONTEXT = "context"


CALIBRATIONS: Final[Mapping[RankingMode, Calibration]] = {
    RankingMode.KEYWORD: Calibration(even=4.0, power=4),
    RankingMode.FULL_TEXT: Calibration(even=6.0, power=2),
}


class Postings(NamedTuple):
    """The entries that have a token, in order, each once; and a kind of each (`text.tokens`)."""

    seqs: Numbers
    kinds: Numbers


def seeds_for(limit: int) -> int:
    """Of how many records the words count in `CONTEXT`, where so many results are asked for."""
    return max(SEEDS, limit)


# ------------------------------------------------------------------------------------------------
# Which entries have anything of what is asked for.


class Matches:
    """The postings of some tokens laid side by side.

    Where they are many, an entry has the place of its number; where they are few among many
    entries, only those that are in a posting have a place.
    """

    def __init__(self, postings: Mapping[str, Postings], size: int) -> None:
        """`size` is how many entries there are."""
        self._postings = postings
        total = sum(len(own.seqs) for own in postings.values())
        self._names: Numbers | None = None
        self._size = size
        if total * _SPARSE < size:
            every = [own.seqs for own in postings.values()]
            self._names = np.unique(np.concatenate(every)) if every else np.zeros(0, np.int64)
            self._size = len(self._names)

    def weighed(self, weights: Weights, stand_ins: StandIns = NO_STAND_INS) -> Numbers:
        """What all tokens of each entry weigh together, by its place.

        A token weighs what it does itself, or what stands for it: whatever is most.
        """
        total = np.zeros(self._size)
        for token in weights.tokens:
            others = [other for other in stand_ins.get(token, ()) if other.token in self._postings]
            if token in self._postings and not others:
                seqs, kinds = self._postings[token]
                total[self._places(seqs)] += weights.of(token, kinds)
            elif others:
                most = np.zeros(self._size)
                if token in self._postings:
                    seqs, kinds = self._postings[token]
                    most[self._places(seqs)] = weights.of(token, kinds)
                for other in others:
                    seqs, kinds = self._postings[other.token]
                    at = self._places(seqs)
                    found = weights.of(other.token, kinds) * other.weight
                    most[at] = np.maximum(most[at], found)
                total += most
        return total

    def counted(self, words: Sequence[QueryWord]) -> Numbers:
        """How many of the words each entry has: the seeds' rule, with our tokens."""
        total = np.zeros(self._size)
        for word in words:
            total += self.having(word)
        return total

    def matching(self, query: Query, *, every: bool) -> Numbers:
        """The entries that have every word of a query, or any: what `text.matches` says of them."""
        found = [self.having(word) for word in query.words]
        return self.entries((np.logical_and if every else np.logical_or).reduce(found))

    def having(self, word: QueryWord) -> Numbers:
        """Whether each entry has a word: all tokens of one of its alternatives."""
        found = np.zeros(self._size, np.bool_)
        for needed in word.alternatives:
            found |= np.logical_and.reduce([self._has(token) for token in needed])
        return found

    def entries(self, chosen: Numbers) -> Numbers:
        """The numbers of the entries whose place is true, or not zero."""
        at = np.flatnonzero(chosen)
        return at if self._names is None else self._names[at]

    def _has(self, token: str) -> Numbers:
        found = np.zeros(self._size, np.bool_)
        if token in self._postings:
            found[self._places(self._postings[token].seqs)] = True
        return found

    def _places(self, seqs: Numbers) -> Numbers:
        return seqs if self._names is None else np.searchsorted(self._names, seqs)


class Best:
    """Entries with what they scored; the best first, then the newest, as many as are asked for."""

    def __init__(self, seqs: Numbers, scores: Numbers) -> None:
        self.seqs, self.scores = seqs, scores

    def __len__(self) -> int:
        return len(self.seqs)

    def first(self, limit: int) -> tuple[Numbers, Numbers]:
        seqs, scores = self.seqs, self.scores
        if 0 < limit < len(scores):
            reached = scores >= np.partition(scores, len(scores) - limit)[len(scores) - limit]
            seqs, scores = seqs[reached], scores[reached]
        order = np.lexsort((-seqs, -scores))[:limit]
        return seqs[order], scores[order]

    def pairs(self, limit: int) -> list[tuple[int, float]]:
        """The same, one by one."""
        seqs, scores = self.first(limit)
        return list(zip(seqs.tolist(), scores.tolist(), strict=True))


# ------------------------------------------------------------------------------------------------
# In context: what a record has of a question, as numbers.


class Nearness(Protocol):
    """How near the documents of a scope are to a question, in deviations from their mean."""

    def of(self, entries: Numbers, /) -> Numbers:
        """Of some; 0 for what has no vector, and what is below the mean."""
        ...

    def nearest(self, most: int, /) -> Numbers:
        """Those above the mean, the nearest first; of those that are equally near, the newest."""
        ...


class _Context:
    """The seeds of one question, and what their words reach."""

    def __init__(self, weighed: Numbers, around: Neighbours) -> None:
        """`weighed` has a row for each seed and a column for each token."""
        self._weighed, self._pairs = weighed, around
        self.near, self._at = np.unique(around.near, return_inverse=True)

    @cached_property
    def reached(self) -> Numbers:
        """For each record near a seed, the greatest weight of each token."""
        found = np.zeros((len(self.near), self._weighed.shape[1]))
        for offset in np.unique(self._pairs.offsets):
            rows = self._pairs.offsets == offset  # from each seed to another record
            at, damping = self._at[rows], DAMPING[abs(int(offset))]
            found[at] = np.maximum(found[at], self._weighed[self._pairs.seeds[rows]] * damping)
        return found

    def raised(self, values: Numbers, *, after: int | None = None) -> Numbers:
        """For each record near a seed, the greatest of what the seeds have, damped.

        With `after`, only of the seed so many places before it, as it is.
        """
        found = np.zeros(len(self.near))
        for offset in np.unique(self._pairs.offsets) if after is None else [after]:
            rows = self._pairs.offsets == offset
            damping = DAMPING[abs(int(offset))] if after is None else 1.0
            damped = values[self._pairs.seeds[rows]] * damping
            found[self._at[rows]] = np.maximum(found[self._at[rows]], damped)
        return found

    @property
    def is_threaded(self) -> bool:
        """Whether the seeds stand in threads: most of them have a neighbour."""
        seeds = len(self._weighed)
        return 2 * len(np.unique(self._pairs.seeds[self._pairs.offsets != 0])) > seeds

    def distances(self, seq: int) -> list[tuple[int, int]]:
        """For each token that counts for a record, how many places after it that stands.

        Negative is before it. Of equal weights the nearest counts, then the one before.
        """
        rows = np.flatnonzero(self._pairs.near == seq)
        best: dict[int, tuple[float, int, int]] = {}
        for row in rows.tolist():
            offset = int(self._pairs.offsets[row])
            for token, weight in enumerate(self._weighed[self._pairs.seeds[row]].tolist()):
                share = (weight * DAMPING[abs(offset)], -abs(offset), offset)
                if weight and (token not in best or share > best[token]):
                    best[token] = share
        return [(token, -offset) for token, (_, _, offset) in best.items()]


def _placed(seqs: Numbers, known: Numbers, values: Numbers) -> Numbers:
    """Values of some entries, by their places among others; 0 for those that are not known."""
    found = np.zeros(len(seqs))
    if len(seqs) and len(known):
        at = np.minimum(np.searchsorted(seqs, known), len(seqs) - 1)
        there = seqs[at] == known
        found[at[there]] = values[there]
    return found


def _added(columns: Numbers) -> Numbers:
    """The sum of each row, from the first column to the last."""
    total = np.zeros(len(columns))
    for number in range(columns.shape[1]):
        total += columns[:, number]
    return total


# ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ranked:
    """A question to a scope at one moment: who comes first, and why."""

    mode: RankingMode
    asked: ParsedQuestion
    postings: Mapping[str, Postings]
    columns: Columns
    size: int
    limit: int
    only: Collection[int] | None = None
    """The entries that are looked at; all, if None."""
    stand_ins: StandIns = field(default_factory=lambda: NO_STAND_INS)
    """What may stand for the tokens of the question."""
    alike: Nearness | None = None
    """How near in meaning each is; None without a model."""

    @cached_property
    def statistics(self) -> Statistics:
        frequencies = {token: len(own.seqs) for token, own in self.postings.items()}
        return Statistics(self.columns.documents, self.columns.length, frequencies)

    @cached_property
    def weights(self) -> Weights:
        others = {other.token: None for found in self.stand_ins.values() for other in found}
        return Weights(self.asked.tokens, self.statistics, others=tuple(others))

    @cached_property
    def hits(self) -> Best:
        """Every record that has anything of what is asked for."""
        matches = Matches(self.postings, self.size)
        if self.mode is RankingMode.KEYWORD:
            found = matches.counted(self.asked.words)
        else:
            found = matches.weighed(self.weights, self.stand_ins)
        seqs, scores = matches.entries(found), rounded(found[found > 0])
        kept = self._looked_at(seqs)
        return Best(seqs[kept], scores[kept])

    @cached_property
    def found(self) -> Best:
        """What is ordered: the hits; in context, the best of them and what stands around."""
        if self.mode is not RankingMode.CONTEXT:
            return self.hits
        return Best(self.seqs, self.scores)

    @cached_property
    def seqs(self) -> Numbers:
        """What may be found in context: near the seeds, or nearest in meaning; in order."""
        found = self._context.near
        if self.alike is not None:
            found = np.union1d(found, self.alike.nearest(max(NEAREST, self.limit)))
        return found[self._looked_at(found)]

    @cached_property
    def evidence(self) -> Evidence:
        """What is known of all that may be found in context."""
        seqs, columns, context = self.seqs, self.columns, self._context
        bound = self.weights.bound or 1.0
        seeds, scores = self._seeds
        own = _placed(seqs, seeds, scores / bound)
        if self.alike is not None:  # what is no seed may still have some of the words
            own = np.maximum(own, self._own(seqs) / bound)
        around = np.maximum(_placed(seqs, context.near, _added(context.reached) / bound), own)
        answers = context.raised(scores / bound * columns.questions[seeds], after=1)
        alike = np.zeros(len(seqs))
        if self.alike is not None:
            alike = self.alike.of(seqs)
            if context.is_threaded:
                raised = context.raised(self.alike.of(seeds))
                alike = np.maximum(alike, _placed(seqs, context.near, raised))
        period = self.asked.period
        named = columns.named(self.asked.tokens)[columns.speakers[seqs]]
        in_time = np.zeros(len(seqs)) if period is None else period.each(columns.times[seqs])
        return Evidence(
            own,
            around,
            named.astype(np.float64),
            np.asarray(in_time, np.float64),
            np.array(LENGTHS, np.float64)[columns.classes[seqs]],
            columns.questions[seqs].astype(np.float64),
            _placed(seqs, context.near, answers),
            alike,
        )

    @cached_property
    def scores(self) -> Numbers:
        return (in_threads if self.is_threaded else alone)(self.evidence)

    @property
    def is_threaded(self) -> bool:
        return self._context.is_threaded

    @cached_property
    def _confidences(self) -> Mapping[int, float]:
        nothing = NOTHING if self.evidence.alike.any() else NOTHING_BY_WORDS
        if self.is_threaded:
            nothing = NOTHING_IN_THREADS
        nothing = nothing_among(self.columns.documents, nothing)
        sharpness = SHARPER if self.is_threaded and self.alike is None else 1.0
        scores = self.scores * sharpness
        sure = confidences(scores, nothing * sharpness, is_unheard=self._is_unheard)
        return dict(zip(self.seqs.tolist(), sure.tolist(), strict=True))

    @property
    def _is_unheard(self) -> bool:
        """Whether no record knows whom the question names: the first of several names counts.

        What else is named is often not called by its name in the answer: a book, a town.
        """
        names = self.asked.names
        named = (word for word in self.asked.words if word.text.removesuffix("'s") in names)
        first = next(named, None)
        return first is not None and not self._is_known(first)

    def _is_known(self, word: QueryWord) -> bool:
        """Whether any record has a word, by any spelling, or is said by whom it names."""
        return any(
            token in self.postings
            or any(not other.is_near for other in self.stand_ins.get(token, ()))
            or any(token in name for name in self.columns.names)
            for needed in word.alternatives
            for token in needed
        )

    def first(self, limit: int) -> list[tuple[int, float]]:
        """The entries of the best, with their scores."""
        return self.found.pairs(limit)

    def scored(self, seq: int, points: float, id: str) -> Scored:
        """A record that was found, with its confidence and its reason."""
        time = int(self.columns.times[seq])
        if self.mode is RankingMode.CONTEXT:
            sure = self._confidences[seq]
            return Scored(id, seq, time, points, sure, self._reason(seq, time))
        bound = self.weights.bound
        if self.mode is RankingMode.KEYWORD:
            bound = float(len(self.asked.words))
        sure = CALIBRATIONS[self.mode].confidence(points, bound, self.columns.documents)
        return Scored(id, seq, time, points, sure, self._reason(seq, time))

    # --------------------------------------------------------------------------- parts

    @cached_property
    def _seeds(self) -> tuple[Numbers, Numbers]:
        """The best by their own words, those of the time that is asked for before others."""
        if self.asked.period is None:
            return self.hits.first(seeds_for(self.limit))
        seqs, scores = self.hits.first(len(self.hits))
        in_time = self.asked.period.each(self.columns.times[seqs])
        emphasis = np.where(in_time, SEED_IN_TIME, 1.0)
        order = np.lexsort((-seqs, -scores * emphasis))[: seeds_for(self.limit)]
        return seqs[order], scores[order]

    @cached_property
    def _context(self) -> _Context:
        seeds, _ = self._seeds
        return _Context(self._weighed(seeds), self.columns.around(seeds))

    def _weighed(self, seqs: Numbers) -> Numbers:
        """What each token of the question weighs in some records, itself or what stands for it."""
        weighed = np.zeros((len(seqs), len(self.weights.tokens)))
        for number, token in enumerate(self.weights.tokens):
            if token in self.postings:
                weighed[:, number] = self._weights_at(token, seqs)
            for other in self.stand_ins.get(token, ()):
                if other.token in self.postings:
                    found = self._weights_at(other.token, seqs) * other.weight
                    weighed[:, number] = np.maximum(weighed[:, number], found)
        return weighed

    def _own(self, seqs: Numbers) -> Numbers:
        return _added(self._weighed(seqs))

    def _weights_at(self, token: str, seqs: Numbers) -> Numbers:
        own = self.postings[token]
        at = np.minimum(np.searchsorted(own.seqs, seqs), max(len(own.seqs) - 1, 0))
        if not len(own.seqs):
            return np.zeros(len(seqs))
        found: Numbers = np.where(own.seqs[at] == seqs, self.weights.of(token, own.kinds[at]), 0.0)
        return found

    def _looked_at(self, seqs: Numbers) -> Numbers:
        if self.only is None:
            return np.ones(len(seqs), np.bool_)
        return np.isin(seqs, list(self.only))

    def _tokens_at(self, seq: int) -> set[str]:
        known = self._tokens_of
        return known[seq] if seq in known else self._having(np.array([seq]))[seq]

    @cached_property
    def _tokens_of(self) -> Mapping[int, set[str]]:
        """What the best have of the tokens that are asked for, and of those that stand for them."""
        return self._having(self.found.first(self.limit + _MORE)[0])

    def _having(self, seqs: Numbers) -> dict[int, set[str]]:
        found: dict[int, set[str]] = {seq: set() for seq in seqs.tolist()}
        for token, own in self.postings.items():
            at = np.minimum(own.seqs.searchsorted(seqs), len(own.seqs) - 1)
            for seq in seqs[own.seqs[at] == seqs].tolist():
                found[seq].add(token)
        return found

    # ------------------------------------------------------------------------- reasons

    def _reason(self, seq: int, time: int) -> Reason:
        words = self.asked.words
        if self.mode is RankingMode.CONTEXT:
            return self._placed(seq, time)
        has = self._tokens_at(seq)
        if self.mode is RankingMode.KEYWORD:
            return Reason(matched=tuple(word.text for word in words if word.is_in(has)))
        return Reason(matched=tuple(word.text for word in words if _has(word, has)))

    def _near(self, seq: int) -> Iterator[tuple[str, str]]:
        """The words of the question that others stand for here, with the tokens that do."""
        has = self._tokens_at(seq)
        for word in self.asked.words:
            tokens = [token for needed in word.alternatives for token in needed]
            if has.isdisjoint(tokens):
                others = (other for token in tokens for other in self.stand_ins.get(token, ()))
                here = [other for other in others if other.token in has]
                if here:
                    yield word.text, max(here, key=lambda other: other.weight).token

    def _placed(self, seq: int, time: int) -> Reason:
        tokens = self.weights.tokens
        distances = {tokens[token]: away for token, away in self._context.distances(seq)}
        away = [(word.text, _distance(word, distances)) for word in self.asked.words]
        period = self.asked.period
        speaker = self.columns.names[self.columns.speakers[seq]]
        alike = 0.0 if self.alike is None else float(self.alike.of(np.array([seq]))[0])
        has_words = any(distance is not None for _, distance in away)
        has = self._tokens_at(seq) if self.stand_ins else None
        own = {word.text for word in self.asked.words if has is None or _has(word, has)}
        return Reason(
            matched=tuple(word for word, distance in away if distance == 0 and word in own),
            near=tuple(self._near(seq)),
            meaning=alike >= ALIKE or (alike > 0 and not has_words),
            next_to=tuple(dict.fromkeys(distance for _, distance in away if distance)),
            said_by=tuple(word.text for word in self.asked.words if _has(word, speaker)),
            period=period.text if period is not None and period.has(time) else None,
        )


def _has(word: QueryWord, tokens: Collection[str]) -> bool:
    return any(token in tokens for needed in word.alternatives for token in needed)


def _distance(word: QueryWord, distances: Mapping[str, int]) -> int | None:
    """How far away the nearest of a word's tokens is; None if it is nowhere."""
    found = [distances[t] for needed in word.alternatives for t in needed if t in distances]
    return min(found, key=lambda distance: (abs(distance), distance)) if found else None
