"""Vectors, made in idle time: nobody who writes or asks waits for a model."""

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from memoranda.kernel.errors import MemorandaError

if TYPE_CHECKING:
    from memoranda.recall.meaning import Meaning

PAUSE_S: Final = 0.05
"""How long after a write the first vectors are made, and how long is rested between batches."""

log = logging.getLogger("memoranda.recall")


class IdleEmbedding:
    """Gives records a vector that have none, scope by scope, a batch at a time.

    What it has not done when the database is closed is done when the scope is used again.
    """

    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def soon(self, scope: str, meaning: "Meaning") -> None:
        """Make what is missing in a scope, unless that is under way."""
        if scope not in self._tasks:
            task = asyncio.get_running_loop().create_task(self._embed(meaning))
            self._tasks[scope] = task
            task.add_done_callback(lambda _: self._tasks.pop(scope, None))

    async def _embed(self, meaning: "Meaning") -> None:
        try:
            while True:
                await asyncio.sleep(PAUSE_S)
                if not (await meaning.bring_forward()).made:
                    return
        except MemorandaError as failure:  # a recall says how many have none
            log.warning("no vectors are made for now: %s", failure)

    async def close(self) -> None:
        """Stop; a batch that is being written is not waited for: its vectors are made again."""
        for task in (waiting := list(self._tasks.values())):
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
