"""Both databases, one after the other, and what a test may do to the word index."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import pytest

from memoranda import Memory
from memoranda.stores.postgres.ledger import PostgresLedger
from memoranda.stores.sqlite.ledger import SqliteLedger
from memoranda.stores.words import BATCH
from tests.handles import inside
from tests.handles import opened as handle_on


class Opens(Protocol):
    """Opens a scope of the database that a test runs on."""

    def __call__(
        self, scope: str = "search", **options: Any
    ) -> AbstractAsyncContextManager[Memory[Any]]: ...


@pytest.fixture
def url(fresh_url: str) -> str:
    """A fresh database: the word index of no other test is in it."""
    return fresh_url


@pytest.fixture
def opens(url: str) -> Opens:
    """Opens a scope of it."""

    @asynccontextmanager
    async def opened(scope: str = "search", **options: Any) -> AsyncIterator[Memory[Any]]:
        async with handle_on(url, scope=scope, **options) as memory:
            yield memory

    return opened


@pytest.fixture
async def memory(opens: Opens) -> AsyncIterator[Memory[Any]]:
    """One scope of it."""
    async with opens() as memory:
        yield memory


async def in_database(memory: Memory[Any]) -> SqliteLedger | PostgresLedger:
    """The ledger of a handle as its store has it; a journal that is not there yet begins."""
    ledger: Any = inside(memory).ledger
    if not isinstance(ledger, SqliteLedger | PostgresLedger):
        ledger = await ledger.begun()
    assert isinstance(ledger, SqliteLedger | PostgresLedger)
    return ledger


async def merge(memory: Memory[Any], entries: int = BATCH) -> int:
    """Bring the word index forward by one batch, as spare time would; how many are left."""
    return await (await in_database(memory)).words.merge(entries=entries)


async def merge_segments(memory: Memory[Any]) -> bool:
    """Merge segments of the word index by one step; whether something is left to do."""
    return await (await in_database(memory)).words.merge_segments()


async def merge_all(memory: Memory[Any]) -> None:
    """Bring the word index forward to the end of the journal."""
    while await merge(memory):
        pass
    index, head = await inside(memory).ledger.index(), await inside(memory).ledger.head()
    assert index.indexed == head.size
