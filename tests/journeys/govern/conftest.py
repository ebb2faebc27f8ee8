"""Governed memory on both databases, and a way to their tables for whoever owns them."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from memoranda import Memory
from tests.campaigns.tampering.tables import PostgresTables, SqliteTables, Tables
from tests.fixtures import Opens

Tampers = Callable[[], Tables]


@pytest.fixture
def tampers(url: str, owner_url: str) -> Tampers:
    """Opens the tables of the test's database for whoever can write all of them."""
    if url.startswith("sqlite"):
        return lambda: SqliteTables(url.removeprefix("sqlite:///"))
    return lambda: PostgresTables(owner_url)


@pytest.fixture
async def memory(opens: Opens) -> AsyncIterator[Memory[Any]]:
    """The test's scope, opened by an agent."""
    async with opens(actor="agent:support") as opened:
        yield opened
