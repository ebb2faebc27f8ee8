"""Telling hooks what was written, from the drafts of any verb (MEM-HOOK-1)."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from memoranda.identity import decode
from memoranda.journeys.govern.drafts import content_of
from memoranda.journeys.records.codec import DataCodec, read
from memoranda.journeys.records.notify import HookName, notify
from memoranda.ledger.unit import Current, Draft
from memoranda.records.hooks import MemoryHooks
from memoranda.records.model import StoredMemoryRecord

T = TypeVar("T")


class Telling(Generic[T]):
    """Tells the hooks of one handle of changes that have landed."""

    def __init__(self, hooks: MemoryHooks[T] | None, codec: DataCodec[T]) -> None:
        self._hooks = hooks
        self._codec = codec

    async def tell(self, drafts: Sequence[Draft]) -> None:
        """Call the hook of each change of a record, in their order."""
        if self._hooks is None:
            return
        for draft in drafts:
            if draft.version is None:
                continue
            name, values = self._told(draft.replaces, Current(*draft.version, draft.body))
            if name is not None and getattr(self._hooks, name) is not None:
                await notify(self._hooks, name, draft.version.id, values)

    def _told(
        self, before: Current | None, after: Current
    ) -> tuple[HookName | None, Callable[[], Sequence[object]]]:
        """Which hook hears of a change, and what: a record is there while it is active."""
        if before is None or before.status != "active":
            is_there = after.status == "active"
            return ("on_created" if is_there else None), lambda: (self._record(after),)
        if after.status != "active":
            return "on_deleted", lambda: (before.id, self._record(before))
        return "on_updated", lambda: (
            before.id,
            self._record(before).data,
            self._record(after).data,
        )

    def _record(self, current: Current) -> StoredMemoryRecord[T]:
        data, tags, meta = content_of(decode(current.body))
        return StoredMemoryRecord(
            current.id,
            read(self._codec, data),
            current.created_at,
            current.updated_at,
            tags,
            meta,
        )
