"""How what is remembered changes its status: archived, superseded, consolidated, approved.

Each is an act with a reason, and none is silent (GOV-FORGET). To forget, which is a write that may
stand in a batch, is in `writes`; to erase is in `erase`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar, Unpack

from memoranda.identity import Frozen, decode
from memoranda.journeys.govern.about import (
    About,
    Said,
    Source,
    check_temporal,
    check_verdict,
    said_of_next,
    sources_of,
)
from memoranda.journeys.govern.drafts import Drafts, content_of
from memoranda.journeys.govern.objects import Receipt, dropped
from memoranda.journeys.govern.provenance import following, validity_between
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.govern.times import Moment, milliseconds_or_none
from memoranda.journeys.govern.writer import Writer
from memoranda.journeys.govern.writes import active
from memoranda.journeys.records.contents import (
    UNCHANGED,
    annotation,
    check_batch,
    check_expected,
    check_findable,
    check_text,
    retry_key,
)
from memoranda.kernel.clock import IdSource
from memoranda.kernel.errors import InvalidRecord, RecordNotFound
from memoranda.kernel.given import RetryKey, check_texts
from memoranda.kernel.json import storable
from memoranda.ledger import lifecycle
from memoranda.ledger.consolidate import Refusal, consolidate
from memoranda.ledger.derive import row_of, tags_of
from memoranda.ledger.gates import ConsolidationDraft
from memoranda.ledger.object import Cause, VerdictType
from memoranda.ledger.policy import OnConflict
from memoranda.ledger.time import TemporalScope
from memoranda.ledger.unit import Current, Draft
from memoranda.records.table import Content, Note, Row, check_version

T = TypeVar("T")


class _Refused(Exception):
    """Ends the unit of work of a consolidation that did not pass."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__()
        self.refusal = refusal


class Transitions(Generic[T]):
    """Archives, reinstates, supersedes, consolidates and approves objects of one scope."""

    def __init__(
        self,
        table: GovernedTable,
        drafts: Drafts,
        writer: Writer[T],
        ids: IdSource,
    ) -> None:
        self._table = table
        self._drafts = drafts
        self._writer = writer
        self._ids = ids

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
        await self._table.rulebook.check_forgetting(self._writer.actor, cause)
        change = partial(lifecycle.archive, reason=reason, cause=cause)
        key = retry_key(idempotency_key, "archive", id, expected_version, change.keywords)
        return await self._changed(id, change, reason, _known, expected_version, key)

    async def reinstate(
        self,
        id: str,
        *,
        reason: str,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Make what was archived or forgotten active again, as its next version."""
        change = partial(lifecycle.reinstate, reason=reason)
        key = retry_key(idempotency_key, "reinstate", id, expected_version, change.keywords)
        return await self._changed(id, change, reason, _known, expected_version, key)

    async def approve(self, id: str, *, reason: str, verdict: VerdictType | None = None) -> Receipt:
        """Raise an object's trust to approved; ApprovalRefused to whoever contributed to it.

        Contributors are the actors of all its versions, and of everything that it was made from.
        With a `verdict` it is judged as well; what is Factual needs a source.
        """
        check_findable(id)
        check_text("reason", reason)
        if verdict is not None:
            check_verdict(verdict)
        change = partial(
            lifecycle.approve,
            by=self._writer.actor,
            contributors=await self._table.rulebook.makers(id),
            reason=reason,
            verdict=verdict,
        )
        return await self._changed(id, change, reason, active)

    async def _changed(
        self,
        id: str,
        change: "partial[lifecycle.StatusChange]",
        reason: str,
        find: Callable[[str, Current | None], Current],
        expected_version: int | None = None,
        key: RetryKey | None = None,
    ) -> Receipt:
        """Make the next version of one object, of which `change` says what it is."""
        check_findable(id)
        check_expected(expected_version)
        note = self._writer.note_unchecked(reason)
        check_drafts = await self._table.rulebook.guard()

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            current = find(id, found[0])
            check_version(id, current.number, expected_version)
            made = change(Frozen(current.body), at=note.at, nonce=self._drafts.nonce())
            drafts = [self._drafts.following(current, made.event_type, made.object)]
            check_drafts(drafts)
            return drafts

        written = await self._table.change([id], note, decide, key, id)
        return (await self._writer.receipts(written))[0]

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
        note = self._writer.note_unchecked(reason)
        row = self._writer.row(data, None, replace(said, tags=UNCHANGED, meta=UNCHANGED))
        await self._table.rulebook.check_forgetting(note.actor, cause)
        await self._table.rulebook.check_judging(said.verdict, note.actor)
        superseded = self.superseding(row, said, note, reason, cause)

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            current = active(id, found[0])
            check_version(id, current.number, expected_version)
            return superseded(current)

        request = ("supersede", id, expected_version, row.content, said.request, cause)
        key = retry_key(idempotency_key, *request)
        written = await self._table.change([id], note, decide, key, id)
        old, replacement = await self._writer.receipts(written)
        if written.committed.fresh:
            before, after = (draft.body for draft in written.drafts)
            replacement = replace(replacement, dropped_sources=dropped(before, after))
        return old, replacement

    def superseding(
        self, row: Row, said: Said, note: Note, reason: str, cause: Cause
    ) -> Callable[[Current], list[Draft]]:
        """What it takes to let a row stand in the place of an object: the end of that, and it."""
        annotated = annotation(said.tags, said.meta)

        def decided(current: Current) -> list[Draft]:
            before = decode(current.body)
            data, _, _, is_raw = row.content
            content = Content(data, *annotated(content_of(before)), is_raw)
            provenance = following(said, before, is_restated=True, is_raw=is_raw)
            dated = row._replace(content=content, created_at=note.at, updated_at=note.at)
            new = self._drafts.created(dated, note, provenance)
            old, replacement = lifecycle.supersede(
                Frozen(current.body),
                Frozen(new.body),
                reason=reason,
                cause=cause,
                at=note.at,
                nonce=self._drafts.nonce(),
            )
            gone = self._drafts.following(current, old.event_type, old.object)
            return [gone, new._replace(body=replacement.object.canonical)]

        return decided

    async def consolidate(
        self,
        ids: Sequence[str],
        statement: str,
        *,
        justification: str,
        verdict: VerdictType = "Unanswered",
        source: Source | Sequence[Source] | None = None,
        derived_fragments: Sequence[str] = (),
        on_conflict: OnConflict = "refuse",
        valid_from: Moment | None = None,
        valid_to: Moment | None = None,
        temporal_scope: TemporalScope | None = None,
        widening: str | None = None,
        tags: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Receipt | Refusal:
        """Sum several objects up in one, if every gate passes; else a Refusal that names them all.

        The inputs stay as they are. The output is a ConsolidatedStatement with all of their
        sources, the most restrictive validity and the lowest trust (GOV-CONS-3). Another validity
        may be named; one that claims more than the inputs do needs a `widening`, which says why.
        It is Factual only if all of them are, and if all that it says stands in them. PolicyRefused
        where the policy `consolidation` rules it out.
        """
        for given in (ids, derived_fragments):
            check_batch(given)
        check_texts("derived_fragments", derived_fragments)
        annotation(tags, meta)  # refused as it is in a record
        for id in ids:
            check_findable(id)
        check_verdict(verdict)
        if on_conflict not in ("refuse", "record"):
            raise InvalidRecord("on_conflict", "it is neither refuse nor record")
        for name, text in (("statement", statement), ("justification", justification)):
            if not isinstance(text, str) or not storable(text):
                raise InvalidRecord(name, "it is not a text that can be stored")
        validity = None
        if not (valid_from is valid_to is temporal_scope is None):
            check_temporal(temporal_scope)
            start, end = milliseconds_or_none(valid_from), milliseconds_or_none(valid_to)
            validity = validity_between(start, end, temporal_scope)
        if widening is not None:
            check_text("widening", widening)
        rules = await self._table.rulebook.consolidation(self._writer.actor, on_conflict)
        check_drafts = await self._table.rulebook.guard()
        draft = ConsolidationDraft(
            statement=statement,
            verdict_type=verdict,
            source_refs=sources_of(source),
            derived_fragments=tuple(derived_fragments),
            on_conflict=on_conflict,
            validity=validity,
            widening=widening,
            tags=None if tags is None else tuple(tags),
            meta=meta,
        )
        note = self._writer.note(None)
        new_id = self._ids.new_id()

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            inputs = [
                Frozen(_known(id, current).body) for id, current in zip(ids, found, strict=True)
            ]
            made = consolidate(
                inputs,
                draft,
                justification,
                id=new_id,
                at=note.at,
                nonce=self._drafts.nonce(),
                gates=rules.gates,
                trust=self._drafts.trust,
            )
            if isinstance(made, Refusal):
                raise _Refused(made)
            document, salt = made.object.thaw(), self._drafts.salt()
            drafts = [
                Draft(
                    "consolidate",
                    made.object.canonical,
                    salt,
                    row_of(document),
                    tags_of(document),
                    inputs=tuple(dict.fromkeys(ids)),
                )
            ]
            check_drafts(drafts)
            return drafts

        try:
            written = await self._table.change(list(ids), note, decide, about=new_id)
        except _Refused as refused:
            return refused.refusal
        return (await self._writer.receipts(written))[0]


def _known(id: str, current: Current | None) -> Current:
    if current is None:
        raise RecordNotFound(id)
    return current
