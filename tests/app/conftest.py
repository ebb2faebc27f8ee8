"""Both databases, under one name."""

import pytest


@pytest.fixture
def place(fresh_url: str) -> str:
    """The URL of a fresh database."""
    return fresh_url
