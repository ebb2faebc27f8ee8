"""How the contract opens our stores."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import memoranda
from memoranda import MemoryHooks
from memoranda.journeys.records.store import Records
from memoranda.testkit.records import OpenStore
from tests.handles import opened as handle_on


def at(url: str) -> OpenStore:
    """Opens scopes of the database behind a URL, as every user does."""

    @asynccontextmanager
    async def opened(
        scope: str, *, hooks: MemoryHooks[Any] | None = None
    ) -> AsyncIterator[Records[Any]]:
        async with handle_on(url, scope=scope, hooks=hooks) as memory:
            yield memory.records

    return opened


@asynccontextmanager
async def in_memory() -> AsyncIterator[OpenStore]:
    """Opens scopes of one database in memory, the dict store's.

    `memoranda.open` makes a new one for each handle; the contract needs several on one.
    """
    async with memoranda.connect("dict://") as database:

        @asynccontextmanager
        async def opened(
            scope: str, *, hooks: MemoryHooks[Any] | None = None
        ) -> AsyncIterator[Records[Any]]:
            yield database.scope(scope, app=memoranda.App(hooks=hooks)).records

        yield opened
