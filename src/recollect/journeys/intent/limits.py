"""Time limits that hold: whoever is not done in time is given up, even if it ignores that.

`asyncio.wait_for` waits until what it cancelled has ended, and so for ever for code that does not
heed a cancellation. Here it is cancelled and left behind; what it comes to later is logged.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

R = TypeVar("R")


class TookTooLong(Exception):
    """Some work was given up, for its time was over."""


log = logging.getLogger("recollect.intent")


async def within(limit: float | None, work: Coroutine[Any, Any, R], what: str) -> R:
    """The result of some work; TookTooLong when the limit in seconds is over."""
    task = asyncio.get_running_loop().create_task(work)
    try:
        await asyncio.wait({task}, timeout=limit)
    except asyncio.CancelledError:
        task.cancel()
        task.add_done_callback(lambda late: _ended_late(late, what))
        await asyncio.wait({task}, timeout=limit)
        raise
    if task.done():
        if task.cancelled():
            raise RuntimeError(f"{what} was cancelled by itself")
        return task.result()
    task.cancel()
    task.add_done_callback(lambda late: _ended_late(late, what))
    raise TookTooLong(f"{what} took longer than {limit:g} s")


def _ended_late(task: "asyncio.Task[Any]", what: str) -> None:
    if not task.cancelled() and (error := task.exception()) is not None:
        log.warning("%s was given up, and failed later", what, exc_info=error)
