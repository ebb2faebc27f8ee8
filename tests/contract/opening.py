"""How the contract opens our stores."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import memoranda
from memoranda import MemoryHooks
from memoranda.app.databases import acquire, release
from memoranda.app.memory import opened as on_database
from memoranda.journeys.records.codec import JsonCodec
from memoranda.journeys.records.store import Records
from memoranda.kernel.actors import parse_actor
from memoranda.kernel.clock import SystemClock
from memoranda.kernel.scopes import check_scope
from memoranda.testkit.records import OpenStore


def at(url: str) -> OpenStore:
    """Opens scopes of the database behind a URL, as every user does."""

    @asynccontextmanager
    async def opened(
        scope: str, *, hooks: MemoryHooks[Any] | None = None
    ) -> AsyncIterator[Records[Any]]:
        async with memoranda.open(url, scope=scope, hooks=hooks) as memory:
            yield memory.records

    return opened


@asynccontextmanager
async def in_memory() -> AsyncIterator[OpenStore]:
    """Opens scopes of one database in memory, the dict store's.

    `memoranda.open` makes a new one for each handle; the contract needs several on one.
    """
    clock = SystemClock()
    database, lease = await acquire("dict://", clock)

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
