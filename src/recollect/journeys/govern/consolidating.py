"""Consolidating and approving: governed transformations of what is remembered."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from recollect.identity import Frozen, decode
from recollect.journeys.govern.facts import Source, sources_of
from recollect.journeys.govern.handle import Handle
from recollect.journeys.govern.receipts import Receipt
from recollect.journeys.govern.table import active
from recollect.journeys.records.contents import check_findable, check_text
from recollect.kernel.errors import RecordNotFound
from recollect.ledger.consolidate import Consolidation, Refusal, consolidate
from recollect.ledger.derive import row_of, tags_of
from recollect.ledger.entry import read_entry
from recollect.ledger.gates import ConsolidationDraft
from recollect.ledger.object import VerdictType
from recollect.ledger.trust import approve
from recollect.ledger.unit import Current, Draft

T = TypeVar("T")


class _Refused(Exception):
    """Ends the unit of work of a consolidation that did not pass."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__()
        self.refusal = refusal


class Consolidating(Handle[T]):
    """The verbs consolidate and approve."""

    async def consolidate(
        self,
        ids: Sequence[str],
        statement: str,
        *,
        justification: str,
        verdict: VerdictType = "Unanswered",
        source: Source | Sequence[Source] | None = None,
        derived_fragments: Sequence[str] = (),
        on_conflict: Literal["refuse", "record"] = "refuse",
        tags: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> Receipt | Refusal:
        """Sum several objects up in one, if every gate passes; else a Refusal that names them all.

        The inputs stay as they are. The output is a ConsolidatedStatement with all of their
        sources, the most restrictive validity and the lowest trust (GOV-CONS-3).
        """
        for id in ids:
            check_findable(id)
        draft = ConsolidationDraft(
            statement=statement,
            verdict_type=verdict,
            source_refs=sources_of(source),
            derived_fragments=tuple(derived_fragments),
            on_conflict=on_conflict,
            tags=None if tags is None else tuple(tags),
            meta=meta,
        )
        note = self._note(None)
        new_id = self._ids.new_id()

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            inputs = [Frozen(_known(id, one).body) for id, one in zip(ids, found, strict=True)]
            made = consolidate(
                inputs, draft, justification, id=new_id, at=note.at, nonce=self._drafts.nonce()
            )
            if isinstance(made, Refusal):
                raise _Refused(made)
            return [self._made(made, ids)]

        try:
            written = await self._table.change(list(ids), note, decide, about=new_id)
        except _Refused as refused:
            return refused.refusal
        return (await self._receipts(written))[0]

    async def approve_record(self, id: str, *, reason: str) -> Receipt:
        """Raise an object's trust to approved; ApprovalRefused to whoever contributed to it.

        Contributors are the actors of all its versions, and of everything that it was made from.
        """
        check_findable(id)
        check_text("reason", reason)
        contributors = await self._contributors(id)
        note = self._note(reason)

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            current = active(id, found[0])
            change = approve(
                Frozen(current.body),
                by=str(self.actor),
                contributors=contributors,
                at=note.at,
                nonce=self._drafts.nonce(),
                reason=reason,
            )
            return [self._drafts.following(current, change.event_type, change.object)]

        return (await self._receipts(await self._table.change([id], note, decide, about=id)))[0]

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

    async def _contributors(self, id: str) -> frozenset[str]:
        """Who wrote any version of an object, or of what it was made from, however indirectly."""
        actors: set[str] = set()
        seen: set[str] = set()
        ahead = [id]
        while ahead:
            one = ahead.pop()
            if one in seen:
                continue
            seen.add(one)
            versions = await self._ledger.versions(one)
            if one == id and not versions:
                raise RecordNotFound(id)
            for past in versions:
                actors.add(read_entry(past.entry).actor)
                if past.body is not None:
                    document = decode(past.body)
                    ahead += [each["id"] for each in document.get("inputs") or ()]
        return frozenset(actors)


def _known(id: str, current: Current | None) -> Current:
    if current is None:
        raise RecordNotFound(id)
    return current
