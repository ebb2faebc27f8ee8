"""What a question means to a model, and what is nearest to it.

Words find first (`ranking`); a model adds words that are near those of the question, and how near
each record is as a whole. Vectors are made in idle time after a write: what has none yet is found
by words, and the trace says how many there are. `nearest` is the other way round: by vectors alone,
with the similarity as score, for whoever asks for that.

The scope declares its model when it is first used (docs/breaks.md). A process that has another one,
or none, finds by words and says so: no upgrade of a package changes answers unnoticed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, runtime_checkable

from memoranda.kernel.errors import EntryDamaged, ModelFailed
from memoranda.ledger.unit import Current
from memoranda.recall.embedder import Embedder, embedded, embedded_each, stored_as
from memoranda.recall.index import AskedMeaning, fits
from memoranda.recall.near_words import WordVectors
from memoranda.recall.reasons import ago
from memoranda.recall.scores import Unrelated
from memoranda.recall.selector import Chosen, Nearest, Request
from memoranda.recall.vectors import Embedding, Near, Unembedded, VectorIndex, without_vector

AT_ONCE: Final = 64
"""So many without a vector are embedded at once."""

ONLY_NEAR: Final = 0.1
"""The most that is said for what was found by its similarity alone.

No similarity is a measure of its own: what 0.8 means is each model's affair.
"""


class EmbeddedTexts(NamedTuple):
    """How many records got a vector, and how many have none."""

    made: int
    left: int


@runtime_checkable
class Calibrated(Protocol):
    """A model of which it is known how near a question is to what has nothing to do with it."""

    @property
    def unrelated(self) -> Unrelated:
        """Measured, over texts of one language."""
        ...


@dataclass(frozen=True)
class Meaning:
    """One scope, and the model that it is asked with."""

    embedder: Embedder
    index: VectorIndex
    is_default: bool = False
    """Whether nobody named it: it is used only where the scope declares no other."""

    @property
    def model(self) -> str:
        return stored_as(self.embedder)

    def why_not(self, declared: Sequence[str] | None) -> str | None:
        """Why it is not asked, given what the scope declares for its role; None if it is."""
        if not self.is_default or declared is None or self.model in declared:
            return None
        return other_model(declared)

    async def asked(self, query: str) -> AskedMeaning:
        """A question as the model sees it; ModelFailed if it fails."""
        (vector,) = await embedded(self.embedder, [query])
        unrelated = self.embedder.unrelated if isinstance(self.embedder, Calibrated) else None
        return AskedMeaning(self.model, vector, words_of(self.embedder), unrelated)

    async def nearest(
        self, request: Request, limit: int, damaged: list[EntryDamaged] | None = None
    ) -> Nearest:
        """The records nearest in meaning to a question; what is damaged is put into the list.

        1. the question is embedded; ModelFailed, and nothing was found
        2. a few records that have no vector yet get one, if the embedder goes on answering
        3. all vectors are compared
        """
        # 1
        vector = (await self.asked(request.query)).vector
        # 2
        if 0 < await self.index.count_missing(self.model) <= AT_ONCE:
            await self.bring_forward()

        def make(current: Current, near: Near) -> Chosen | None:
            if not request.accepts(current) or not fits(request.constraints.filter, current):
                return None
            reason = f"{near_reason(near.similarity)}; {ago(request.at - current.created_at)}"
            sure = only_near(near.similarity)
            return Chosen(reason, sure, current.id, None, near.similarity, current, near.seq)

        # 3
        found = await self.index.nearest(self.model, vector, limit, make, damaged)
        return Nearest([value for value in found.made if isinstance(value, Chosen)], found.missing)

    async def bring_forward(self, skipping: frozenset[int] = frozenset()) -> EmbeddedTexts:
        """Give some records a vector that have none; those with these entries are left alone.

        An embedder that fails leaves them without.
        """
        missing = await self.index.missing(self.model, AT_ONCE + len(skipping))
        missing = [one for one in missing if one.seq not in skipping]
        made = await self.index.put(self.model, without_vector(missing))
        several = [one for one in missing if one.texts]
        try:
            made += await self.index.put(self.model, await self._embedded(several))
        except ModelFailed:
            return EmbeddedTexts(made, len(several))
        return EmbeddedTexts(made, 0)

    async def _embedded(self, several: Sequence[Unembedded]) -> list[Embedding]:
        vectors = await embedded_each(self.embedder, [one.texts for one in several])
        both = zip(several, vectors, strict=True)
        return [Embedding(one.id, one.seq, stored) for one, stored in both]


def words_of(embedder: Embedder | None) -> WordVectors | None:
    """The vectors of words of a model that has any."""
    return embedder if isinstance(embedder, WordVectors) else None


def other_model(declared: Sequence[str]) -> str:
    """What is said where the scope is asked without the model that it declares."""
    return f"found by words alone: the scope is asked with {', '.join(declared)}, which is not here"


def near_reason(similarity: float) -> str:
    """Why something was found by its vector: ``near in meaning (0.83)``."""
    return f"near in meaning ({similarity:.2f})"


def only_near(similarity: float) -> float:
    """How sure it is that something helps of which no more is known than its similarity."""
    return round(ONLY_NEAR * min(max(similarity, 0.0), 1.0), 6)
