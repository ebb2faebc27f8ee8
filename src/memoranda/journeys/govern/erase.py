"""Erasing: content goes, its proof stays (GOV-FORGET).

One unit of work removes body, salt and nonce of every version, and everything that follows from
them; a tombstone is appended, and the journal still verifies. What was made from the objects is
erased with them: a summary repeats what it summed up, and an execution was given what it recalled.
Facts leave one entry that says which of them were erased. A body that is not what was written goes
like any other; that it was damaged is logged, since nobody can see it afterwards.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from memoranda.identity import Frozen, decode
from memoranda.journeys.govern.certificate import (
    DERIVED,
    ErasureCertificate,
    ErasureCounts,
    certified,
    erased_before,
    whole_scope_before,
)
from memoranda.journeys.govern.conformance import Conformance
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.objects import Telling
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.govern.writer import Writer, receipts
from memoranda.journeys.intent import names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.records.contents import check_findable, check_text
from memoranda.kernel.errors import EntryDamaged, InvalidRecord, RecordNotFound, StoreError
from memoranda.ledger.attachments import AllErased, AttachmentCounts
from memoranda.ledger.fact import erasure
from memoranda.ledger.lease import SCRUB
from memoranda.ledger.lifecycle import erase
from memoranda.ledger.object import Cause
from memoranda.ledger.unit import (
    KEPT,
    Committed,
    Current,
    Draft,
    Everything,
    Found,
    NamedEntry,
    NamedFacts,
    OfSubject,
    Reads,
    Unit,
)
from memoranda.records.table import Note


def is_lasting(found: Found) -> bool:
    """Whether these are facts under a name that is still answered for when they are gone.

    Names that say how things stand, such as which proposals wait, are not.
    """
    return isinstance(found, NamedFacts) and found.id.startswith(names.LASTING)


class _Succeeded(Exception):
    """Ends the unit of an erasure that does not read exactly the successors that go with it."""

    def __init__(self, others: Sequence[str], strangers: Sequence[str]) -> None:
        super().__init__()
        self.others = tuple(others)
        self.strangers = tuple(strangers)


def _check_successors(
    reads: OfSubject, strangers: Collection[str], found: Sequence[Found | None]
) -> None:
    """Go on only if whatever superseded an object that goes is read, and goes with it.

    It is about the same person, whether it names them or not; what names somebody else stays.
    """
    objects = [there for there in found if isinstance(there, Current) and there.status != "erased"]
    mine = (None, reads.subject)
    foreign = {
        current.id
        for current in objects
        if current.id in reads.others and current.subject not in mine
    }
    known = {there.id for there in found if there is not None}.union(reads.others, strangers)
    after = [
        decode(current.body).get("superseded_by")
        for current in objects
        if current.id not in foreign
    ]
    new = [id for id in dict.fromkeys(after) if id is not None and id not in known]
    if foreign or new:
        raise _Succeeded([id for id in (*reads.others, *new) if id not in foreign], [*foreign])


class Eraser:
    """Erases objects of one scope."""

    def __init__(
        self,
        table: GovernedTable,
        drafts: Drafts,
        writer: Writer[Any],
        telling: Telling[Any],
        conformance: Conformance,
        chronicle: Chronicle,
    ) -> None:
        self._table = table
        self._drafts = drafts
        self._telling = telling
        self._conformance = conformance
        self._writer = writer
        self._chronicle = chronicle

    async def erase(
        self,
        id: str | None,
        subject: str | None,
        *,
        whole_scope: bool,
        reason: str,
        cause: Cause,
        dry_run: bool,
    ) -> ErasureCertificate:
        """Erase what is named, and what was made from it; RecordNotFound for an unknown id.

        1. exactly one of id, subject and whole scope is named, and the policies allow it
        2. when the unit has landed, the content is gone from every table
        3. then the database is asked to see that it is in no byte either, which may have to wait
           for others: the certificate says so, and asking again tries again
        """
        # 1.
        reads = await self._named(id, subject, whole_scope=whole_scope)
        check_text("reason", reason)
        await self._table.rulebook.check_erasing(self._writer.actor, cause)
        note = self._writer.note_unchecked(reason)
        # 2.
        try:
            certificate = await self._with_successors(reads, note, cause, dry_run=dry_run)
        except RecordNotFound as missing:
            certificate = await erased_before(self._table.ledger, missing)
        if dry_run:
            return certificate
        # 3.
        try:
            await self._table.ledger.scrub()
        except StoreError as refused:
            with suppress(StoreError):  # the certificate says what is left to do in any case
                await self._table.ledger.leases.owe(SCRUB, note.at)
            return replace(certificate, is_scrubbed=False, to_do=str(refused))
        return certificate

    async def _named(self, id: str | None, subject: str | None, *, whole_scope: bool) -> Reads:
        """What is to be erased: a record, facts by the name of their id, a person, or all."""
        if [id is not None, subject is not None, bool(whole_scope)].count(True) != 1:
            raise InvalidRecord("$", "name one of id, subject and whole_scope")
        if id is not None:
            check_findable(id)
            return [id if await self._is_record(id) else await self._fact_of(id) or id]
        if subject is None:
            return KEPT
        check_text("subject", subject)
        return OfSubject(subject)

    async def _is_record(self, id: str) -> bool:
        try:
            return bool(await self._table.ledger.versions(id))
        except EntryDamaged:
            return True  # and it can be erased, whatever it says

    async def _fact_of(self, id: str) -> str | None:
        for name in (names.proposal(id), names.execution(id), names.cycle(id), names.trace(id)):
            if await self._chronicle.is_there(name):
                return name
        return None

    async def _with_successors(
        self, reads: Reads, note: Note, cause: Cause, *, dry_run: bool
    ) -> ErasureCertificate:
        """Erase what is read; of a person, also what has superseded it by now."""
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
        going = _Erasure(self._drafts, reads, strangers, note, cause, is_dry_run=dry_run)
        committed = await self._landed(going.unit(), going.tombstones)
        counts = going.counts
        counts.add_attachments(committed.erased_attachments)
        if going.is_whole and not going.is_any and not any(committed.erased_attachments or ()):
            before = await whole_scope_before(self._table.ledger)
            if before is not None:
                return before
        return ErasureCertificate(
            origin=(await self._table.ledger.head()).origin,
            actor=note.actor,
            at=note.at,
            reason=going.reason,
            cause=cause,
            counts=counts,
            is_dry_run=dry_run,
            tombstones=receipts(committed, going.tombstones),
        )

    async def _landed(self, unit: Unit, tombstones: Sequence[Draft]) -> Committed:
        committed = await self._table.commit(unit)
        erased = [tombstone.replaces for tombstone in tombstones if tombstone.replaces is not None]
        await self._conformance.note_all(
            [damage for current in erased for damage in current.damaged]
        )
        await self._telling.tell(tombstones)
        return committed


class _Erasure:
    """One erasure: its unit, and what that came to when it ran last."""

    def __init__(
        self,
        drafts: Drafts,
        reads: Reads,
        strangers: Collection[str],
        note: Note,
        cause: Cause,
        *,
        is_dry_run: bool,
    ) -> None:
        self._drafts = drafts
        self._reads = reads
        self._strangers = strangers
        self._note = note
        self._cause = cause
        self._is_dry_run = is_dry_run
        self.reason = note.reason or ""
        self.is_whole = isinstance(reads, Everything)
        self._asked = () if isinstance(reads, Everything | OfSubject) else tuple(reads)
        self.counts = ErasureCounts()
        self.tombstones: list[Draft] = []
        self.is_any = False
        """Whether there is anything to be erased, or would be."""
        self._counted: set[int] = set()
        """The facts that were counted: one may stand under several names."""
        self._attachments: AttachmentCounts | None = None
        self._last = (False, "")

    def unit(self) -> Unit:
        attachments = (
            (AllErased(self._is_dry_run, self._note_attachments),) if self.is_whole else ()
        )
        actor, at = self._note.actor, self._note.at
        return Unit(
            actor,
            at,
            self._decide,
            self._reads,
            is_erasing=True,
            attachments=attachments,
            is_dry=self._is_dry_run,
        )

    def _note_attachments(self, gone: AttachmentCounts) -> None:
        self._attachments = gone

    def _decide(self, found: Sequence[Found | None]) -> list[Draft]:
        """What is appended for what was found.

        A unit may run twice. A whole scope comes in portions, objects by id, then facts by name:
        the first one again is a second run.
        """
        places = [(isinstance(there, NamedFacts), there.id) for there in found if there is not None]
        if not self.is_whole or (places and places[0] <= self._last):
            self.tombstones.clear()
            self._counted.clear()
            self.counts, self.is_any = ErasureCounts(), False
        self._last = places[-1] if places else self._last
        drafts = self._drafted(found)
        self.is_any = self.is_any or bool(drafts)
        if self._is_dry_run:
            return []
        if drafts:
            self.counts.add_attachments(self._attachments)
            number = len(self.tombstones) + len(drafts)
            drafts[-1] = certified(drafts[-1], number, self.counts, is_whole=self.is_whole)
        self.tombstones.extend(drafts)
        return drafts

    def _drafted(self, found: Sequence[Found | None]) -> list[Draft]:
        drafts, facts = [], dict[int, NamedEntry]()
        reads, asked = self._reads, self._asked
        there = [
            record
            for record in found
            if isinstance(record, NamedFacts) or (record is not None and record.status != "erased")
        ]
        names = [record.id for record in there if is_lasting(record)]
        known = {record.id for record in there}
        if missing := [id for id in asked if id not in known]:
            raise RecordNotFound(missing[0])
        if isinstance(reads, OfSubject):
            _check_successors(reads, self._strangers, found)
        for current in there:
            if isinstance(current, NamedFacts):
                # A whole scope comes by all its names. Each fact has one that is answered for
                # afterwards, and goes by that: else it might be gone when that one's turn is.
                if not self.is_whole or is_lasting(current):
                    facts.update((stored.seq, stored) for stored in current.entries)
                    self.counts.add_name(current)
                continue
            is_asked = not asked or current.id in asked
            if isinstance(reads, OfSubject):
                is_asked = current.subject == reads.subject or current.id in reads.others
            self.counts.add(current, is_derived=not is_asked)
            drafts.append(self._tombstone(current, is_asked=is_asked))
        if facts:
            entries = [facts[seq] for seq in sorted(facts)]
            self.counts.add_facts([entry for entry in entries if entry.seq not in self._counted])
            self._counted.update(facts)
            salt = self._drafts.salt()
            drafts.append(erasure(entries, names, reason=self.reason, cause=self._cause, salt=salt))
        return drafts

    def _tombstone(self, current: Current, *, is_asked: bool) -> Draft:
        change = erase(
            Frozen(current.body),
            reason=self.reason if is_asked else DERIVED,
            cause=self._cause if is_asked else "policy",
            at=self._note.at,
            nonce=self._drafts.nonce(),
            digests=current.digests,
        )
        draft = self._drafts.following(current, change.event_type, change.object)
        return draft._replace(erases=True)
