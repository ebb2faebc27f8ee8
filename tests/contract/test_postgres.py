"""The PostgreSQL store keeps the contract, in one database that its tests share."""

import pytest
from tests.contract.opening import at

from recollect.testkit.records import *  # noqa: F403

pytestmark = pytest.mark.backend("postgres")


@pytest.fixture
def open_store(postgres_shared_url: str) -> OpenStore:  # noqa: F405
    return at(postgres_shared_url)
