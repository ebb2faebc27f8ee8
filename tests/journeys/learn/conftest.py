"""An agent that learns, and a human who decides, in one scope of each database."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from memoranda import Memory
from tests.fixtures import Opens


@pytest.fixture
async def memory(opens: Opens) -> AsyncIterator[Memory[Any]]:
    """The test's scope, opened by an agent."""
    async with opens(actor="agent:support") as opened:
        yield opened


@pytest.fixture
async def human(opens: Opens) -> AsyncIterator[Memory[Any]]:
    """The same scope, opened by a human."""
    async with opens(actor="human:lee") as opened:
        yield opened
