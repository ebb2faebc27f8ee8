"""The one thing that a store's author gives: how to open it. The rest of the kit starts here."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, cast

import pytest

from memoranda.kernel.errors import CapabilityMissing
from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord
from memoranda.records.store import (
    Annotated,
    Capabilities,
    Capability,
    Clears,
    Consolidates,
    Counted,
    CreatesMany,
    DeletesMany,
    ForgetsWhere,
    MemoryHooks,
    MemoryStore,
    Paged,
    Streamed,
    UpdatesMany,
    Versioned,
)
from memoranda.testkit import contract, fresh_scope


class OpenStore(Protocol):
    """Opens a handle on one scope of a store: what the fixture `open_store` gives.

    Handles on one scope see the same records, at once and one after the other; handles on two
    scopes see nothing of each other. `hooks` are given only to a store that declares
    Capability.HOOKS. Scopes are always new: the database may be shared by all tests.
    """

    def __call__(
        self, scope: str, *, hooks: MemoryHooks[Any] | None = None
    ) -> AbstractAsyncContextManager[MemoryStore[Any]]:
        """A handle on the scope, open inside `async with`."""
        ...


class Store(
    Versioned[Any],
    CreatesMany[Any],
    UpdatesMany,
    DeletesMany,
    Annotated,
    Streamed[Any],
    Paged[Any],
    Counted,
    ForgetsWhere,
    Clears,
    Consolidates,
    MemoryStore[Any],
    Protocol,
):
    """A store as the tests see it, with every ability; `require` comes before each use of one."""


OpenHooked = Callable[[MemoryHooks[Any]], AbstractAsyncContextManager[Store]]
OpenFresh = Callable[[], AbstractAsyncContextManager[Store]]


def declared_by(store: object) -> frozenset[Capability]:
    """What a store declares; a store that says nothing can do nothing."""
    declared = getattr(store, "capabilities", None)
    return declared.abilities if isinstance(declared, Capabilities) else frozenset()


def require(store: object, *needs: Capability | frozenset[str]) -> None:
    """Skip the test, and say why, if the store does not declare what it is about."""
    for need in needs:
        if isinstance(need, Capability):
            missing = [] if need in declared_by(store) else [need.value]
        else:
            declared = getattr(store, "capabilities", Capabilities(frozenset()))
            missing = sorted(need - declared.filter_keys)
        if missing:
            pytest.skip(f"this store does not declare {', '.join(missing)}")


@pytest.fixture
async def store(
    open_store: OpenStore, scope: str, request: pytest.FixtureRequest
) -> AsyncIterator[Store]:
    """A handle on the scope of this test, of a store that has what the test needs."""
    async with open_store(scope) as opened:
        require(opened, *getattr(request.function, "needs", ()))
        yield cast("Store", opened)


@pytest.fixture
async def twin(open_store: OpenStore, scope: str) -> AsyncIterator[Store]:
    """A second handle on the scope of this test."""
    async with open_store(scope) as opened:
        yield cast("Store", opened)


@pytest.fixture
async def stranger(open_store: OpenStore) -> AsyncIterator[Store]:
    """A handle on another scope of the same database."""
    async with open_store(fresh_scope()) as opened:
        yield cast("Store", opened)


@pytest.fixture
def open_fresh(open_store: OpenStore, store: Store) -> OpenFresh:
    """Opens new scopes, one for each random example; `store` keeps the database open."""
    del store
    return lambda: cast("AbstractAsyncContextManager[Store]", open_store(fresh_scope()))


@pytest.fixture
def open_hooked(open_store: OpenStore, scope: str, store: Store) -> OpenHooked:
    """Opens further handles on the scope of this test, with hooks."""
    require(store, Capability.HOOKS)

    def opened(hooks: MemoryHooks[Any]) -> AbstractAsyncContextManager[Store]:
        return cast("AbstractAsyncContextManager[Store]", open_store(scope, hooks=hooks))

    return opened


# ------------------------------------------------------------------------------------------------
# Words that the tests share: a record to give, a record that must be there, what is stored.


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


async def create_foretold(
    store: Store, records: Iterable[MemoryRecordInput[Any]]
) -> list[StoredMemoryRecord[Any]]:
    """Create the records one by one; what must be kept of each."""
    return [foretold(given) for given in records if await store.create(given)]


def foretold(given: MemoryRecordInput[Any]) -> StoredMemoryRecord[Any]:
    """What must be kept of a record whose id and times are given."""
    assert given.id is not None
    assert given.created_at is not None
    assert given.updated_at is not None
    tags = None if given.tags is None else tuple(given.tags)
    return StoredMemoryRecord(
        given.id, given.data, given.created_at, given.updated_at, tags, given.meta
    )


async def everything(store: Store) -> dict[str, StoredMemoryRecord[Any]]:
    """All records of the store's scope, by id."""
    return {found.id: found for found in await store.query(MemoryFilter())}


# ------------------------------------------------------------------------------------------------
# What a store declares must be there: a store that declares nothing does not pass.

METHODS = {
    Capability.CRUD: ("create", "get", "update", "delete", "query"),
    Capability.CREATE_MANY: ("create_many",),
    Capability.UPDATE_MANY: ("update_many",),
    Capability.DELETE_MANY: ("delete_many",),
    Capability.CONSOLIDATE: ("consolidate",),
    Capability.CLEAR: ("clear",),
    Capability.ANNOTATED: ("annotate",),
    Capability.HOOKS: (),
    Capability.STREAMED: ("stream",),
    Capability.VERSIONED: ("version", "create", "update", "delete"),
    Capability.PAGED: ("page",),
    Capability.COUNTED: ("ids", "count", "tags"),
    Capability.FORGETS_WHERE: ("forget_where",),
}


@contract("D-MEM-1", "MEM-CRUD-1")
async def test_a_store_declares_what_it_can_do(store: Store) -> None:
    declared = getattr(store, "capabilities", None)

    assert isinstance(declared, Capabilities), "capabilities must say what the store can do"
    assert Capability.CRUD in declared, "a store declares at least CRUD"
    assert declared.abilities <= set(Capability)


@contract("MEM-CRUD-1")
async def test_a_store_has_the_five_methods(store: Store) -> None:
    missing = [name for name in METHODS[Capability.CRUD] if not _has(store, name)]

    assert missing == []


@contract("D-MEM-1")
async def test_every_declared_ability_has_its_methods(store: Store) -> None:
    missing = [
        f"{capability.value}: {name}"
        for capability in sorted(declared_by(store))
        for name in METHODS[capability]
        if not _has(store, name)
    ]

    assert missing == []


@contract("D-MEM-1")
async def test_a_caller_can_detect_what_a_store_can_not_do(store: Store) -> None:
    refused = set()
    for capability in Capability:
        try:
            store.capabilities.require(capability)
        except CapabilityMissing:
            refused.add(capability)

    assert refused == set(Capability) - declared_by(store)


def _has(store: Store, name: str) -> bool:
    return callable(getattr(store, name, None))
