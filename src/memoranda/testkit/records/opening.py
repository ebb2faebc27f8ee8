"""The one thing that a store's author gives: how to open it. The rest of the kit starts here."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Final, Protocol, cast

import pytest

from memoranda.kernel.ids import TimeOrderedIds
from memoranda.records import Capabilities, Capability, MemoryHooks, MemoryStore
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
