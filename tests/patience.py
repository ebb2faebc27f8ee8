"""How long a test waits for what must come, before it says that it hangs."""

import asyncio
from collections.abc import Callable
from typing import Final

PATIENCE: Final = 200.0
"""Seconds. No result depends on them but that of a test which would never end: they are many
times what a busy machine takes, and fewer than pytest's own limit, which ends the whole run."""


async def eventually(holds: Callable[[], object]) -> None:
    """Wait for what a server, or another thread, does in its own time."""
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - nobody tells us
            await asyncio.sleep(0.005)
