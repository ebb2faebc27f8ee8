"""Erasing: content goes, its proof stays (GOV-FORGET).

One unit of work removes body, salt and nonce of every version, and everything that follows from
them; a tombstone is appended, and the journal still verifies. What was made from the objects is
erased with them: a summary tells what it summed up, and an execution was given what it recalled.
Facts leave one entry that says which of them were erased.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from memoranda.identity import Frozen, decode
from memoranda.journeys.govern.certificate import (
    DERIVED,
    ErasureCertificate,
    ErasureCounts,
    certified,
    erased_before,
)
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.receipts import receipts
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.govern.telling import Telling
from memoranda.journeys.intent.names import LASTING
from memoranda.kernel.errors import RecordNotFound, StoreError
from memoranda.ledger import forget
from memoranda.ledger.beside import AllErased
from memoranda.ledger.fact import erasure
from memoranda.ledger.object import Cause
from memoranda.ledger.unit import (
    ENTRIES,
    Committed,
    Current,
    Draft,
    Everything,
    NamedEntry,
    OfSubject,
    Reads,
    Unit,
)
from memoranda.records.table import Note


def is_lasting(found: Current) -> bool:
    """Whether it stands for facts under a name that is still answered for when they are gone.

    Names that say how things stand, such as which proposals wait, are not.
    """
    return found.status == ENTRIES and found.id.startswith(LASTING)


class _Succeeded(Exception):
    """Ends the unit of an erasure that does not read exactly the successors that go with it."""

    def __init__(self, others: Sequence[str], strangers: Sequence[str]) -> None:
        super().__init__()
        self.others = tuple(others)
        self.strangers = tuple(strangers)


def _check_successors(
    reads: OfSubject, strangers: Collection[str], found: Sequence[Current | None]
) -> None:
    """Go on only if whatever superseded an object that goes is read, and goes with it.

    It tells of the same person, whether it names them or not; one that names somebody else stays.
    """
    objects = [one for one in found if one is not None and one.status not in (ENTRIES, "erased")]
    mine = (None, reads.subject)
    foreign = {one.id for one in objects if one.id in reads.others and one.subject not in mine}
    known = {one.id for one in found if one is not None}.union(reads.others, strangers)
    after = [decode(one.body).get("superseded_by") for one in objects if one.id not in foreign]
    new = [id for id in dict.fromkeys(after) if id is not None and id not in known]
    if foreign or new:
        raise _Succeeded([id for id in (*reads.others, *new) if id not in foreign], [*foreign])


class Eraser:
    """Erases objects of one scope."""

    def __init__(self, table: GovernedTable, drafts: Drafts, telling: Telling[Any]) -> None:
        self._table = table
        self._drafts = drafts
        self._telling = telling

    async def erase(
        self, reads: Reads, note: Note, cause: Cause, *, dry_run: bool
    ) -> ErasureCertificate:
        """Erase what is read, and what was made from it; RecordNotFound for an unknown id.

        1. when the unit has landed, the content is gone from every table
        2. then the database is asked to see that it is in no byte either, which may have to wait
           for others: the certificate says so, and asking again tries again
        """
        # 1.
        try:
            certificate = await self._with_successors(reads, note, cause, dry_run=dry_run)
        except RecordNotFound as missing:
            certificate = await erased_before(self._table.ledger, missing)
        if dry_run:
            return certificate
        # 2.
        try:
            await self._table.ledger.scrub()
        except StoreError as refused:
            return replace(certificate, is_scrubbed=False, to_do=str(refused))
        return certificate

    async def _with_successors(
        self, reads: Reads, note: Note, cause: Cause, *, dry_run: bool
    ) -> ErasureCertificate:
        """Erase what is read; of a person, also what stands in the place of it by now."""
        strangers: tuple[str, ...] = ()
        while True:
            try:
                return await self._erased(reads, strangers, note, cause, dry_run=dry_run)
            except _Succeeded as found:
                if isinstance(reads, OfSubject):
                    reads = reads._replace(others=found.others)
                strangers += found.strangers

    async def _erased(
        self, reads: Reads, strangers: Collection[str], note: Note, cause: Cause, *, dry_run: bool
    ) -> ErasureCertificate:
        reason = note.reason or ""
        counts = ErasureCounts()
        tombstones: list[Draft] = []
        counted: set[int] = set()
        """The facts that were counted: one may stand under several names."""
        asked = () if isinstance(reads, Everything | OfSubject) else tuple(reads)
        subject = reads.subject if isinstance(reads, OfSubject) else None

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            drafts, facts = [], dict[int, NamedEntry]()
            names = [one.id for one in found if one is not None and is_lasting(one)]
            known = {one.id for one in found if one is not None and one.status != "erased"}
            if missing := [id for id in asked if id not in known]:
                raise RecordNotFound(missing[0])
            if isinstance(reads, OfSubject):
                _check_successors(reads, strangers, found)
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
                if isinstance(reads, OfSubject):
                    is_asked = current.subject == subject or current.id in reads.others
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
            if drafts:
                drafts[-1] = certified(drafts[-1], len(tombstones) + len(drafts), counts)
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
        committed = await self._landed(unit, tombstones)
        counts.add_all_beside(committed.erased_beside)
        return ErasureCertificate(
            origin=(await self._table.ledger.head()).origin,
            actor=note.actor,
            at=note.at,
            reason=reason,
            cause=cause,
            counts=counts,
            is_dry_run=dry_run,
            tombstones=receipts(committed, tombstones),
        )

    async def _landed(self, unit: Unit, tombstones: Sequence[Draft]) -> Committed:
        committed = await self._table.commit(unit)
        await self._telling.tell(tombstones)
        return committed

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
