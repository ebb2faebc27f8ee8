"""Erasing: content goes, its proof stays (GOV-FORGET).

One unit of work removes body, salt and nonce of every version, and everything that follows from
them; a tombstone is appended, and the journal still verifies. What was made from the objects is
erased with them: a summary tells what it summed up, and an execution was given what it recalled.
Facts leave one entry that says which of them were erased.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

from recollect.identity import Frozen, decode
from recollect.journeys.govern.drafts import Drafts
from recollect.journeys.govern.receipts import Receipt, receipts
from recollect.journeys.govern.table import GovernedTable
from recollect.journeys.intent import documents
from recollect.journeys.intent.names import LASTING
from recollect.journeys.recall.documents import TRACE
from recollect.journeys.turn.facts import TYPE as CYCLE_TYPE
from recollect.kernel.errors import RecordNotFound
from recollect.kernel.json import JsonValue
from recollect.ledger import forget
from recollect.ledger.beside import AllErased, BesideCounts
from recollect.ledger.derive import tags_of
from recollect.ledger.fact import erasure
from recollect.ledger.object import Cause
from recollect.ledger.unit import (
    ENTRIES,
    Current,
    Draft,
    Everything,
    NamedEntry,
    OfSubject,
    Reads,
    Unit,
)
from recollect.records.table import Note

_FACTS: Final = {
    documents.PROPOSAL: "proposals",
    TRACE: "traces",
    documents.BEGUN: "contexts",
    documents.EFFECT_FINISHED: "effects",
    documents.SEALED: "snapshots",
    documents.BRANCH: "snapshots",
}
DERIVED: Final = "it was made from something that is erased"


@dataclass(slots=True)
class ErasureCounts:
    """How much goes, of each kind: `Holdings` has those that are counted by the database.

    A dry run and an erasure count in one place, before anything is removed.
    """

    objects: int = 0
    derived: int = 0
    versions: int = 0
    tags: int = 0
    postings: int = 0
    retries: int = 0
    derivations: int = 0
    vectors: int = 0
    """Embeddings."""
    traces: int = 0
    """Selections of memory."""
    proposals: int = 0
    contexts: int = 0
    """What was frozen for executions."""
    effects: int = 0
    snapshots: int = 0
    cycles: int = 0
    """Turns, with what was recorded of them and the items that they stored; attempts that failed
    are of the same one."""
    recordings: int = 0
    items: int = 0
    keywords: int = 0
    """What items are found by, one for each item that has it."""
    sessions: int = 0
    """They go with a whole scope: nothing of what was said stands in them."""

    def add_facts(self, entries: Sequence[NamedEntry]) -> None:
        """Count facts."""
        for entry in entries:
            kind = _FACTS.get(entry.type)
            if kind is not None:
                setattr(self, kind, getattr(self, kind) + 1)

    def add(self, current: Current, *, is_derived: bool) -> None:
        """Count an object, and all that goes with it."""
        self.objects += 1
        self.derived += is_derived
        self.versions += len(current.digests)
        self.tags += len(tags_of(decode(current.body)))
        self.add_beside(current)

    def add_all_beside(self, gone: BesideCounts | None) -> None:
        """Count what had landed beside the entries of a whole scope, where that goes whole."""
        for kind, count in ({} if gone is None else gone._asdict()).items():
            setattr(self, kind, count)

    def add_name(self, current: Current) -> None:
        """Count what the facts of a name are together, and what is held beside them."""
        self.cycles += any(entry.type == CYCLE_TYPE for entry in current.entries)
        self.add_beside(current)

    def add_beside(self, current: Current) -> None:
        """Count what is held beside an object, or beside the facts of a name."""
        for kind, count in current.beside._asdict().items():
            setattr(self, kind, getattr(self, kind) + count)


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
            **asdict(self.counts),
            "tombstones": [
                {"id": one.id, "version": one.version, "entry_hash": one.entry_hash, "seq": one.seq}
                for one in self.tombstones
            ],
        }


def is_lasting(found: Current) -> bool:
    """Whether it stands for facts under a name that is still answered for when they are gone.

    Names that say how things stand, such as which proposals wait, are not.
    """
    return found.status == ENTRIES and found.id.startswith(LASTING)


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
        counted: set[int] = set()
        """The facts that were counted: one may stand under several names."""
        asked = () if isinstance(reads, Everything | OfSubject) else tuple(reads)
        subject = reads.subject if isinstance(reads, OfSubject) else None

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            drafts, facts = [], dict[int, NamedEntry]()
            known = {one.id for one in found if one is not None and one.status != "erased"}
            names = [one.id for one in found if one is not None and is_lasting(one)]
            if missing := [id for id in asked if id not in known]:
                raise RecordNotFound(missing[0])
            for current in found:
                if current is None or current.status == "erased":
                    continue
                if current.status == ENTRIES:
                    # A whole scope comes by all its names. Each fact has one that is answered for
                    # afterwards, and goes by that: else it might be gone when that one's turn is.
                    if asked or subject is not None or is_lasting(current):
                        facts.update((one.seq, one) for one in current.entries)
                        counts.add_name(current)
                    continue
                is_asked = not asked or current.id in asked
                if subject is not None:
                    is_asked = current.subject == subject
                counts.add(current, is_derived=not is_asked)
                drafts.append(self._tombstone(current, note, cause if is_asked else "policy",
                                              reason if is_asked else DERIVED))  # fmt: skip
            if facts:
                entries = [facts[seq] for seq in sorted(facts)]
                counts.add_facts([entry for entry in entries if entry.seq not in counted])
                counted.update(facts)
                salt = self._drafts.salt()
                drafts.append(erasure(entries, names, reason=reason, cause=cause, salt=salt))
            if dry_run:
                return []
            tombstones.extend(drafts)
            return drafts

        last = (False, "")

        def afresh(found: Sequence[Current | None]) -> list[Draft]:
            # A unit may run twice. A whole scope comes in portions, objects by id, then facts by
            # name: the first one again is a second run.
            nonlocal last, counts
            places = [(one.status == ENTRIES, one.id) for one in found if one is not None]
            if not isinstance(reads, Everything) or (places and places[0] <= last):
                tombstones.clear()
                counted.clear()
                counts = ErasureCounts()
            last = places[-1] if places else last
            return decide(found)

        beside = (AllErased(dry_run),) if isinstance(reads, Everything) else ()
        unit = Unit(note.actor, note.at, afresh, reads, is_erasing=True, beside=beside)
        committed = await self._table.commit(unit)
        counts.add_all_beside(committed.erased_beside)
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
        if tombstones or (any(committed.erased_beside or ()) and not dry_run):
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
