"""Running hooks so that whatever they do stays with them (MEM-HOOK-1 to MEM-HOOK-3)."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Generic, Literal, TypeVar

from memoranda.journeys.records.changes import Kind, Plain, Planned, typed
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.foreign import answer_of
from memoranda.kernel.errors import RecordNotFound
from memoranda.records.model import StoredMemoryRecord
from memoranda.records.store import HookFailure, MemoryHooks, MemoryStore

log = logging.getLogger("memoranda.hooks")

Values = Sequence[object]
HookName = Literal["on_created", "on_updated", "on_deleted", "on_queried"]


async def notify(
    hooks: MemoryHooks[Any],
    name: HookName,
    record_id: str | None,
    values: Callable[[], Values | Awaitable[Values]],
) -> None:
    """Call one hook with values made for it; report a failure, never raise it (MEM-HOOK-2).

    Making the values may fail as well: what is stored may not fit the handle's model, or it has to
    be read first.
    """

    async def call() -> None:
        made = values()
        given = await made if inspect.isawaitable(made) else made
        await answer_of(partial(getattr(hooks, name), *given))

    error = await _outcome(call(), hooks.time_limit)
    if error is None:
        return
    log.error("the hook %s failed for the record %r", name, record_id, exc_info=error)
    if hooks.on_failure is not None:
        failure = HookFailure(name, record_id, error)
        error = await _outcome(answer_of(partial(hooks.on_failure, failure)), hooks.time_limit)
        if error is not None:
            log.error("on_failure itself failed when called about %s", name, exc_info=error)


async def _outcome(foreign: Awaitable[None], time_limit: float) -> BaseException | None:
    """What a user's function, plain or async, failed with; None if it did not.

    Whatever class it raises: only what ends the process, or the caller's own task, goes on.
    """
    try:
        async with asyncio.timeout(time_limit):
            await foreign
    except (KeyboardInterrupt, SystemExit):
        raise
    except asyncio.CancelledError as cancelled:
        # The caller's own cancellation goes on; a hook that was cancelled inside is a failure.
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return cancelled
    except BaseException as error:  # noqa: BLE001 - foreign code: anything may come out of it
        return error
    return None


# ------------------------------------------------------------------------------------------------
# Telling hooks of changes in a store of the user's own (MEM-HOOK-1).
#
# Such a store returns no more than the contract says. A record that was created is read again for
# the hook; what was changed is reported as it was found before, and as the change makes it.

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
