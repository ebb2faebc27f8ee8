"""A server keeps the contract of a store: what a script has from a file it has from a URL."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

import memoranda
from memoranda import MemoryHooks
from memoranda.journeys.records.store import Records
from memoranda.testkit.records import *  # noqa: F403
from tests.surfaces.http.serving import process


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that nobody else can reach: whoever asks names the scope."""
    folder = tmp_path_factory.mktemp("served")
    with process(f"sqlite:///{folder}/memory.db", folder=folder) as (found, _):
        yield found


@pytest.fixture
def open_store(address: str) -> OpenStore:  # noqa: F405
    @asynccontextmanager
    async def opened(
        scope: str, *, hooks: MemoryHooks[Any] | None = None
    ) -> AsyncIterator[Records[Any]]:
        assert hooks is None, "it declares none"
        async with memoranda.open(address, scope=scope) as memory:
            yield memory.records

    return opened
