"""The SQLite store keeps the contract, in one file that its tests share."""

import pytest

from memoranda.testkit.records import *  # noqa: F403
from tests.stores.contract.opening import at

pytestmark = pytest.mark.backend("sqlite")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('contract')}/memory.db"


@pytest.fixture
def open_store(url: str) -> OpenStore:  # noqa: F405
    return at(url)
