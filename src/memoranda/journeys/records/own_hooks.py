"""Telling hooks of changes in a store of the user's own (MEM-HOOK-1).

Such a store returns no more than the contract says. A record that was created is read again for
the hook; what was changed is reported as it was found before, and as the change makes it.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, Generic, TypeVar

from memoranda.journeys.records.changes import Kind, Plain, Planned, typed
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.notify import HookName, notify
from memoranda.kernel.errors import RecordNotFound
from memoranda.records.model import StoredMemoryRecord
from memoranda.records.store import MemoryHooks, MemoryStore

T = TypeVar("T")

HOOKS: Final[Mapping[Kind, HookName]] = {
    "create": "on_created",
    "update": "on_updated",
    "annotate": "on_updated",
    "delete": "on_deleted",
}


class OwnTelling(Generic[T]):
    """Tells the hooks of one handle what was done to a store that it was given."""

    def __init__(
        self, store: MemoryStore[T], codec: DataCodec[T], hooks: MemoryHooks[T] | None
    ) -> None:
        self._store = store
        self._codec = codec
        self.hooks: Final = hooks or MemoryHooks()

    def hears(self, kind: Kind) -> bool:
        return getattr(self.hooks, HOOKS[kind]) is not None

    async def created(self, ids: Sequence[str]) -> None:
        """Call the hook for each record that was created."""
        if self.hears("create"):
            for id in ids:
                await notify(self.hooks, "on_created", id, partial(self._read, id))

    async def changed(self, plan: Sequence[Planned]) -> None:
        """Call the hook for each record that was changed or deleted, in their order."""
        for (kind, id, *_), before, after in plan:
            if before is not None and self.hears(kind):
                values = partial(self._values, before, after)
                await notify(self.hooks, HOOKS[kind], id, values)

    async def _read(self, id: str) -> tuple[StoredMemoryRecord[T]]:
        created = await self._store.get(id)
        if created is None:  # somebody was fast
            raise RecordNotFound(id)
        return (created,)

    def _values(self, before: Plain, after: Plain | None) -> tuple[object, ...]:
        known = typed(self._codec, before)
        if after is None:
            return before.id, known
        return before.id, known.data, typed(self._codec, after).data
