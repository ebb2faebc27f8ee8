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
from memoranda.kernel.errors import InvalidFilter, ModelFailed
from memoranda.recall.fusion import Ranking, fused
from memoranda.recall.meaning import near_reason
from memoranda.recall.ranking import Mode
from memoranda.recall.selector import Below, Chosen, Nearest, Request, Selection, Sources

LEFT_OUT: Final = 3
"""How many are told of that were left out just below the line."""

WEIGHT: Final = 0.1
"""Of the meaning; the rest is the words'. Small models need no more (docs/embeddings.md)."""

DEEPER: Final = 5
AT_LEAST: Final = 50
"""Of each list so many times what is asked for are added up, and no fewer than these."""


@dataclass(frozen=True)
class Hybrid:
    """By words and by meaning, which weighs so much.

    Whoever has a better model gives it more weight, once `memoranda eval` says that it pays.
    """

    weight: float = WEIGHT
    mode: Mode = Mode.CONTEXT
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
            one
            for one in together(words.chosen, near.chosen, self.weight)
            if one.confidence >= request.constraints.min_confidence
        ]
        below = [
            Below(str(one.id), one.score or 0.0)
            for one in chosen[request.top_k : request.top_k + LEFT_OUT]
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
    by_words = {one.id: one for one in words}
    by_meaning = {one.id: one for one in near}
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
    return [(one.id, one.score or 0.0) for one in chosen if one.id is not None]


def _missing(number: int) -> str:
    return f"{number} {'record has' if number == 1 else 'records have'} no embedding yet"
