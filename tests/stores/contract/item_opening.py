"""How the contract of items opens our stores."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memoranda.app.databases import Database, acquire, release
from memoranda.kernel.clock import SystemClock
from memoranda.ledger.checkpoint import scope_origin
from memoranda.plans.items import ItemStore
from memoranda.stores.dictionary import DictDatabase
from memoranda.testkit.items import OpenItems


async def items_in(database: Database, scope: str, session_ref: str) -> ItemStore:
    """The items of a session, in a scope that is opened first."""
    if not isinstance(database, DictDatabase):
        await database.ledger(scope, scope_origin(scope, scope), 0)
    return await database.items(scope, session_ref)


def items_of(database: Database) -> OpenItems:
    """Opens sessions of a database that is open already, as the dict store's must be."""

    @asynccontextmanager
    async def opened(scope: str, session_ref: str) -> AsyncIterator[ItemStore]:
        yield await items_in(database, scope, session_ref)

    return opened


def items_at(url: str) -> OpenItems:
    """Opens sessions of the database behind a URL."""

    @asynccontextmanager
    async def opened(scope: str, session_ref: str) -> AsyncIterator[ItemStore]:
        database, lease = await acquire(url, SystemClock())
        try:
            yield await items_in(database, scope, session_ref)
        finally:
            await release(lease)

    return opened
