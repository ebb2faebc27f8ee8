"""A scope on either database."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

import memoranda


@pytest.fixture
async def memory(fresh_url: str) -> AsyncIterator[memoranda.Memory[Any]]:
    """An empty one."""
    async with memoranda.open(fresh_url, scope="shapes", actor="agent:shape") as opened:
        yield opened
