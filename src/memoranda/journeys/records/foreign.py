"""Calling code that is not ours: plain or async, within a time limit that holds.

A plain function runs on a thread of its own, so that it holds up nobody but itself. Whoever is not
done in time is given up, even if it ignores that: `asyncio.wait_for` waits until what it cancelled
has ended, and so for ever for code that does not heed a cancellation. Here it is cancelled and left
behind; what it comes to later is logged.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from math import inf
from threading import Thread
from typing import Any, Final, TypeVar

from memoranda.kernel.errors import InvalidOption

R = TypeVar("R")

GOES_THROUGH: Final = (KeyboardInterrupt, SystemExit, asyncio.CancelledError)
"""What is never taken for a failure of foreign code: somebody ends the process, or the caller."""

log = logging.getLogger("memoranda.foreign")


class TookTooLong(Exception):
    """Some work was given up, for its time was over."""


def check_limit(option: str, given: float) -> float:
    """A time limit in seconds; InvalidOption where it would limit nothing, or everything."""
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if not is_number or not 0 < given < inf:
        raise InvalidOption(option, "it is no time limit; give seconds above 0, such as 5")
    return given


async def answer_of(call: Callable[[], Any]) -> Any:
    """What a function answers, or raises; one that is not async is called on a thread.

    The thread sees the same context, and nobody waits for it when the process ends.
    """
    if inspect.iscoroutinefunction(call):
        return await call()
    answer = await _on_a_thread(call)
    return await answer if inspect.isawaitable(answer) else answer


async def _on_a_thread(call: Callable[[], Any]) -> Any:
    loop, context = asyncio.get_running_loop(), copy_context()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()

    def settle(answer: Any, error: BaseException | None) -> None:
        if not done.done():  # else it was given up
            done.set_result((answer, error))

    def work() -> None:
        answer, error = None, None
        try:
            answer = context.run(call)
        except BaseException as raised:  # noqa: BLE001 - it is raised again where it is awaited
            error = raised
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, answer, error)

    Thread(target=work, name="memoranda-foreign", daemon=True).start()
    answer, error = await done
    if error is not None:
        raise error
    return answer


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
