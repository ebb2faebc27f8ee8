"""A store by somebody else, and scopes on every database that expose it."""

from pathlib import Path

import pytest

from memoranda.testkit.strategies import FrozenClock
from tests.journeys.intent.conftest import handle_options
from tests.journeys.own_store.shelf import ShelfStore

__all__ = ["handle_options"]


@pytest.fixture
def shelf(tmp_path: Path, clock: FrozenClock) -> ShelfStore:
    """The store that the app is given."""
    return ShelfStore(tmp_path / "shelf.json", clock)
