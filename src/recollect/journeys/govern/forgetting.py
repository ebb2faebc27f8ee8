"""Forgetting, in its kinds: each an act with a reason, none of them silent (GOV-FORGET)."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from recollect.identity import Frozen
from recollect.journeys.govern.erase import Eraser, ErasureCertificate
from recollect.journeys.govern.facts import Facts, Source
from recollect.journeys.govern.handle import Handle
from recollect.journeys.govern.receipts import Receipt
from recollect.journeys.govern.table import Decide, active
from recollect.journeys.records.contents import (
    check_expected,
    check_findable,
    check_text,
    retry_key,
)
from recollect.kernel.errors import InvalidRecord, RecordNotFound
from recollect.ledger import forget as verbs
from recollect.ledger.object import Cause
from recollect.ledger.unit import KEPT, Current, Draft, OfSubject, Reads
from recollect.records.table import Note, check_version

T = TypeVar("T")


class Forgetting(Handle[T]):
    """The verbs forget, archive, reinstate, supersede and erase."""

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
        verb = partial(verbs.invalidate, reason=reason, cause=cause)
        return await self._forgetting("forget", id, verb, expected_version, idempotency_key)

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
        verb = partial(verbs.archive, reason=reason, cause=cause)
        return await self._forgetting("archive", id, verb, expected_version, idempotency_key)

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

    async def supersede(
        self,
        id: str,
        data: T,
        *,
        reason: str,
        cause: Cause = "obsolescence",
        source: Source | Sequence[Source] | None = None,
        tags: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> tuple[Receipt, Receipt]:
        """Let a new object stand in the place of this one: both or neither."""
        check_findable(id)
        note = self._reasoned(reason)
        row = self._new_row(data, None, tags, meta, note.at)
        new = self._drafts.created(row, note, Facts.given(source=source))

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            current = active(id, found[0])
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
            is_record = bool(await self._ledger.versions(id))
            reads = [id if is_record else await self.app.name_of(id) or id]
        elif subject is not None:
            reads = OfSubject(subject)
        check_text("reason", reason)
        eraser = Eraser(self._table, self._drafts)
        return await eraser.erase(reads, self._reasoned(reason), cause, dry_run=dry_run)

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

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            current = found[0]
            if current is None:
                raise RecordNotFound(id)
            check_version(id, current.number, expected_version)
            change = verb(Frozen(current.body), at=note.at, nonce=self._drafts.nonce())
            return [self._drafts.following(current, change.event_type, change.object)]

        key = retry_key(idempotency_key, name, id, expected_version, verb.keywords)
        return (await self._one(id, note, decide, key))[0]

    async def _one(self, id: str, note: Note, decide: Decide, key: Any) -> Sequence[Receipt]:
        return await self._receipts(await self._table.change([id], note, decide, key, id))
