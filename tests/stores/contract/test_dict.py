"""The dict store keeps the contract."""

from collections.abc import AsyncIterator

import pytest

from memoranda.testkit.records import *  # noqa: F403
from tests.stores.contract.opening import in_memory

pytestmark = pytest.mark.backend("dict")


@pytest.fixture
async def open_store() -> AsyncIterator[OpenStore]:  # noqa: F405
    async with in_memory() as opener:
        yield opener
