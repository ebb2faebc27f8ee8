"""Forgetting, in its kinds: each an act with a reason, none of them silent (GOV-FORGET)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar, Unpack

from memoranda.identity import Frozen, decode
from memoranda.journeys.govern.about import About, said_of_next
from memoranda.journeys.govern.certificate import ErasureCertificate
from memoranda.journeys.govern.drafts import content_of
from memoranda.journeys.govern.erase import Eraser
from memoranda.journeys.govern.handle import Handle, noted
from memoranda.journeys.govern.provenance import following
from memoranda.journeys.govern.receipts import Receipt, dropped
from memoranda.journeys.govern.writes import active
from memoranda.journeys.records.contents import (
    UNCHANGED,
    annotation,
    check_expected,
    check_findable,
    check_text,
    retry_key,
)
from memoranda.kernel.errors import EntryDamaged, InvalidRecord, RecordNotFound
from memoranda.ledger import forget as verbs
from memoranda.ledger.object import Cause
from memoranda.ledger.unit import KEPT, Current, Draft, OfSubject, Reads
from memoranda.records.table import Encoded, check_version

T = TypeVar("T")


class Forgetting(Handle[T]):
    """The verbs forget, archive, reinstate, supersede and erase."""

    @noted
    async def forget(
        self,
        id: str,
        *,
        reason: str,
        cause: Cause = "user_request",
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt | None:
        """Say that it is not to be used any more; history keeps it (GOV-FORGET).

        None where nothing active is there: then nothing is written.
        """
        write = self._writer.forget(id, cause, expected_version, reason)
        (receipt,) = await self._run([write], idempotency_key)
        return receipt

    @noted
    async def archive(
        self,
        id: str,
        *,
        reason: str,
        cause: Cause = "obsolescence",
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Put it away: it is no longer returned, and what refers to it still finds it."""
        await self._rulebook.check_forgetting(str(self.actor), cause)
        verb = partial(verbs.archive, reason=reason, cause=cause)
        return await self._forgetting("archive", id, verb, expected_version, idempotency_key)

    @noted
    async def reinstate(
        self,
        id: str,
        *,
        reason: str,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Make what was archived or forgotten active again, as its next version."""
        verb = partial(verbs.reinstate, reason=reason)
        return await self._forgetting("reinstate", id, verb, expected_version, idempotency_key)

    @noted
    async def supersede(
        self,
        id: str,
        data: T | bytes,
        *,
        reason: str,
        cause: Cause = "obsolescence",
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> tuple[Receipt, Receipt]:
        """Let a new object stand in the place of this one: both or neither.

        What is not named passes on to it, as in `update`; the receipt of the new one says how many
        sources were dropped.
        """
        check_findable(id)
        check_expected(expected_version)
        said = said_of_next(about, "supersede", reason)
        note = self._reasoned(reason)
        annotated = annotation(said.tags, said.meta)
        row = self._writer.row(data, None, replace(said, tags=UNCHANGED, meta=UNCHANGED))
        await self._rulebook.check_forgetting(note.actor, cause)
        await self._rulebook.check_judging(said.verdict, note.actor)

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            current = active(id, found[0])
            check_version(id, current.number, expected_version)
            before = decode(current.body)
            data, _, _, is_raw = row.content
            content = Encoded(data, *annotated(content_of(before)), is_raw)
            provenance = following(said, before, is_restated=True, is_raw=is_raw)
            dated = row._replace(content=content, created_at=note.at, updated_at=note.at)
            new = self._drafts.created(dated, note, provenance)
            old, replacement = verbs.supersede(
                Frozen(current.body),
                Frozen(new.body),
                reason=reason,
                cause=cause,
                at=note.at,
                nonce=self._drafts.nonce(),
            )
            gone = self._drafts.following(current, old.event_type, old.object)
            return [gone, new._replace(body=replacement.object.canonical)]

        request = ("supersede", id, expected_version, row.content, said.request, cause)
        key = retry_key(idempotency_key, *request)
        written = await self._table.change([id], note, decide, key, id)
        old, replacement = await self._receipts(written)
        if written.committed.fresh:
            before, after = (draft.body for draft in written.drafts)
            replacement = replace(replacement, dropped_sources=dropped(before, after))
        return old, replacement

    async def erase(
        self,
        id: str | None = None,
        *,
        subject: str | None = None,
        whole_scope: bool = False,
        reason: str,
        cause: Cause = "user_request",
        dry_run: bool = False,
    ) -> ErasureCertificate:
        """Remove content for good: of one object, of a data subject, or of the whole scope.

        Exactly one of the three is named. An id is that of a record, a proposal, an execution or
        a cycle; whatever was made from it goes too. `dry_run` counts what would go, and changes
        nothing.
        """
        named = [name for name in (id, subject, whole_scope or None) if name is not None]
        if len(named) != 1:
            raise InvalidRecord("$", "name one of id, subject and whole_scope")
        reads: Reads = KEPT
        if id is not None:
            check_findable(id)
            reads = [id if await self._is_record(id) else await self.app.name_of(id) or id]
        elif subject is not None:
            check_text("subject", subject)
            reads = OfSubject(subject)
        check_text("reason", reason)
        await self._rulebook.check_erasing(str(self.actor), cause)
        eraser = Eraser(self._table, self._drafts, self._telling, self._conformance)
        return await eraser.erase(reads, self._reasoned(reason), cause, dry_run=dry_run)

    async def _is_record(self, id: str) -> bool:
        try:
            return bool(await self._ledger.versions(id))
        except EntryDamaged:
            return True  # and it can be erased, whatever it says

    async def scrub(self) -> None:
        """See once more that no byte of what was erased is left, the long way where there is one.

        For after an erasure that others kept from finishing, and for PostgreSQL's old rows.
        """
        await self._table.ledger.scrub(rewrite=True)

    async def _forgetting(
        self,
        name: str,
        id: str,
        verb: "partial[verbs.Change]",
        expected_version: int | None,
        idempotency_key: str | None,
    ) -> Receipt:
        check_findable(id)
        check_expected(expected_version)
        note = self._reasoned(verb.keywords["reason"])
        guarded = await self._rulebook.guard()

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            current = found[0]
            if current is None:
                raise RecordNotFound(id)
            check_version(id, current.number, expected_version)
            change = verb(Frozen(current.body), at=note.at, nonce=self._drafts.nonce())
            drafts = [self._drafts.following(current, change.event_type, change.object)]
            guarded(drafts)
            return drafts

        key = retry_key(idempotency_key, name, id, expected_version, verb.keywords)
        return (await self._receipts(await self._table.change([id], note, decide, key, id)))[0]
