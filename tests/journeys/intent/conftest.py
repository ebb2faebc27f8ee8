"""Worlds on both databases: the handles belong to an agent that counts."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.journeys.intent.counter import COUNTER


@pytest.fixture
def handle_options() -> Mapping[str, Any]:
    """An agent, and the counter that it acts on."""
    return {"actor": "agent:worker", "domain": COUNTER}
