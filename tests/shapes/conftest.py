"""A scope on either database."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

import memoranda


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
async def memory(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[memoranda.Memory[Any]]:
    """An empty one."""
    place: str | Path = tmp_path / "memory.db"
    if request.param == "postgres":
        place = str(request.getfixturevalue("postgres_url"))
    async with memoranda.open(place, scope="shapes", actor="agent:shape") as opened:
        yield opened
