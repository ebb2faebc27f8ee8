"""When checkpoints are made: after so many entries, after so many seconds, and at the end."""

import asyncio
import logging
from dataclasses import dataclass, field

from memoranda.journeys.audit.checkpoints import Checkpoints
from memoranda.kernel.errors import MemorandaError

log = logging.getLogger("memoranda.checkpoints")


@dataclass(slots=True)
class Watch:
    """Sees to it that what is written is soon under a checkpoint; no writer waits for that."""

    checkpoints: Checkpoints
    _since: int = 0
    _timer: asyncio.TimerHandle | None = None
    _making: "asyncio.Task[None] | None" = field(default=None)

    def committed(self, entries: int) -> None:
        """Entries were appended by this handle."""
        self._since += entries
        if self._since >= self.checkpoints.seal.every_entries:
            self._start()
        elif self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.checkpoints.seal.every_seconds, self._start)

    async def close(self) -> None:
        """Make the last checkpoint of this handle."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._making is not None:
            await self._making
        if self._since:
            await self._make()

    def _start(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._making is None or self._making.done():
            self._since = 0
            self._making = asyncio.get_running_loop().create_task(self._make())

    async def _make(self) -> None:
        self._since = 0
        try:
            await self.checkpoints.make()
        except MemorandaError:
            # What was written is written; the next checkpoint covers it.
            log.exception("no checkpoint of %r", self.checkpoints.scope)
