"""Work that takes long is done off the event loop, so that others have their turn."""

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar

R = TypeVar("R")

LOOP_BYTES: Final = 64 * 1024
"""How much is decoded on the loop itself: less than a change of threads is worth."""


async def off_the_loop(size: int, work: Callable[[], R]) -> R:
    return work() if size <= LOOP_BYTES else await asyncio.to_thread(work)
