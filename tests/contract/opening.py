"""How the contract opens our stores."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import recollect
from recollect import MemoryHooks
from recollect.app.databases import acquire, release
from recollect.app.memory import opened as on_database
from recollect.journeys.records.codec import JsonCodec
from recollect.journeys.records.store import Records
from recollect.kernel.actors import parse_actor
from recollect.kernel.clock import SystemClock
from recollect.kernel.scopes import check_scope
from recollect.testkit.records import OpenStore


def at(url: str) -> OpenStore:
    """Opens scopes of the database behind a URL, as every user does."""

    @asynccontextmanager
    async def opened(
        scope: str, *, hooks: MemoryHooks[Any] | None = None
    ) -> AsyncIterator[Records[Any]]:
        async with recollect.open(url, scope=scope, hooks=hooks) as memory:
            yield memory.records

    return opened


@asynccontextmanager
async def in_memory(url: str) -> AsyncIterator[OpenStore]:
    """Opens scopes of one database in memory.

    `recollect.open` makes a new one for each handle; the contract needs several on one.
    """
    clock = SystemClock()
    database, lease = await acquire(url, clock)

    @asynccontextmanager
    async def opened(
        scope: str, *, hooks: MemoryHooks[Any] | None = None
    ) -> AsyncIterator[Records[Any]]:
        memory = await on_database(
            database,
            scope=check_scope(scope),
            actor=parse_actor("system:contract"),
            codec=JsonCodec(),
            hooks=hooks,
        )
        yield memory.records

    yield opened
    await release(lease)
