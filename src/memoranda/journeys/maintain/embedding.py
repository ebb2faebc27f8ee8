"""Bringing the embeddings forward: everything that is active gets a vector of the model.

What was made is logged with its digest (GOV-BREAK): vectors that were made anew stand in the
journal, and which model they are of. That the model itself is another one is a break of its own,
found when a handle is opened with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from memoranda.identity import canonical_bytes
from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.table import GovernedTable
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import ModelFailed
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Result
from memoranda.ledger.unit import Draft, Unit
from memoranda.recall.embedder import Embedder, embedded, stored_as
from memoranda.recall.vectors import Embedding, Unembedded, VectorIndex, without_vector

BATCH: Final = 64
"""Texts that are sent to an embedder at once."""


@dataclass(frozen=True, slots=True, repr=False)
class Brought(Result):
    """What was made: how many vectors, how many there are now, and their digest."""

    model: str
    embedded: int
    vectors: int
    digest: str
    dropped: int = 0
    """Vectors of other models that were removed."""
    refused: Sequence[str] = field(default=())
    """Ids of objects that the embedder has no vector for, while it has one for others."""

    @property
    def document(self) -> dict[str, JsonValue]:
        """The body of its entry."""
        return {
            "type": "Maintenance",
            "what": "embed",
            "model": self.model,
            "embedded": self.embedded,
            "vectors": self.vectors,
            "dropped": self.dropped,
            "digest": self.digest,
        }


async def embed_missing(
    table: GovernedTable,
    drafts: Drafts,
    clock: Clock,
    index: VectorIndex,
    embedder: Embedder,
    *,
    actor: str,
    alone: bool = False,
    progress: Progress = nobody,
) -> Brought:
    """Give everything a vector that has none; with `alone`, remove those of other models.

    1. a batch of what has none is embedded; the vectors land, and stay whatever follows
    2. a batch that is refused is sent one by one; if all of it is, so is the call: ModelFailed
    3. what was made is logged, if anything was
    """
    model = stored_as(embedder)
    total = await index.count_missing(model)
    made, refused, tried = 0, list[str](), set[int]()
    progress("embeddings", 0, total)
    while new := [
        one for one in await index.missing(model, BATCH + len(refused)) if one.seq not in tried
    ]:
        tried.update(one.seq for one in new)
        # 1 and 2
        found, without = await _embedded(embedder, [one for one in new if one.text])
        made += await index.put(model, found)
        await index.put(model, without_vector(new))
        refused += without
        total = max(total, len(tried))
        progress("embeddings", len(tried), total)
    # 3
    dropped = await index.forget_others(model) if alone else 0
    contents = await index.contents(model)
    brought = Brought(model, made, *contents, dropped, tuple(refused))
    if made or dropped:
        draft = Draft("maintenance", canonical_bytes(brought.document), drafts.salt())
        await table.commit(Unit(actor, clock.now_ms(), lambda _: [draft]))
    return brought


async def _embedded(
    embedder: Embedder, several: Sequence[Unembedded]
) -> tuple[list[Embedding], list[str]]:
    """Their vectors, and the ids of those that have none."""
    try:
        vectors = await embedded(embedder, [one.text for one in several])
    except ModelFailed as failure:
        return await _one_by_one(embedder, several, failure)
    both = zip(several, vectors, strict=True)
    return [Embedding(one.id, one.seq, vector) for one, vector in both], []


async def _one_by_one(
    embedder: Embedder, several: Sequence[Unembedded], failure: ModelFailed
) -> tuple[list[Embedding], list[str]]:
    found, without = list[Embedding](), list[str]()
    for one in several:
        try:
            (vector,) = await embedded(embedder, [one.text])
        except ModelFailed:
            without.append(one.id)
        else:
            found.append(Embedding(one.id, one.seq, vector))
    if not found:
        raise failure  # it is not about a text: the embedder has failed
    return found, without
