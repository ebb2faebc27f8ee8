"""How the contract opens our ledgers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from memoranda.app.databases import acquire, release
from memoranda.ledger.port import Ledger
from memoranda.stores.dictionary import DictDatabase
from memoranda.testkit.ledger import OpenLedger
from memoranda.testkit.strategies import FrozenClock


def ledgers_at(url: str) -> OpenLedger:
    """Opens ledgers of the database behind a URL."""

    @asynccontextmanager
    async def opened(scope: str) -> AsyncIterator[Ledger]:
        database, lease = await acquire(url, FrozenClock())
        assert not isinstance(database, DictDatabase)
        try:
            yield await database.ledger(scope, f"origin of {scope}", 0)
        finally:
            await release(lease)

    return opened
