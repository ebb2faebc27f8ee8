"""A ledger on each database; PostgreSQL as the role that row-level security binds."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from memoranda.app.databases import LedgerDatabase, acquire, release
from memoranda.journeys.govern.table import FilteredLedger
from memoranda.stores.dictionary import DictDatabase
from memoranda.testkit.strategies import FrozenClock


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[LedgerDatabase]:
    """The database at a URL, for a while."""
    database, lease = await acquire(url, FrozenClock())
    assert not isinstance(database, DictDatabase)
    try:
        yield database
    finally:
        await release(lease)


@pytest.fixture
async def database(url: str) -> AsyncIterator[LedgerDatabase]:
    """The database, open."""
    async with opened(url) as database:
        yield database


@pytest.fixture
async def ledger(database: LedgerDatabase, scope: str) -> FilteredLedger:
    """The ledger of that scope."""
    return await database.ledger(scope, f"origin of {scope}", 0)
