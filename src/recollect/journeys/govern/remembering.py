"""Remembering: new objects, and their next versions."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from recollect.journeys.govern.facts import Facts, Source
from recollect.journeys.govern.handle import Handle
from recollect.journeys.govern.moments import Moment
from recollect.journeys.govern.receipts import Receipt
from recollect.journeys.records.contents import batch, patching, retry_key
from recollect.kernel.errors import InvalidRecord
from recollect.ledger.object import VerdictType

T = TypeVar("T")


class Remembering(Handle[T]):
    """The verbs remember, remember_many and update."""

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
        tags: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Remember a text, or any data; what is not known of it is written as unknown.

        `valid_to` is until when it holds, `expires` from when it is not to be returned.
        """
        facts = Facts.given(
            source=source,
            valid_from=valid_from,
            valid_to=valid_to,
            expires=expires,
            subject=subject,
            jurisdiction=jurisdiction,
            verdict=verdict,
        )
        note = self._note(reason)
        row = self._new_row(data, id, tags, meta, note.at)
        request = ("remember", id, row.content, _said(facts))
        key = retry_key(idempotency_key, *request)
        return (await self._receipts(await self._table.create([row], note, key, facts)))[0]

    async def remember_many(
        self,
        data: Sequence[T],
        *,
        source: Source | Sequence[Source] | None = None,
        subject: str | None = None,
        tags: Sequence[str] | None = None,
        meta: Mapping[str, Any] | None = None,
        reason: str | None = None,
    ) -> Sequence[Receipt]:
        """Remember all of these, or none; what is said of one is said of each."""
        if isinstance(data, str):
            raise InvalidRecord("$", "it is a list of what to remember, not one text")
        if not data:
            return []
        facts = Facts.given(source=source, subject=subject)
        note = self._note(reason)
        rows = batch(data, lambda each: self._new_row(each, None, tags, meta, note.at))
        return await self._receipts(await self._table.create(rows, note, None, facts))

    async def update(
        self,
        id: str,
        patch: Any,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Make the next version: an object's members are merged, other data is replaced."""
        edit = patching(self._codec, id, patch, expected_version)
        request = ("update", id, expected_version, self._codec.encode_patch(patch))
        key = retry_key(idempotency_key, *request)
        written = await self._table.edited([edit], self._note(reason), key)
        return (await self._receipts(written))[0]


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
    ]
