"""Merging words in PostgreSQL (`stores.merge`) when who wrote them has time to spare."""

import asyncio
import logging
from math import inf
from typing import Final

from memoranda.kernel.errors import MemorandaError
from memoranda.stores.search import JournalWords
from memoranda.stores.words import MERGED_ANYWAY, MERGED_WHEN_IDLE, closing_seconds

IDLE_S: Final = 0.05
"""How long nothing must have been written until time is spare."""

SPARE_BATCH: Final = 1_024
"""Entries that are merged at once in spare time: a long segment has fewer rows for each entry, and
is merged into others less often, which leaves dead rows behind."""

log = logging.getLogger("memoranda.postgres")


class PostgresMerger:
    """Counts what is written to one journal, and merges it when there is enough, and time."""

    def __init__(self, words: JournalWords) -> None:
        self.words = words
        self._tail = 0
        self._written = 0
        self._has_batches = False
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def note(self, entries: int) -> None:
        """Entries were written: when there are many, and some time is spare, they are merged."""
        self._tail += entries
        self._written += entries
        if self._tail >= MERGED_WHEN_IDLE and self._task is None and not self._closing.is_set():
            self._task = asyncio.get_running_loop().create_task(self._use_spare_time())

    @property
    def tail(self) -> int:
        """How many entries this process wrote that are not merged, as far as is known."""
        return self._tail

    async def close(self, began: float) -> None:
        """Merge what this process wrote, if closing has not taken long; nothing more after that."""
        self._closing.set()
        if self._task is not None:
            await self._task
        left = began + closing_seconds(self._tail) - asyncio.get_running_loop().time()
        if left > 0 and (self._tail or self._has_batches):
            await self._try(0, left)

    async def _use_spare_time(self) -> None:
        while self._tail >= MERGED_WHEN_IDLE and not self._closing.is_set():
            written = self._written
            try:
                async with asyncio.timeout(IDLE_S):
                    await self._closing.wait()
            except TimeoutError:
                if self._written == written:
                    await self._read_ahead()
                if self._written == written or self._tail >= MERGED_ANYWAY:
                    await self._try(MERGED_WHEN_IDLE)
                    await self._read_ahead()  # so what is merged is let go
        self._task = None

    async def _read_ahead(self) -> None:
        """Read what is not merged, for whoever searches next, until somebody writes."""
        written = self._written
        try:
            while await self.words.read_ahead():
                if self._written != written or self._closing.is_set():
                    break
        except MemorandaError as error:
            log.warning("the words that are not merged were not read ahead: %s", error)

    async def _try(self, down_to: int, seconds: float = inf) -> None:
        """Merge until so few are left, then segments; if it fails, that is a line in the log."""
        clock = asyncio.get_running_loop().time
        until = clock() + seconds
        self._has_batches = True
        try:
            while (left := await self.words.merge(entries=SPARE_BATCH)) and left >= down_to:
                if clock() >= until:
                    break
                await self.words.merge_segments()
            self._tail = left
            while clock() < until and await self.words.merge_segments():
                pass
            self._has_batches = False
        except MemorandaError as error:
            log.warning("the index of words was not brought forward: %s", error)
            self._tail = 0
