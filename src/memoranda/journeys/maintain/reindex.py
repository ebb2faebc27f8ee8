"""Making the word index anew: because the tokenizer is another one, or because it is damaged.

It is logged with the digest of what was made (GOV-BREAK): an index that is another one without
such an entry is a conformance break.
"""

from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from memoranda.identity import canonical_bytes
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.table import GovernedTable
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.results import Result
from memoranda.ledger.breaks import Fingerprint
from memoranda.ledger.unit import INDEX_FORM, Draft, Ledger, Unit
from memoranda.ledger.words import IndexDigest

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
        async with aclosing(snapshot.words()) as chunks:
            async for words in chunks:
                digest.feed(words)
        async with aclosing(snapshot.threads()) as rows:
            async for threads in rows:
                digest.feed_threads(threads)
    objects = await ledger.active(MAX_INTEGER)
    return Reindexed(before, INDEX_FORM, objects, indexed, digest.hex)
