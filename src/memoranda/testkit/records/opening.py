"""The one thing that a store's author gives: how to open it. The rest of the kit starts here."""

import warnings
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol, TypeVar, cast

import pytest

from memoranda.kernel.clock import TimeOrderedIds
from memoranda.kernel.errors import CapabilityMissing
from memoranda.records import (
    Capabilities,
    Capability,
    MemoryFilter,
    MemoryHooks,
    MemoryRecordInput,
    MemoryStore,
    StoredMemoryRecord,
)
from memoranda.records.store import (
    Annotated,
    Clears,
    Consolidates,
    Counted,
    CreatesMany,
    DeletesMany,
    ForgetsWhere,
    Paged,
    Streamed,
    UpdatesMany,
    Versioned,
)

_IDS: Final = TimeOrderedIds()


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


def fresh_scope() -> str:
    """A scope that was never used before, in this run or any other."""
    return f"testkit-{_IDS.new_id()}"


def declared_by(store: object) -> frozenset[Capability]:
    """What a store declares; a store that says nothing can do nothing."""
    declared = getattr(store, "capabilities", None)
    return declared.abilities if isinstance(declared, Capabilities) else frozenset()


def require(store: object, *capabilities: Capability) -> None:
    """Skip the test, and say why, if the store does not declare what it is about."""
    for capability in capabilities:
        if capability not in declared_by(store):
            pytest.skip(f"this store does not declare {capability.value}")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The contract runs on asyncio."""
    return "asyncio"


@pytest.fixture
def scope() -> str:
    """The scope of this test."""
    return fresh_scope()


@pytest.fixture
async def store(open_store: OpenStore, scope: str) -> AsyncIterator[Store]:
    """A handle on the scope of this test."""
    async with open_store(scope) as opened:
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


async def everything(store: Store) -> dict[str, StoredMemoryRecord[Any]]:
    """All records of the store's scope, by id."""
    return {found.id: found for found in await store.query(MemoryFilter())}


# ------------------------------------------------------------------------------------------------
# How a test says which rules it proves, in any suite.

Test = TypeVar("Test", bound=Callable[..., object])


def contract(*rules: str) -> Callable[[Test], Test]:
    """A test of the contract, and the rules that it proves.

    It runs under anyio, and carries ``pytest.mark.rule(*rules)`` for whoever counts proofs.
    """
    marks = [pytest.mark.anyio, *_rule_mark(*rules)]

    def marked(test: Test) -> Test:
        for mark in marks:
            test = mark(test)
        return test

    return marked


def _rule_mark(*rules: str) -> list[pytest.MarkDecorator]:
    """The mark, in a suite that knows it; nobody has to register a mark to use the kit.

    A suite that does not know it either warns (nobody asked for the mark: not told) or, under
    --strict-markers, refuses it (then the test goes without).
    """
    if not rules:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pytest.PytestUnknownMarkWarning)
        try:
            return [pytest.mark.rule(*rules)]
        except pytest.fail.Exception:
            return []


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
