"""From a framework, which awaits or does not, to a handle of either kind.

A framework has each of its methods twice, one to await and one to wait for. What is behind them is
written once, with `await`, and runs in the event loop that the handle belongs to.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, TypeVar

from memoranda.app.blocking import BlockingMemory
from memoranda.app.memory import Memory
from memoranda.app.portal import PORTAL
from memoranda.kernel.errors import InvalidOption

R = TypeVar("R")


class Crossing:
    """A handle, and how its loop is reached from wherever a framework calls."""

    def __init__(self, memory: Memory[Any] | BlockingMemory[Any]) -> None:
        if not isinstance(memory, Memory | BlockingMemory):
            raise InvalidOption("memory", f"a {type(memory).__name__} is no handle; see db.scope")
        self._waits = isinstance(memory, BlockingMemory)
        self.memory: Final[Memory[Any]] = (
            memory.awaited if isinstance(memory, BlockingMemory) else memory
        )
        self._loop = None if self._waits else _running()

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        """What the coroutine comes to, for code that does not await.

        InvalidStateError in the handle's own loop, which would wait for itself.
        """
        if self._waits:
            return PORTAL.call(work)
        here = _running()
        if self._loop is None or here is self._loop:
            work.close()
            raise asyncio.InvalidStateError(
                "This is the event loop of the handle, or no loop is known: await the async method"
                " instead, or open the database with memoranda.connect_sync or open_sync."
            )
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def here(self, work: Coroutine[Any, Any, R]) -> R:
        """What the coroutine comes to, for code that awaits."""
        if not self._waits:
            return await work
        return await asyncio.to_thread(PORTAL.call, work)


def _running() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
