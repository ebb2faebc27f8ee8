"""The SQLite store keeps the contract of items, in memory."""

from collections.abc import AsyncIterator

import pytest

from recollect.app.databases import acquire, release
from recollect.kernel.clock import SystemClock
from recollect.testkit.items import *  # noqa: F403
from tests.contract.item_opening import items_of

pytestmark = pytest.mark.backend("sqlite")


@pytest.fixture
async def open_items() -> AsyncIterator[OpenItems]:  # noqa: F405
    database, lease = await acquire("sqlite://:memory:", SystemClock())
    yield items_of(database)
    await release(lease)
