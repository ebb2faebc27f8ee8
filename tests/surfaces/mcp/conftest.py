"""A database with MCP servers before it, of each kind and for each revision."""

from collections.abc import AsyncIterator

import pytest

from tests.surfaces.mcp.clients import MODES, Desk, desk


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """The revision that the client speaks."""
    return str(request.param)


@pytest.fixture
async def door(fresh_url: str) -> AsyncIterator[Desk]:
    """A service that any principal may be put before."""
    async with desk(fresh_url) as found:
        yield found
