"""Running hooks so that whatever they do stays with them (MEM-HOOK-2, MEM-HOOK-3)."""

import asyncio
import inspect
import logging
from collections.abc import Callable
from typing import Any

from recollect.records.hooks import HookFailure, MemoryHooks

log = logging.getLogger("recollect.hooks")


async def notify(
    hooks: MemoryHooks[Any], hook: Callable[..., Any], record_id: str | None, *values: object
) -> None:
    """Call one hook with values of its own; report a failure, never raise it (MEM-HOOK-2)."""
    try:
        result = hook(*values)
        if inspect.isawaitable(result):
            async with asyncio.timeout(hooks.time_limit):
                await result
    except asyncio.CancelledError as cancelled:
        # The caller's own cancellation goes on; a hook that was cancelled inside is a failure.
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        _report(hooks, hook, record_id, cancelled)
    except Exception as error:  # noqa: BLE001 - a hook is foreign code: anything may come out of it
        _report(hooks, hook, record_id, error)


def _report(
    hooks: MemoryHooks[Any], hook: Callable[..., Any], record_id: str | None, error: BaseException
) -> None:
    name = getattr(hook, "__qualname__", repr(hook))
    log.error("the hook %s failed for the record %r", name, record_id, exc_info=error)
    if hooks.on_failure is None:
        return
    try:
        hooks.on_failure(HookFailure(name, record_id, error))
    except Exception:
        log.exception("on_failure itself failed while told of the hook %s", name)
