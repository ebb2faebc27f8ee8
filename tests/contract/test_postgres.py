"""The PostgreSQL store keeps the contract, in one database that its tests share."""

import pytest

from recollect.testkit.records import *  # noqa: F403
from tests.contract.opening import at

pytestmark = pytest.mark.backend("postgres")


@pytest.fixture
def open_store(postgres_shared_url: str) -> OpenStore:  # noqa: F405
    return at(postgres_shared_url)
