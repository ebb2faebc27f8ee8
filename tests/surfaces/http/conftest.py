"""A server on each database."""

from collections.abc import AsyncIterator

import pytest

from tests.surfaces.http.serving import Served, served


@pytest.fixture
async def door(fresh_url: str) -> AsyncIterator[Served]:
    """A server that lets in whoever has no key."""
    async with served(fresh_url) as found:
        yield found
