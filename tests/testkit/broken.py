"""Stores that each break one promise: the toy store with one method changed."""

from typing import Any

from memoranda import Capabilities, Capability, MemoryFilter, StoredMemoryRecord
from memoranda.records.filter import matches, select
from tests.testkit.toy import ToyStore, copied


class ForgetfulStore(ToyStore):
    """Forgets an update."""

    async def update(self, id: str, patch: Any) -> None:
        before = self.records.get(id)
        await super().update(id, patch)
        if before is not None:
            self.records[id] = before


class LeakyStore(ToyStore):
    """Returns another scope's rows."""

    async def query(self, filter: MemoryFilter) -> list[StoredMemoryRecord[Any]]:
        await super().query(filter)
        everything = [kept for scope in self.scopes.values() for kept in scope.values()]
        return [copied(kept) for kept in select(filter, everything)]


class FlippedStore(ToyStore):
    """Breaks ties of order by id, whatever was written last."""

    async def query(self, filter: MemoryFilter) -> list[StoredMemoryRecord[Any]]:
        if filter.order == "asc":
            return await super().query(filter)
        await super().query(filter)
        by_creation = filter.order_by == "createdAt"
        found = [kept for kept in self.records.values() if matches(filter, kept)]
        found.sort(key=lambda kept: (kept.created_at if by_creation else kept.updated_at, kept.id))
        end = None if filter.limit is None else filter.offset + filter.limit
        return [copied(kept) for kept in found[::-1][filter.offset : end]]


class CarelessStore(ToyStore):
    """Ignores a filter key that it does not know."""

    async def query(self, filter: MemoryFilter) -> list[StoredMemoryRecord[Any]]:
        own = filter.own_keys
        known = {key: value for key, value in filter.model_dump().items() if key not in own}
        return await super().query(MemoryFilter.model_validate(known))


class SilentStore(ToyStore):
    """Declares nothing."""

    capabilities = Capabilities(frozenset())


class BoastfulStore(ToyStore):
    """Declares what it does not have."""

    capabilities = Capabilities(frozenset({Capability.CRUD, Capability.DELETE_MANY}))
