"""The selector `hybrid`: by words in their context, and near in meaning, in one order.

The two lists are added up by `fusion.fused`, the words first and with nine times the weight: a
lead of more than a ninth of their best score is never overturned. No rule that sees only the lists
can promise to be as good as the better of them; what that came to is in docs/embeddings.md.

It is off unless a handle has an embedder: then CapabilityMissing. An embedder that fails leaves the
half that needs none, and a note, which makes the outcome degraded.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import EntryDamaged, InvalidFilter, ModelFailed
from memoranda.ledger.unit import Current
from memoranda.recall.embedder import Embedder, embedded, stored_as
from memoranda.recall.index import fits
from memoranda.recall.ranking import RankingMode
from memoranda.recall.reasons import ago
from memoranda.recall.selector import Below, Chosen, Nearest, Request, Selection, Sources
from memoranda.recall.vectors import Embedding, Near, VectorIndex, without_vector

# ------------------------------------------------------------------------------------------------
# Near in meaning: the records whose vectors are nearest to that of the question.

FEW: Final = 64
"""So many without a vector are embedded by whoever asks; with more, `embed_missing` is called."""

ONLY_NEAR: Final = 0.1
"""The most that is said for what has no word of the question.

No similarity is a measure of its own: what 0.8 means is each model's affair, and was measured for
none. See docs/embeddings.md.
"""


class Meaning:
    """The nearest records of one scope, by one embedder."""

    def __init__(self, embedder: Embedder, index: VectorIndex) -> None:
        self._embedder = embedder
        self._index = index
        self._model = stored_as(embedder)

    async def nearest(
        self, request: Request, limit: int, damaged: list[EntryDamaged] | None = None
    ) -> Nearest:
        """The records nearest in meaning to a question; what is damaged is put into the list.

        1. the question is embedded; ModelFailed, and nothing was found
        2. a few records that have no vector yet get one, if the embedder goes on answering
        3. all vectors are compared
        """
        # 1
        (vector,) = await embedded(self._embedder, [request.query])
        # 2
        if 0 < await self._index.count_missing(self._model) <= FEW:
            await self._bring_forward()

        def make(current: Current, near: Near) -> Chosen | None:
            if not request.accepts(current) or not fits(request.constraints.filter, current):
                return None
            reason = f"{near_reason(near.similarity)}; {ago(request.at - current.created_at)}"
            sure = only_near(near.similarity)
            return Chosen(reason, sure, current.id, None, near.similarity, current, near.seq)

        # 3
        found = await self._index.nearest(self._model, vector, limit, make, damaged)
        return Nearest([value for value in found.made if isinstance(value, Chosen)], found.missing)

    async def _bring_forward(self) -> None:
        missing = await self._index.missing(self._model, FEW)
        await self._index.put(self._model, without_vector(missing))
        missing = [unembedded for unembedded in missing if unembedded.text]
        try:
            vectors = await embedded(self._embedder, [unembedded.text for unembedded in missing])
        except ModelFailed:
            return  # they are still missing, are counted below, and the selection says so
        found = zip(missing, vectors, strict=True)
        await self._index.put(
            self._model,
            [Embedding(unembedded.id, unembedded.seq, vector) for unembedded, vector in found],
        )


def near_reason(similarity: float) -> str:
    """Why something was found by its vector: ``near in meaning (0.83)``."""
    return f"near in meaning ({similarity:.2f})"


def only_near(similarity: float) -> float:
    """How sure it is that something helps of which no more is known than its similarity."""
    return round(ONLY_NEAR * min(max(similarity, 0.0), 1.0), 6)


# ------------------------------------------------------------------------------------------------
# One list of several: what two selectors find together.
#
# No rule that sees only the lists can promise to be as good as the better of them: it doesn't know
# which that is. What is promised here, and tested:
#
# - what no list scores lower and one scores higher stands higher
# - a list without results changes nothing
# - a lead in the first list of more than the weight of all others divided by its own, as a part of
#   its best score, is never overturned: with weights 0.7 and 0.3, a lead of 3/7
#
# So the list that is known to be better comes first, with more weight.

Ranking = Sequence[tuple[str, float]]
"""Ids with their scores, the best first."""

MAIN: Final = 0.7
OTHER: Final = 0.3


def fused(lists: Sequence[Ranking], weights: Sequence[float] = (MAIN, OTHER)) -> Ranking:
    """Ids by the weighed sum of their scores, each as a part of the best score of its list."""
    total: dict[str, float] = {}
    for ranking, weight in zip(lists, weights, strict=True):
        best = max((score for _, score in ranking), default=0.0)
        for id, score in ranking if best > 0 else ():
            total[id] = total.get(id, 0.0) + weight * max(score, 0.0) / best
    return sorted(total.items(), key=lambda scored: (-scored[1], scored[0]))


LEFT_OUT: Final = 3
"""How many of those are named that were left out just below the line."""

WEIGHT: Final = 0.1
"""Of the meaning; the rest is the words'. Small models need no more (docs/embeddings.md)."""

DEEPER: Final = 5
AT_LEAST: Final = 50
"""Of each list so many times what is asked for are added up, and no fewer than these."""


@dataclass(frozen=True)
class Hybrid:
    """By words and by meaning, which weighs so much.

    Whoever has a better model gives it more weight, once `bench.evaluate` says that it pays.
    """

    weight: float = WEIGHT
    mode: RankingMode = RankingMode.CONTEXT
    actor: ActorRef | None = None
    name: str = "hybrid"

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise InvalidFilter("weight", "a weight is a number from 0 to 1")

    async def select(self, request: Request, sources: Sources) -> Selection:
        """The best of both.

        1. without an embedder there is no such selector: CapabilityMissing
        2. vectors are of what is current: of what was known then, words are all there is
        3. an embedder that fails leaves the words
        4. both lists in one; what has no vector yet is counted
        """
        depth = depth_of(request.top_k)
        notes: list[str] = []
        near = Nearest((), 0)
        # 1 and 2
        if request.constraints.as_of is not None:
            notes.append("found by words alone: embeddings are kept of what is current only")
        else:
            # 3
            try:
                near = await sources.nearest(request, depth)
            except ModelFailed as failure:
                notes.append(f"found by words alone: {failure}")
        words = await sources.ranked(self.mode, request, depth)
        # 4
        if near.missing:
            notes.append(_missing(near.missing))
        chosen = [
            choice
            for choice in together(words.chosen, near.chosen, self.weight)
            if choice.confidence >= request.constraints.min_confidence
        ]
        below = [
            Below(str(choice.id), choice.score or 0.0)
            for choice in chosen[request.top_k : request.top_k + LEFT_OUT]
        ]
        return Selection(chosen[: request.top_k], below, (*words.notes, *notes))


def depth_of(top_k: int) -> int:
    """How many of each list are added up for so many results."""
    return max(DEEPER * top_k, AT_LEAST) if top_k else 0


def together(
    words: Sequence[Chosen], near: Sequence[Chosen], weight: float = WEIGHT
) -> list[Chosen]:
    """Two lists in one, with the reasons of both.

    Confidence is that of the words, where there are some: it was measured, and how much more a
    near meaning adds to it was not.
    """
    by_words = {word.id: word for word in words}
    by_meaning = {chosen.id: chosen for chosen in near}
    lists = [_scores(words), above_the_last(_scores(near))]
    return [
        _both(by_words.get(id), by_meaning.get(id))._replace(score=score)
        for id, score in fused(lists, (1 - weight, weight))
    ]


def above_the_last(ranking: Ranking) -> Ranking:
    """Similarities by how far they stand above the lowest of the list.

    All texts of a language are somewhat near to each other, of one model more and of another
    less: how near they all are says nothing about any of them. Equals stay equal, and are there.
    """
    scores = [score for _, score in ranking]
    lowest = min(scores, default=0.0)
    if max(scores, default=0.0) == lowest:
        return [(id, 1.0) for id, _ in ranking]
    return [(id, score - lowest) for id, score in ranking]


def _both(by_words: Chosen | None, by_meaning: Chosen | None) -> Chosen:
    if by_words is None:
        assert by_meaning is not None  # noqa: S101 - an id is of one of the lists
        return by_meaning
    if by_meaning is None or by_meaning.score is None:
        return by_words
    return by_words._replace(
        reason=f"{by_words.reason}; {near_reason(by_meaning.score)}",
        found=by_words.found or by_meaning.found,
        seq=by_meaning.seq if by_words.seq is None else by_words.seq,
    )


def _scores(chosen: Iterable[Chosen]) -> Ranking:
    return [(choice.id, choice.score or 0.0) for choice in chosen if choice.id is not None]


def _missing(number: int) -> str:
    return f"{number} {'record has' if number == 1 else 'records have'} no embedding yet"
