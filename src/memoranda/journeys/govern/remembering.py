"""Remembering: new objects, and their next versions."""

from collections.abc import Sequence
from typing import Any, TypeVar, Unpack

from memoranda.journeys.govern.about import About, Memo
from memoranda.journeys.govern.batch import Batch
from memoranda.journeys.govern.handle import Handle, noted
from memoranda.journeys.govern.receipts import Receipt
from memoranda.journeys.govern.writes import Write
from memoranda.journeys.records.contents import batch, check_batch, check_text

T = TypeVar("T")


class Remembering(Handle[T]):
    """The verbs remember, remember_many, put, update, revise and batch."""

    @noted
    async def remember(
        self,
        data: T | bytes,
        *,
        id: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Remember a text, or any data; what is not known of it is written as unknown.

        Bytes need a `media_type`; they are kept, and not searched. `valid_to` is until when it
        holds, `expires` from when it is not to be returned. A `temporal_scope` of ``unbounded``
        says that it holds without end. `statement_type` says that it is the statement of a source,
        or derived; else it follows from who remembers it. `applicability_scope` is where it
        applies, by default in this scope. `thread`, `speaker` and `said_at` say where it was said,
        by whom and when; else its first source, a name before a colon and the time of writing do.
        ``indexed=False`` keeps it from being searched. That it is Factual another actor says, with
        `approve` or `revise`: JudgementRefused, unless the policy `oversight` lets a maker judge;
        ConformanceBroken while a break stands.
        """
        return await self._one(self._writer.remember(data, id, about, reason), idempotency_key)

    @noted
    async def remember_many(
        self,
        data: Sequence[T | Memo[T] | bytes],
        *,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Sequence[Receipt]:
        """Remember all of these, or none: data, or a `Memo` with what is said of it alone.

        What is said here is said of each, but for what a memo says otherwise.
        """
        check_batch(data)
        if not data:
            return []
        shared = self._writer.remembering(about, reason)

        def write(one: Any) -> Write:
            if not isinstance(one, Memo):
                return shared(one, None)
            if not one.about:
                return shared(one.data, one.id)
            return self._writer.remember(one.data, one.id, {**about, **one.about}, reason)

        writes = batch(data, write)
        requests = tuple(write.request for write in writes)
        written = await self._run(writes, idempotency_key, "remember_many", requests)
        return [receipt for receipt in written if receipt is not None]

    @noted
    async def put(
        self,
        id: str,
        data: T | bytes,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Create something under an id, or replace it whole: what is not said of it is not there.

        The receipt says which (`created`). With an `expected_version` of 0, nothing may have been
        there, ever: VersionConflict. What was derived stays marked as derived.
        """
        write = self._writer.put(id, data, about, expected_version, reason)
        return await self._one(write, idempotency_key)

    @noted
    async def update(
        self,
        id: str,
        patch: Any,
        *,
        expected_version: int | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Make the next version: an object's members are merged, other data is replaced.

        What is not named passes on; None says that there is none. Another statement has only the
        sources that are given with it, and is neither judged nor approved: `keep_sources`, with a
        reason, keeps the old ones. The receipt says how many were dropped.
        """
        write = self._writer.update(id, patch, about, expected_version, reason)
        return await self._one(write, idempotency_key)

    @noted
    async def revise(
        self,
        id: str,
        *,
        reason: str,
        expected_version: int | None = None,
        idempotency_key: str | None = None,
        **about: Unpack[About],
    ) -> Receipt:
        """Say something else of a statement that stays as it is, as its next version.

        What is not named stays; None says that there is none. With another verdict or other sources
        it is no longer approved; with other sources what was Factual is Unanswered, unless the
        verdict is named again. That it is Factual somebody says who took no part in it, as in
        `approve`: JudgementRefused to others.
        """
        write = self._writer.revise(id, about, expected_version, reason)
        return await self._one(write, idempotency_key)

    def batch(self, *, reason: str | None = None, idempotency_key: str | None = None) -> Batch[T]:
        """Many writes in one transaction: all of them land when the block ends, or none.

        ::

            async with memory.batch(reason="the visit is over") as batch:
                batch.put("visit", {"state": "done"})
                batch.forget("reminder")
            batch.receipts
        """
        if reason is not None:
            check_text("reason", reason)
        return Batch(self._writer, self._batched, reason, idempotency_key)

    @noted
    async def _batched(self, writes: Sequence[Write], key: str | None) -> Sequence[Receipt | None]:
        return await self._run(writes, key, "batch", tuple(write.request for write in writes))
