"""memoranda itself, as a user calls it: inputs and filters are built inside the measured call."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import memoranda
from bench.systems.disk import postgres_bytes, sqlite_bytes
from bench.workload import Item, Patch
from memoranda import Memory, MemoryFilter, MemoryRecordInput

SCOPE = "bench"
STEP_S = 0.01


class Memoranda:
    """One scope of one database."""

    def __init__(self, memory: Memory[Any], place: str | Path) -> None:
        self._records = memory.records
        self._ledger: Any = memory._handle.parts.ledger
        self._place = place

    async def settle(self) -> None:
        """Wait until its words are merged; PostgreSQL does that in connections of its own."""
        while isinstance(self._place, Path) and self._ledger._ledger._database.merger.is_due:  # noqa: ASYNC110
            await asyncio.sleep(STEP_S)  # it tells nobody when it is done

    async def create(self, item: Item) -> str:
        """Store one record; the id is made by memoranda."""
        return await self._records.create(_given(item))

    async def create_many(self, items: Sequence[Item]) -> list[str]:
        """Store all of them in one transaction."""
        return await self._records.create_many([_given(item) for item in items])

    async def get(self, key: str) -> object:
        """One record."""
        return await self._records.get(key)

    async def update(self, key: str, patch: Patch) -> None:
        """Merge the change into the record's data."""
        await self._records.update(key, patch.change)

    async def delete(self, key: str, item: Item) -> None:
        """Delete one record."""
        del item
        await self._records.delete(key)

    async def query(self, tag: str) -> Sequence[object]:
        """By tag, newest first, ten of them."""
        return await self._records.query(MemoryFilter(tags=(tag,), limit=10))

    async def bytes_on_disk(self) -> int:
        """The file, or the tables."""
        if isinstance(self._place, Path):
            return sqlite_bytes(self._place)
        return await postgres_bytes(self._place)


@asynccontextmanager
async def memoranda_on_sqlite(path: Path) -> AsyncIterator[Memoranda]:
    """Memoranda on a SQLite file."""
    async with memoranda.open(f"sqlite:///{path}", scope=SCOPE) as memory:
        yield Memoranda(memory, path)


@asynccontextmanager
async def memoranda_on_postgres(url: str) -> AsyncIterator[Memoranda]:
    """Memoranda on a PostgreSQL database."""
    async with memoranda.open(url, scope=SCOPE) as memory:
        yield Memoranda(memory, url)


def _given(item: Item) -> MemoryRecordInput[Any]:
    return MemoryRecordInput(data=item.data, created_at=item.created_at, tags=item.tags)
