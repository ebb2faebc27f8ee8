"""Near in meaning: the records whose vectors are nearest to that of the question."""

from typing import Final

from memoranda.kernel.errors import EntryDamaged, ModelFailed
from memoranda.ledger.unit import Current
from memoranda.recall.embedder import Embedder, embedded, stored_as
from memoranda.recall.fitting import fits
from memoranda.recall.reasons import ago
from memoranda.recall.selector import Chosen, Nearest, Request
from memoranda.recall.similarity import Near
from memoranda.recall.vectors import Embedding, VectorIndex, without_vector

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
        return Nearest([one for one in found.made if isinstance(one, Chosen)], found.missing)

    async def _bring_forward(self) -> None:
        missing = await self._index.missing(self._model, FEW)
        await self._index.put(self._model, without_vector(missing))
        missing = [one for one in missing if one.text]
        try:
            vectors = await embedded(self._embedder, [one.text for one in missing])
        except ModelFailed:
            return  # they are still missing, are counted below, and the selection says so
        found = zip(missing, vectors, strict=True)
        await self._index.put(
            self._model, [Embedding(one.id, one.seq, vector) for one, vector in found]
        )


def near_reason(similarity: float) -> str:
    """Why something was found by its vector: ``near in meaning (0.83)``."""
    return f"near in meaning ({similarity:.2f})"


def only_near(similarity: float) -> float:
    """How sure it is that something helps of which no more is known than its similarity."""
    return round(ONLY_NEAR * min(max(similarity, 0.0), 1.0), 6)
