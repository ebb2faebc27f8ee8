"""What an app exposes keeps the whole contract, with hooks, over a store that has none.

`test_exposed_versions` is its twin: a store that declares everything, under a policy.
"""

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memoranda.testkit.records import *  # noqa: F403
from tests.handles import opened as handle_on
from tests.journeys.own_store.shelf import ShelfStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from memoranda import MemoryHooks
    from memoranda.types import Records


@pytest.fixture
def open_store(tmp_path: Path) -> OpenStore:  # noqa: F405
    @asynccontextmanager
    async def opened(
        scope: str, *, hooks: "MemoryHooks[Any] | None" = None
    ) -> "AsyncIterator[Records[Any]]":
        store = ShelfStore(tmp_path / f"{scope}.json")
        url = f"sqlite:///{tmp_path}/memory.db"
        async with handle_on(url, scope=scope, store=store, hooks=hooks) as memory:
            yield memory.records

    return opened
