"""The SQLite store keeps the contract of items, in one file that its tests share."""

import pytest

from memoranda.testkit.items import *  # noqa: F403
from tests.stores.contract.item_opening import items_at

pytestmark = pytest.mark.backend("sqlite")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('items')}/memory.db"


@pytest.fixture
def open_items(url: str) -> OpenItems:  # noqa: F405
    return items_at(url)
