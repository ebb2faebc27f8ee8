"""Words that the tests share: a record to give, a record that must be there, what is stored."""

from collections.abc import Iterable
from typing import Any

from memoranda.records import MemoryFilter, MemoryRecordInput, StoredMemoryRecord
from memoranda.testkit.records.opening import Store


def record(data: Any = None, **members: Any) -> MemoryRecordInput[Any]:
    """A record to be created; data is null unless it matters."""
    return MemoryRecordInput(data=data, **members)


async def kept(store: Store, id: str) -> StoredMemoryRecord[Any]:
    """The record under this id, which must be there."""
    found = await store.get(id)
    assert found is not None, f"the record {id!r} is gone"
    return found


async def ids_in(store: Store, **members: Any) -> list[str]:
    """The ids that a query answers with, in its order."""
    return ids_of(await store.query(MemoryFilter(**members)))


def ids_of(records: Iterable[StoredMemoryRecord[Any]]) -> list[str]:
    """The ids of records, in their order."""
    return [record.id for record in records]


async def create_all(store: Store, *records: MemoryRecordInput[Any]) -> list[str]:
    """Create the records one by one; their ids."""
    return [await store.create(record) for record in records]


async def everything(store: Store) -> dict[str, StoredMemoryRecord[Any]]:
    """All records of the store's scope, by id."""
    return {found.id: found for found in await store.query(MemoryFilter())}
