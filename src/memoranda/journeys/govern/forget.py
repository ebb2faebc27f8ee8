"""Forgetting, in its kinds: each an act with a reason, none of them silent (GOV-FORGET)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar, Unpack

from memoranda.identity import Frozen, decode
from memoranda.journeys.govern.about import About, said_of_next
from memoranda.journeys.govern.committer import Committer
from memoranda.journeys.govern.drafts import Drafts, content_of
from memoranda.journeys.govern.objects import Receipt, dropped
from memoranda.journeys.govern.provenance import following
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.govern.writes import Writer, active
from memoranda.journeys.records.contents import (
    UNCHANGED,
    annotation,
    check_expected,
    check_findable,
    retry_key,
)
from memoranda.kernel.errors import RecordNotFound
from memoranda.ledger import forget as verbs
from memoranda.ledger.object import Cause
from memoranda.ledger.unit import Current, Draft
from memoranda.records.table import Encoded, check_version

T = TypeVar("T")


class Forgetting(Generic[T]):
    """Archives, reinstates and supersedes objects of one scope."""

    def __init__(
        self, table: GovernedTable, drafts: Drafts, writer: Writer[T], committer: Committer[T]
    ) -> None:
        self._table = table
        self._drafts = drafts
        self._writer = writer
        self._committer = committer

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
        await self._table.rulebook.check_forgetting(self._committer.actor, cause)
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
        note = self._committer.note_unchecked(reason)
        annotated = annotation(said.tags, said.meta)
        row = self._writer.row(data, None, replace(said, tags=UNCHANGED, meta=UNCHANGED))
        await self._table.rulebook.check_forgetting(note.actor, cause)
        await self._table.rulebook.check_judging(said.verdict, note.actor)

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
        old, replacement = await self._committer.receipts(written)
        if written.committed.fresh:
            before, after = (draft.body for draft in written.drafts)
            replacement = replace(replacement, dropped_sources=dropped(before, after))
        return old, replacement

    async def _forgetting(
        self,
        name: str,
        id: str,
        verb: "partial[verbs.StatusChange]",
        expected_version: int | None,
        idempotency_key: str | None,
    ) -> Receipt:
        check_findable(id)
        check_expected(expected_version)
        note = self._committer.note_unchecked(verb.keywords["reason"])
        guarded = await self._table.rulebook.guard()

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
        return (
            await self._committer.receipts(await self._table.change([id], note, decide, key, id))
        )[0]
