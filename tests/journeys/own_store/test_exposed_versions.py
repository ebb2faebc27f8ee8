"""The same over a store that declares everything, under a policy: records of another database."""

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import memoranda
from memoranda.testkit.records import *  # noqa: F403
from tests.handles import opened as handle_on
from tests.journeys.own_store.asking import Needs

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from memoranda import MemoryHooks
    from memoranda.types import Records


@pytest.fixture
async def open_store(tmp_path: Path) -> "AsyncIterator[OpenStore]":  # noqa: F405
    async with memoranda.connect("dict://") as other:

        @asynccontextmanager
        async def opened(
            scope: str, *, hooks: "MemoryHooks[Any] | None" = None
        ) -> "AsyncIterator[Records[Any]]":
            store = other.scope(scope, actor="agent:store").records
            url = f"sqlite:///{tmp_path}/memory.db"
            async with handle_on(
                url, scope=scope, store=store, hooks=hooks, memory_policy=Needs([])
            ) as memory:
                yield memory.records

        yield opened
