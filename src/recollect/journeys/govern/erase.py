"""Erasing: content goes, its proof stays (GOV-FORGET).

One unit of work removes body, salt and nonce of every version, and everything that follows from
them; a tombstone is appended, and the journal still verifies. What was made from the objects is
erased with them: a summary tells what it summed up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from recollect.identity import Frozen, decode
from recollect.journeys.govern.drafts import Drafts
from recollect.journeys.govern.receipts import Receipt, receipts
from recollect.journeys.govern.table import GovernedTable
from recollect.kernel.errors import RecordNotFound
from recollect.kernel.json import JsonValue
from recollect.ledger import forget
from recollect.ledger.derive import tags_of
from recollect.ledger.object import Cause
from recollect.ledger.unit import Current, Draft, Everything, OfSubject, Reads, Unit
from recollect.records.table import Note

DERIVED: Final = "it was made from something that is erased"


@dataclass(slots=True)
class ErasureCounts:
    """How much content goes, of each kind."""

    objects: int = 0
    derived: int = 0
    versions: int = 0
    tags: int = 0


@dataclass(frozen=True, slots=True)
class ErasureCertificate:
    """What was erased, why, by whom, and the entries that say so; or, dry, what would be."""

    origin: str
    actor: str
    at: int
    reason: str
    cause: Cause
    counts: ErasureCounts
    is_dry_run: bool
    tombstones: Sequence[Receipt] = field(default=())

    @property
    def document(self) -> dict[str, JsonValue]:
        """The certificate as JSON. It names no content: ids, counts and hashes."""
        return {
            "type": "ErasureCertificate",
            "origin": self.origin,
            "actor": self.actor,
            "at": self.at,
            "reason": self.reason,
            "cause": self.cause,
            "dry_run": self.is_dry_run,
            "objects": self.counts.objects,
            "derived": self.counts.derived,
            "versions": self.counts.versions,
            "tags": self.counts.tags,
            "tombstones": [
                {"id": one.id, "version": one.version, "entry_hash": one.entry_hash, "seq": one.seq}
                for one in self.tombstones
            ],
        }


class Eraser:
    """Erases objects of one scope."""

    def __init__(self, table: GovernedTable, drafts: Drafts) -> None:
        self._table = table
        self._drafts = drafts

    async def erase(
        self, reads: Reads, note: Note, cause: Cause, *, dry_run: bool
    ) -> ErasureCertificate:
        """Erase what is read, and what was made from it; RecordNotFound for an unknown id.

        When the unit has landed, the content is gone from every table; then the database is
        asked to see that it is in no byte either, which may have to wait for others.
        """
        reason = note.reason or ""
        counts = ErasureCounts()
        tombstones: list[Draft] = []
        asked = () if isinstance(reads, Everything | OfSubject) else tuple(reads)
        subject = reads.subject if isinstance(reads, OfSubject) else None

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            drafts = []
            for place, current in enumerate(found):
                is_asked = not asked or place < len(asked)
                if subject is not None and current is not None:
                    is_asked = current.subject == subject
                if current is None or current.status == "erased":
                    if asked and is_asked:
                        raise RecordNotFound(asked[place])
                    continue
                counts.objects += 1
                counts.derived += not is_asked
                counts.versions += len(current.digests)
                counts.tags += len(tags_of(decode(current.body)))
                drafts.append(self._tombstone(current, note, cause if is_asked else "policy",
                                              reason if is_asked else DERIVED))  # fmt: skip
            if dry_run:
                return []
            tombstones.extend(drafts)
            return drafts

        last = ""

        def afresh(found: Sequence[Current | None]) -> list[Draft]:
            # A unit may run twice. A whole scope comes in portions, by id: the first one again is
            # a second run.
            nonlocal last
            ids = [one.id for one in found if one is not None]
            if not isinstance(reads, Everything) or (ids and ids[0] <= last):
                tombstones.clear()
                counts.objects = counts.derived = counts.versions = counts.tags = 0
            last = ids[-1] if ids else last
            return decide(found)

        unit = Unit(note.actor, note.at, afresh, reads, is_erasing=True)
        committed = await self._table.commit(unit)
        certificate = ErasureCertificate(
            origin=(await self._table.ledger.head()).origin,
            actor=note.actor,
            at=note.at,
            reason=reason,
            cause=cause,
            counts=counts,
            is_dry_run=dry_run,
            tombstones=receipts(committed, tombstones),
        )
        if tombstones:
            await self._table.ledger.scrub()
        return certificate

    def _tombstone(self, current: Current, note: Note, cause: Cause, reason: str) -> Draft:
        change = forget.erase(
            Frozen(current.body),
            reason=reason,
            cause=cause,
            at=note.at,
            nonce=self._drafts.nonce(),
            digests=current.digests,
        )
        draft = self._drafts.following(current, change.event_type, change.object)
        return draft._replace(erases=True)
