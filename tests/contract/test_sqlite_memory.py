"""The SQLite store keeps the contract, in memory."""

from collections.abc import AsyncIterator

import pytest

from recollect.testkit.records import *  # noqa: F403
from tests.contract.opening import in_memory

pytestmark = pytest.mark.backend("sqlite")


@pytest.fixture
async def open_store() -> AsyncIterator[OpenStore]:  # noqa: F405
    async with in_memory("sqlite://:memory:") as opener:
        yield opener
