"""The selectors that need an embedder, over texts in memory: `hybrid`, and its second half.

Both lists are added up as recall does it. The half is measured beside it, as `meaning`: what a
fusion is worth shows in what it is made of.
"""

from collections.abc import Callable, Sequence
from typing import Final

from memoranda.journeys.evaluate.measure import InMemory
from memoranda.journeys.evaluate.questions import Collection, Question
from memoranda.recall.embedder import Embedder, embedded
from memoranda.recall.hybrid import Hybrid, depth_of, together
from memoranda.recall.meaning import only_near
from memoranda.recall.selector import Chosen
from memoranda.recall.similarity import in_order, similarities

HYBRID: Final = Hybrid()
MEANING: Final = "meaning"
_BATCH: Final = 64


def with_embedder(embedder: Embedder) -> Callable[[Collection], "WithEmbedder"]:
    """What makes finders with an embedder."""
    return lambda collection: WithEmbedder(collection, embedder)


class WithEmbedder:
    """All rankings over the texts of a collection, each of which is embedded once."""

    selectors: Sequence[str] = (*InMemory.selectors, MEANING, HYBRID.name)

    def __init__(self, collection: Collection, embedder: Embedder) -> None:
        self._words = InMemory(collection)
        self._texts = collection.texts
        self._embedder = embedder
        self._vectors: list[bytes] = []

    async def find(self, selector: str, question: Question, top_k: int) -> Sequence[str]:
        """The ids of what is found, the best first; ModelFailed ends the evaluation."""
        if selector not in {MEANING, HYBRID.name}:
            return await self._words.find(selector, question, top_k)
        depth = depth_of(top_k)
        near = (await self._nearest(question))[:depth]
        found = near
        if selector == HYBRID.name:
            scored = self._words.scored(HYBRID.mode, question, depth)
            words = [Chosen("", one.confidence, one.id, score=one.score) for one in scored]
            found = together(words, near)
        return [str(one.id) for one in found[:top_k]]

    async def _nearest(self, question: Question) -> list[Chosen]:
        while len(self._vectors) < len(self._texts):
            first = len(self._vectors)
            texts = [one.text for one in self._texts[first : first + _BATCH]]
            self._vectors += await embedded(self._embedder, texts)
        (vector,) = await embedded(self._embedder, [question.text])
        found = in_order(enumerate(similarities(vector, self._vectors)))
        return [
            Chosen("", only_near(near), self._texts[number].id, score=near)
            for number, near in found
        ]
