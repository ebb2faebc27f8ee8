"""Turns on both databases, and a way to their tables for whoever owns them."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.journeys.turn.tables import Tables


@pytest.fixture
def handle_options() -> Mapping[str, Any]:
    """An agent that takes turns."""
    return {"actor": "agent:worker"}


@pytest.fixture
def tables(owner_url: str) -> Tables:
    """The tables of the test's database, for somebody who may do everything."""
    return Tables(owner_url)
