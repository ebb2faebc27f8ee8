"""The dict store keeps the contract of items."""

from collections.abc import AsyncIterator

import pytest

from memoranda.app.databases import acquire, release
from memoranda.kernel.clock import SystemClock
from memoranda.testkit.items import *  # noqa: F403
from tests.stores.contract.item_opening import items_of

pytestmark = pytest.mark.backend("dict")


@pytest.fixture
async def open_items() -> AsyncIterator[OpenItems]:  # noqa: F405
    database, lease = await acquire("dict://", SystemClock())
    yield items_of(database)
    await release(lease)
