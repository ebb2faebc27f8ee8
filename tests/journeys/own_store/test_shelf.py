"""The store that the other tests bring along keeps the whole contract."""

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memoranda.testkit.records import *  # noqa: F403
from tests.journeys.own_store.shelf import ShelfStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from memoranda import MemoryHooks


@pytest.fixture
def open_store(tmp_path: Path) -> OpenStore:  # noqa: F405
    @asynccontextmanager
    async def opened(
        scope: str, *, hooks: "MemoryHooks[Any] | None" = None
    ) -> "AsyncIterator[ShelfStore]":
        assert hooks is None
        yield ShelfStore(tmp_path / f"{scope}.json")

    return opened
