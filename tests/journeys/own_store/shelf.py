"""Stores by somebody else, written against the contract alone: a JSON file, and a table of rows."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from memoranda import (
    Capabilities,
    Capability,
    MemoryFilter,
    MemoryRecordInput,
    StoredMemoryRecord,
)
from memoranda.errors import InvalidRecord, RecordExists, RecordNotFound
from memoranda.formats import (
    canonical_bytes,
    check_json,
    decode,
    merged,
    refuse_unknown_keys,
    select,
)
from memoranda.types import Clock, SystemClock, TimeOrderedIds

Rows = dict[str, StoredMemoryRecord[Any]]


class ShelfStore:
    """Records in one JSON file, which is read and written whole, by one task at a time."""

    capabilities = Capabilities(
        frozenset(
            {
                Capability.CRUD,
                Capability.CREATE_MANY,
                Capability.DELETE_MANY,
                Capability.ANNOTATED,
                Capability.CLEAR,
            }
        ),
        frozenset({"text"}),
    )

    def __init__(self, path: Path, clock: Clock | None = None) -> None:
        self._path = path
        self._lock = _LOCKS.setdefault(path, asyncio.Lock())
        self._clock = clock or SystemClock()
        self._ids = TimeOrderedIds(self._clock)

    async def create(self, record: MemoryRecordInput[Any]) -> str:
        return (await self.create_many([record]))[0]

    async def create_many(self, records: Sequence[MemoryRecordInput[Any]]) -> list[str]:
        async with self._opened() as rows:
            ids = []
            for place, record in enumerate(records):
                if not isinstance(record, MemoryRecordInput):
                    raise InvalidRecord(f"$[{place}]", "it is no MemoryRecordInput")
                kept = self._kept(record)
                if kept.id in rows:
                    raise RecordExists(kept.id)
                rows[kept.id] = kept
                ids.append(kept.id)
            return ids

    async def get(self, id: str) -> StoredMemoryRecord[Any] | None:
        async with self._lock:
            return self._read().get(id)

    async def update(self, id: str, patch: Any) -> None:
        check_json(patch)
        await self._edit(id, lambda before: {"data": merged(id, before.data, patch)})

    async def annotate(self, id: str, **named: Any) -> None:
        checked = MemoryRecordInput[Any](data=None, **named)
        check_json(checked.meta, "$.meta")
        await self._edit(id, lambda _: {name: getattr(checked, name) for name in named})

    async def delete(self, id: str) -> None:
        await self.delete_many([id])

    async def delete_many(self, ids: Sequence[str]) -> None:
        if not all(isinstance(id, str) for id in ids):
            raise InvalidRecord("$.id", "an id is a text")
        async with self._opened() as rows:
            for id in ids:
                rows.pop(id, None)

    async def clear(self) -> None:
        async with self._opened() as rows:
            rows.clear()

    async def query(self, filter: MemoryFilter) -> list[StoredMemoryRecord[Any]]:
        refuse_unknown_keys(filter, self.capabilities.filter_keys)
        text = (filter.model_extra or {}).get("text")
        async with self._lock:
            rows = self._read().values()
        return select(filter, [row for row in rows if text is None or _says(row, text)])

    async def _edit(
        self, id: str, edit: Callable[[StoredMemoryRecord[Any]], dict[str, Any]]
    ) -> None:
        async with self._opened() as rows:
            if id not in rows:
                raise RecordNotFound(id)
            before = rows[id]
            updated_at = max(before.updated_at, self._clock.now_ms())
            rows[id] = replace(before, **edit(before), updated_at=updated_at)

    def _kept(self, record: MemoryRecordInput[Any]) -> StoredMemoryRecord[Any]:
        check_json(record.data, "$.data")
        check_json(record.meta, "$.meta")
        created_at = self._clock.now_ms() if record.created_at is None else record.created_at
        return StoredMemoryRecord(
            self._ids.new_id() if record.id is None else record.id,
            record.data,
            created_at,
            created_at if record.updated_at is None else record.updated_at,
            None if record.tags is None else tuple(record.tags),
            record.meta,
        )

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Rows]:
        """The rows to be changed; they are written if nothing was refused."""
        async with self._lock:
            rows = self._read()
            yield rows
            written = [_as_json(row) for row in rows.values()]
            self._path.write_bytes(canonical_bytes(written))

    def _read(self) -> Rows:
        kept = decode(self._path.read_bytes()) if self._path.exists() else []
        return {one["id"]: _as_record(one) for one in kept}


_LOCKS: dict[Path, asyncio.Lock] = {}


def _says(row: StoredMemoryRecord[Any], text: str) -> bool:
    said = canonical_bytes(row.data).decode().casefold()
    return any(word in said for word in text.casefold().split())


def _as_json(row: StoredMemoryRecord[Any]) -> dict[str, Any]:
    """Data and meta as texts: they may be as deep as JSON is at all."""
    data, meta = canonical_bytes(row.data).decode(), canonical_bytes(row.meta).decode()
    return {**vars(row), "data": data, "meta": meta}


def _as_record(kept: dict[str, Any]) -> StoredMemoryRecord[Any]:
    tags = None if kept["tags"] is None else tuple(kept["tags"])
    data, meta = decode(kept["data"].encode()), decode(kept["meta"].encode())
    return StoredMemoryRecord(**{**kept, "data": data, "meta": meta, "tags": tags})
