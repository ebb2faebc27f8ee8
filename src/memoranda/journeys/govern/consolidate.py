"""Consolidating and approving: governed transformations of what is remembered."""

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.identity import Frozen
from memoranda.journeys.govern.about import Source, check_temporal, check_verdict, sources_of
from memoranda.journeys.govern.committer import Committer
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.govern.provenance import validity_between
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.govern.times import Moment, milliseconds_or_none
from memoranda.journeys.govern.writes import active
from memoranda.journeys.records.contents import annotation, check_batch, check_findable, check_text
from memoranda.kernel.clock import IdSource
from memoranda.kernel.errors import InvalidRecord, RecordNotFound
from memoranda.kernel.given import check_texts
from memoranda.kernel.json import storable
from memoranda.ledger.consolidate import Consolidation, Refusal, consolidate
from memoranda.ledger.derive import row_of, tags_of
from memoranda.ledger.gates import ConsolidationDraft
from memoranda.ledger.object import VerdictType
from memoranda.ledger.policy import OnConflict
from memoranda.ledger.time import TemporalScope
from memoranda.ledger.trust import approve
from memoranda.ledger.unit import Current, Draft


class _Refused(Exception):
    """Ends the unit of work of a consolidation that did not pass."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__()
        self.refusal = refusal


class Consolidating:
    """Consolidates and approves objects of one scope."""

    def __init__(
        self, table: GovernedTable, drafts: Drafts, committer: Committer[Any], ids: IdSource
    ) -> None:
        self._table = table
        self._drafts = drafts
        self._committer = committer
        self._ids = ids

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
        rules = await self._table.rulebook.consolidation(self._committer.actor, on_conflict)
        guarded = await self._table.rulebook.guard()
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
        note = self._committer.note(None)
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
            )
            if isinstance(made, Refusal):
                raise _Refused(made)
            drafts = [self._made(made, ids)]
            guarded(drafts)
            return drafts

        try:
            written = await self._table.change(list(ids), note, decide, about=new_id)
        except _Refused as refused:
            return refused.refusal
        return (await self._committer.receipts(written))[0]

    async def approve(self, id: str, *, reason: str, verdict: VerdictType | None = None) -> Receipt:
        """Raise an object's trust to approved; ApprovalRefused to whoever contributed to it.

        Contributors are the actors of all its versions, and of everything that it was made from.
        With a `verdict` it is judged as well; what is Factual needs a source.
        """
        check_findable(id)
        check_text("reason", reason)
        if verdict is not None:
            check_verdict(verdict)
        guarded = await self._table.rulebook.guard()
        contributors = await self._table.rulebook.makers(id)
        note = self._committer.note(reason)

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            current = active(id, found[0])
            change = approve(
                Frozen(current.body),
                by=self._committer.actor,
                contributors=contributors,
                at=note.at,
                nonce=self._drafts.nonce(),
                reason=reason,
                verdict=verdict,
            )
            drafts = [self._drafts.following(current, change.event_type, change.object)]
            guarded(drafts)
            return drafts

        return (
            await self._committer.receipts(await self._table.change([id], note, decide, about=id))
        )[0]

    def _made(self, made: Consolidation, ids: Sequence[str]) -> Draft:
        document = made.object.thaw()
        return Draft(
            "consolidate",
            made.object.canonical,
            self._drafts.salt(),
            row_of(document),
            tags_of(document),
            inputs=tuple(dict.fromkeys(ids)),
        )


def _known(id: str, current: Current | None) -> Current:
    if current is None:
        raise RecordNotFound(id)
    return current
