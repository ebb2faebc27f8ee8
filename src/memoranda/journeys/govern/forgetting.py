"""Forgetting, in its kinds: each an act with a reason, none of them silent (GOV-FORGET)."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from memoranda.identity import Frozen, decode
from memoranda.journeys.govern.certificate import ErasureCertificate
from memoranda.journeys.govern.drafts import content_of
from memoranda.journeys.govern.erase import Eraser
from memoranda.journeys.govern.facts import Declared, Following, Source
from memoranda.journeys.govern.handle import Handle, noted
from memoranda.journeys.govern.moments import Moment
from memoranda.journeys.govern.receipts import Receipt
from memoranda.journeys.govern.table import Decide, active
from memoranda.journeys.records.contents import (
    UNCHANGED,
    Unchanged,
    annotation,
    check_expected,
    check_findable,
    check_text,
    retry_key,
)
from memoranda.kernel.errors import EntryDamaged, InvalidRecord, RecordNotFound
from memoranda.kernel.json import JsonValue
from memoranda.ledger import forget as verbs
from memoranda.ledger.object import Cause, VerdictType
from memoranda.ledger.time import TemporalScope
from memoranda.ledger.unit import KEPT, Current, Draft, OfSubject, Reads
from memoranda.records.table import Encoded, Note, check_version

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
    ) -> Receipt:
        """Say that it is not to be used any more; history keeps it (GOV-FORGET)."""
        await self._rulebook.check_forgetting(str(self.actor), cause)
        verb = partial(verbs.invalidate, reason=reason, cause=cause)
        return await self._forgetting("forget", id, verb, expected_version, idempotency_key)

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
        data: T,
        *,
        reason: str,
        cause: Cause = "obsolescence",
        source: Source | Sequence[Source] | None = None,
        keep_sources: bool = False,
        valid_from: Moment | Unchanged | None = UNCHANGED,
        valid_to: Moment | Unchanged | None = UNCHANGED,
        expires: Moment | Unchanged | None = UNCHANGED,
        subject: str | Unchanged | None = UNCHANGED,
        jurisdiction: str | Unchanged | None = UNCHANGED,
        verdict: VerdictType = "Unanswered",
        statement_type: Declared | None = None,
        applicability_scope: Mapping[str, JsonValue] | Unchanged | None = UNCHANGED,
        temporal_scope: TemporalScope | Unchanged = UNCHANGED,
        tags: Sequence[str] | Unchanged | None = UNCHANGED,
        meta: Mapping[str, Any] | Unchanged | None = UNCHANGED,
    ) -> tuple[Receipt, Receipt]:
        """Let a new object stand in the place of this one: both or neither.

        What is not named passes on to it, as in `update`.
        """
        check_findable(id)
        said = Following(
            source,
            keep_sources,
            valid_from,
            valid_to,
            expires,
            subject,
            jurisdiction,
            verdict,
            statement_type,
            applicability_scope,
            temporal_scope,
        ).checked("supersede", reason)
        note = self._reasoned(reason)
        annotated = annotation(tags, meta)
        row = self._new_row(data, None, None, None, note.at)
        await self._rulebook.check_forgetting(note.actor, cause)
        await self._rulebook.check_judging(verdict, note.actor)

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            current = active(id, found[0])
            before = decode(current.body)
            content = Encoded(row.content.data, *annotated(content_of(before)))
            facts = said.facts(before, is_restated=True)
            new = self._drafts.created(row._replace(content=content), note, facts)
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

        old, replacement = await self._receipts(await self._table.change([id], note, decide))
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
        eraser = Eraser(self._table, self._drafts, self._telling)
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
        return (await self._one(id, note, decide, key))[0]

    async def _one(self, id: str, note: Note, decide: Decide, key: Any) -> Sequence[Receipt]:
        return await self._receipts(await self._table.change([id], note, decide, key, id))
