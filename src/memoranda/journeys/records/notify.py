"""Running hooks so that whatever they do stays with them (MEM-HOOK-2, MEM-HOOK-3)."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Literal

from memoranda.journeys.records.foreign import answer_of
from memoranda.records.store import HookFailure, MemoryHooks

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
