"""Maintenance: indexes that are made anew, and copies of a journal that is verified meanwhile."""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from memoranda.identity import canonical_bytes
from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.table import GovernedTable
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import ModelFailed, StoreFailed
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.results import Result
from memoranda.ledger.breaks import Fingerprint
from memoranda.ledger.checkpoint import parse_checkpoint
from memoranda.ledger.damage import Damages
from memoranda.ledger.port import Adoption, Ledger
from memoranda.ledger.snapshot import ATTACHMENTS, DOCUMENTS, ENTRIES, INDEX_FORM, ROWS, WORDS
from memoranda.ledger.unit import Draft, Unit
from memoranda.ledger.walk import Walk
from memoranda.ledger.words import IndexDigest
from memoranda.recall.embedder import Embedder, embedded_each, stored_as
from memoranda.recall.vectors import Embedding, Unembedded, VectorIndex, without_vector

# ------------------------------------------------------------------------------------------------
# Making indexes of vectors and of words anew, and logging what was made (GOV-BREAK).
#
# Vectors that were made anew stand in the journal, and which model they are of. That the model
# itself is another one is a break of its own, found when a handle is opened with it. The index of
# words is made anew because the tokenizer is another one, or because it is damaged; one that is
# another without such an entry is a conformance break.

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
    is_logged: bool = True,
    progress: Progress = nobody,
) -> Brought:
    """Give everything a vector that has none; with `alone`, remove those of other models.

    1. a batch of what has none is embedded; the vectors land, and stay whatever follows
    2. a batch that is refused is sent one by one; if all of it is, so is the call: ModelFailed
    3. what was made is logged, if anything was, unless whoever calls it does so
    """
    model = stored_as(embedder)
    total = await index.count_missing(model)
    made, refused, tried = 0, list[str](), set[int]()
    progress("embeddings", 0, total)
    while new := [
        unembedded
        for unembedded in await index.missing(model, BATCH + len(refused))
        if unembedded.seq not in tried
    ]:
        tried.update(unembedded.seq for unembedded in new)
        # 1 and 2
        found, without = await _embedded(
            embedder, [unembedded for unembedded in new if unembedded.texts]
        )
        made += await index.put(model, found)
        await index.put(model, without_vector(new))
        refused += without
        total = max(total, len(tried))
        progress("embeddings", len(tried), total)
    # 3
    dropped = await index.forget_others(model) if alone else 0
    contents = await index.contents(model)
    brought = Brought(model, made, *contents, dropped, tuple(refused))
    if is_logged and (made or dropped):
        draft = Draft("maintenance", canonical_bytes(brought.document), drafts.salt())
        await table.commit(Unit(actor, clock.now_ms(), lambda _: [draft]))
    return brought


async def _embedded(
    embedder: Embedder, several: Sequence[Unembedded]
) -> tuple[list[Embedding], list[str]]:
    try:
        vectors = await embedded_each(embedder, [unembedded.texts for unembedded in several])
    except ModelFailed as failure:
        return await _one_by_one(embedder, several, failure)
    both = zip(several, vectors, strict=True)
    return [Embedding(unembedded.id, unembedded.seq, vector) for unembedded, vector in both], []


async def _one_by_one(
    embedder: Embedder, several: Sequence[Unembedded], failure: ModelFailed
) -> tuple[list[Embedding], list[str]]:
    found, without = list[Embedding](), list[str]()
    for unembedded in several:
        try:
            (vector,) = await embedded_each(embedder, [unembedded.texts])
        except ModelFailed:
            without.append(unembedded.id)
        else:
            found.append(Embedding(unembedded.id, unembedded.seq, vector))
    if not found:
        raise failure  # it is not about a text: the embedder has failed
    return found, without


SMALL: Final = 10_000
"""Active objects up to which an index is made anew when it is opened: a few seconds."""

ACTOR: Final = "system:memoranda"


@dataclass(frozen=True, slots=True, repr=False)
class Reindexed(Result):
    """What was made: whose tokens, of how many objects and entries, and their digest."""

    before: str
    tokenizer: str
    objects: int
    indexed: int
    digest: str

    @property
    def document(self) -> dict[str, JsonValue]:
        """The body of its entry."""
        return {
            "type": "Maintenance",
            "what": "reindex",
            "tokenizer": self.tokenizer,
            "tokenizer_before": self.before,
            "objects": self.objects,
            "indexed": self.indexed,
            "digest": self.digest,
        }


async def reindex(table: GovernedTable, drafts: Drafts, actor: str, at: int) -> Reindexed:
    """Make the index anew, in steps, and log it: the entry and the index's name land together."""
    await table.begin(at)
    ledger = table.ledger
    before = (await ledger.index()).tokenizer
    await ledger.reindex()
    made = await _made(ledger, before)
    draft = Draft("maintenance", canonical_bytes(made.document), drafts.salt())
    await table.commit(Unit(actor, at, lambda _: [draft], tokenizer=INDEX_FORM))
    return made


async def refresh(
    table: GovernedTable, drafts: Drafts, at: int, fingerprint: Fingerprint | None
) -> Reindexed | None:
    """Make an index of another tokenizer anew, if it is small; a larger one is left as it is."""
    index = await table.ledger.index()
    logged = None if fingerprint is None else fingerprint.index
    is_of_another = index.is_stale or (not index.tokenizer and logged not in (None, INDEX_FORM))
    if not is_of_another or await table.ledger.active(SMALL + 1) > SMALL:
        return None
    return await reindex(table, drafts, ACTOR, at)


async def _made(ledger: Ledger, before: str) -> Reindexed:
    digest = IndexDigest()
    async with ledger.snapshot() as snapshot:
        indexed = (await snapshot.index()).indexed
        async with aclosing(snapshot.rows(WORDS)) as chunks:
            async for words in chunks:
                digest.feed(words)
        async with aclosing(snapshot.rows(DOCUMENTS)) as rows:
            async for documents in rows:
                digest.feed_documents(documents)
    objects = await ledger.active(MAX_INTEGER)
    return Reindexed(before, INDEX_FORM, objects, indexed, digest.hex)


# ------------------------------------------------------------------------------------------------
# Copying a journal into another database: the same entries, the same hashes, the same proofs.


async def copy(
    source: Ledger, target: Adoption, database: str, at: int, *, progress: Progress = nobody
) -> int:
    """Copy a journal with its rows, what landed with it, and its checkpoints; its size.

    The journal is walked on its way: a damaged one is not copied, and StoreFailed says why.
    """
    damages = Damages()
    async with source.snapshot() as snapshot:
        head = await snapshot.head()
        walk = Walk(head.origin, damages)
        async with aclosing(snapshot.rows(ENTRIES)) as chunks:
            async for entries in chunks:
                walk.feed(entries)
                _refuse(damages, database)
                await target.entries(entries)
                progress("entries", walk.size, head.size)
        if (walk.size, walk.last_hash) != (head.size, head.entry_hash.hex()):
            damages.add("head", None, "the journal does not end where its head says")
            _refuse(damages, database)
        async with aclosing(snapshot.rows(ROWS)) as chunks_of_rows:
            async for rows in chunks_of_rows:
                await target.rows(rows)
        async with aclosing(snapshot.rows(ATTACHMENTS)) as chunks:
            async for attachments in chunks:
                await target.attachments(attachments)
    notes = [(parse_checkpoint(note).checkpoint.size, note) for note in await source.notes()]
    await target.notes([note for note in notes if note[0] <= walk.size], at)
    return walk.size


def _refuse(damages: Damages, database: str) -> None:
    if damages:
        why = f"its journal is damaged ({damages.found[0]}); run `memoranda verify`"
        raise StoreFailed(database, why)
