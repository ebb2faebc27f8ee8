"""Databases to attack."""

import pytest

from tests.campaigns.tampering.attacked import Attacked
from tests.campaigns.tampering.tables import PostgresTables, SqliteTables


@pytest.fixture
def attacked(fresh_url: str) -> Attacked:
    """A fresh database, and its tables for whoever can write all of them."""
    if fresh_url.startswith("sqlite"):
        return Attacked(fresh_url, lambda: SqliteTables(fresh_url.removeprefix("sqlite:///")))
    return Attacked(fresh_url, lambda: PostgresTables(fresh_url))
