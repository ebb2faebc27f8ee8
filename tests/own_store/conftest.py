"""A store by somebody else, and scopes on every database that expose it."""

from pathlib import Path

import pytest

from memoranda.testkit.simulators import FrozenClock
from tests.intent.conftest import clock, opens, postgres_of_worlds, scope, url
from tests.own_store.shelf import ShelfStore

__all__ = ["clock", "opens", "postgres_of_worlds", "scope", "url"]


@pytest.fixture
def shelf(tmp_path: Path, clock: FrozenClock) -> ShelfStore:
    """The store that the app is given."""
    return ShelfStore(tmp_path / "shelf.json", clock)
