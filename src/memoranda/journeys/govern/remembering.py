"""Remembering: new objects, and their next versions."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from memoranda.journeys.govern.facts import INHERITED, Declared, Facts, Following, Source
from memoranda.journeys.govern.handle import Handle, noted
from memoranda.journeys.govern.moments import Moment
from memoranda.journeys.govern.receipts import Receipt
from memoranda.journeys.govern.table import active
from memoranda.journeys.records.contents import (
    UNCHANGED,
    Unchanged,
    batch,
    check_batch,
    check_expected,
    check_findable,
    check_not_blank,
    check_text,
    patching,
    retry_key,
)
from memoranda.kernel.errors import InvalidRecord
from memoranda.kernel.json import JsonValue
from memoranda.ledger.object import VerdictType
from memoranda.ledger.time import TemporalScope
from memoranda.ledger.unit import Current, Draft
from memoranda.records.table import check_version

T = TypeVar("T")


class Remembering(Handle[T]):
    """The verbs remember, remember_many, update and revise."""

    @noted
    async def remember(
        self,
        data: T,
        *,
        id: str | None = None,
        source: Source | Sequence[Source] | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        expires: Moment | None = None,
        subject: str | None = None,
        jurisdiction: str | None = None,
        verdict: VerdictType = "Unanswered",
        statement_type: Declared | None = None,
        applicability_scope: Mapping[str, JsonValue] | Unchanged | None = UNCHANGED,
        temporal_scope: TemporalScope | None = None,
        tags: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Remember a text, or any data; what is not known of it is written as unknown.

        `valid_to` is until when it holds, `expires` from when it is not to be returned. A
        `temporal_scope` of ``unbounded`` says that it holds without end. `statement_type` says
        that it is the statement of a source, or derived; else it follows from who remembers it.
        `applicability_scope` is where it applies, by default in this scope. That it is Factual
        another actor says, with `approve` or `revise`: JudgementRefused, unless the policy
        `oversight` lets a maker judge; ConformanceBroken while a break stands.
        """
        facts = Facts.given(
            source=source,
            valid_from=valid_from,
            valid_to=valid_to,
            expires=expires,
            subject=subject,
            jurisdiction=jurisdiction,
            verdict=verdict,
            statement_type=statement_type,
            applicability_scope=applicability_scope,
            temporal_scope=temporal_scope,
        )
        note = self._note(reason)
        await self._rulebook.check_judging(verdict, note.actor)
        row = self._new_row(data, id, tags, meta, note.at)
        request = ("remember", id, row.content, _said(facts))
        key = retry_key(idempotency_key, *request)
        return (await self._receipts(await self._table.create([row], note, key, facts)))[0]

    async def remember_many(
        self,
        data: Sequence[T],
        *,
        source: Source | Sequence[Source] | None = None,
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        expires: Moment | None = None,
        subject: str | None = None,
        jurisdiction: str | None = None,
        verdict: VerdictType = "Unanswered",
        statement_type: Declared | None = None,
        applicability_scope: Mapping[str, JsonValue] | Unchanged | None = UNCHANGED,
        temporal_scope: TemporalScope | None = None,
        tags: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
        reason: str | None = None,
    ) -> Sequence[Receipt]:
        """Remember all of these, or none; what is said of one is said of each."""
        check_batch(data)
        if not data:
            return []
        facts = Facts.given(
            source=source,
            valid_from=valid_from,
            valid_to=valid_to,
            expires=expires,
            subject=subject,
            jurisdiction=jurisdiction,
            verdict=verdict,
            statement_type=statement_type,
            applicability_scope=applicability_scope,
            temporal_scope=temporal_scope,
        )
        note = self._note(reason)
        await self._rulebook.check_judging(verdict, note.actor)
        rows = batch(data, lambda each: self._new_row(each, None, tags, meta, note.at))
        return await self._receipts(await self._table.create(rows, note, None, facts))

    @noted
    async def update(
        self,
        id: str,
        patch: Any,
        *,
        source: Source | Sequence[Source] | None = None,
        keep_sources: bool = False,
        valid_from: Moment | Unchanged | None = UNCHANGED,
        valid_to: Moment | Unchanged | None = UNCHANGED,
        expires: Moment | Unchanged | None = UNCHANGED,
        subject: str | Unchanged | None = UNCHANGED,
        jurisdiction: str | Unchanged | None = UNCHANGED,
        statement_type: Declared | None = None,
        applicability_scope: Mapping[str, JsonValue] | Unchanged | None = UNCHANGED,
        temporal_scope: TemporalScope | Unchanged = UNCHANGED,
        tags: Sequence[str] | Unchanged | None = UNCHANGED,
        meta: Mapping[str, Any] | Unchanged | None = UNCHANGED,
        expected_version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Make the next version: an object's members are merged, other data is replaced.

        What is not named passes on; None says that there is none. Another statement has only the
        sources that are given with it, and is neither judged nor approved: `keep_sources`, with a
        reason, keeps the old ones. The receipt says how many were dropped.
        """
        check_not_blank("$.data", patch)
        said = Following(
            source,
            keep_sources,
            valid_from,
            valid_to,
            expires,
            subject,
            jurisdiction,
            statement_type=statement_type,
            applicability_scope=applicability_scope,
            temporal_scope=temporal_scope,
        ).checked("update", reason)
        edit = patching(self._codec, id, patch, expected_version, tags=tags, meta=meta)
        annotated = [None if one is UNCHANGED else [one] for one in (tags, meta)]
        patched = self._codec.encode_patch(patch)
        request = ("update", id, expected_version, patched, said.request(), annotated)
        key = retry_key(idempotency_key, *request)
        written = await self._table.edited([edit], self._note(reason), key, said=said)
        return (await self._receipts(written))[0]

    @noted
    async def revise(
        self,
        id: str,
        *,
        reason: str,
        verdict: VerdictType | Unchanged = UNCHANGED,
        source: Source | Sequence[Source] | None = None,
        valid_from: Moment | Unchanged | None = UNCHANGED,
        valid_to: Moment | Unchanged | None = UNCHANGED,
        expires: Moment | Unchanged | None = UNCHANGED,
        subject: str | Unchanged | None = UNCHANGED,
        jurisdiction: str | Unchanged | None = UNCHANGED,
        statement_type: Declared | None = None,
        applicability_scope: Mapping[str, JsonValue] | Unchanged | None = UNCHANGED,
        temporal_scope: TemporalScope | Unchanged = UNCHANGED,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Say something else of a statement that stays as it is, as its next version.

        What is not named stays; None says that there is none, and no sources are ``source=[]``.
        With another verdict or other sources it is no longer approved; with other sources what was
        Factual is Unanswered, unless the verdict is named again. That it is Factual somebody
        says who took no part in it, as in `approve`: JudgementRefused to others.
        """
        check_findable(id)
        check_expected(expected_version)
        check_text("reason", reason)
        said = Following(
            source,
            False,
            valid_from,
            valid_to,
            expires,
            subject,
            jurisdiction,
            verdict,
            statement_type,
            applicability_scope,
            temporal_scope,
        ).checked("revise", reason)
        if said == INHERITED:
            raise InvalidRecord("$", "name what is to be said of it from now on")
        note = self._note(reason)
        if verdict == "Factual":
            makers = await self._rulebook.makers(id)
            await self._rulebook.check_judging(verdict, note.actor, makers)

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            current = active(id, found[0])
            check_version(id, current.number, expected_version)
            return [self._drafts.revised(current, note, said)]

        key = retry_key(idempotency_key, "revise", id, expected_version, said.request())
        return (await self._receipts(await self._table.change([id], note, decide, key, id)))[0]


def _said(facts: Facts) -> list[Any]:
    """Facts as a part of a request that may be retried."""
    validity = facts.validity
    return [
        list(facts.source_refs),
        validity.valid_from,
        validity.valid_to,
        facts.expires,
        facts.subject,
        facts.jurisdiction,
        facts.verdict,
        validity.scope,
        facts.statement_type,
        None if isinstance(facts.applicability, Unchanged) else [facts.applicability],
    ]
