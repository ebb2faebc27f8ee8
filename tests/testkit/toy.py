"""A store by somebody else: a dict per scope, written against the contract alone."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from memoranda import (
    Capabilities,
    Capability,
    MemoryFilter,
    MemoryHooks,
    MemoryRecordInput,
    StoredMemoryRecord,
)
from memoranda.errors import RecordExists, RecordNotFound
from memoranda.formats import (
    canonical_bytes,
    check_json,
    decode,
    merged,
    refuse_unknown_keys,
    select,
)
from memoranda.testkit.records import OpenStore
from memoranda.types import SystemClock, TimeOrderedIds

Scopes = dict[str, dict[str, StoredMemoryRecord[Any]]]


class ToyStore:
    """One scope of a store in memory; what is kept is never what was given, nor returned."""

    capabilities = Capabilities(frozenset({Capability.CRUD, Capability.CLEAR}))

    def __init__(self, scopes: Scopes, scope: str) -> None:
        self.scopes = scopes
        self.records = scopes.setdefault(scope, {})
        self.clock = SystemClock()
        self.ids = TimeOrderedIds(self.clock)

    async def create(self, record: MemoryRecordInput[Any]) -> str:
        check_json(record.data, "$.data")
        check_json(record.meta, "$.meta")
        id = self.ids.new_id() if record.id is None else record.id
        if id in self.records:
            raise RecordExists(id)
        created_at = self.clock.now_ms() if record.created_at is None else record.created_at
        updated_at = created_at if record.updated_at is None else record.updated_at
        tags = None if record.tags is None else tuple(record.tags)
        kept = StoredMemoryRecord(id, record.data, created_at, updated_at, tags, record.meta)
        self.records[id] = copied(kept)
        return id

    async def get(self, id: str) -> StoredMemoryRecord[Any] | None:
        return copied(self.records[id]) if id in self.records else None

    async def update(self, id: str, patch: Any) -> None:
        check_json(patch)
        if id not in self.records:
            raise RecordNotFound(id)
        before = self.records[id]
        updated_at = max(before.updated_at, self.clock.now_ms())
        data = merged(id, before.data, patch)
        self.records[id] = copied(replace(before, data=data, updated_at=updated_at))

    async def delete(self, id: str) -> None:
        self.records.pop(id, None)

    async def query(self, filter: MemoryFilter) -> list[StoredMemoryRecord[Any]]:
        refuse_unknown_keys(filter, self.capabilities.filter_keys)
        return [copied(record) for record in select(filter, self.records.values())]

    async def clear(self) -> None:
        self.records.clear()


def copied(record: StoredMemoryRecord[Any]) -> StoredMemoryRecord[Any]:
    data, meta = decode(canonical_bytes([record.data, record.meta]))
    return replace(record, data=data, meta=meta)


def opening(kind: type[ToyStore] = ToyStore) -> OpenStore:
    """What the fixture `open_store` gives: handles that share one dict of scopes."""
    scopes: Scopes = {}

    @asynccontextmanager
    async def open_store(
        scope: str, *, hooks: MemoryHooks[Any] | None = None
    ) -> AsyncIterator[ToyStore]:
        assert hooks is None  # they are given only to a store that declares them
        yield kind(scopes, scope)

    return open_store
