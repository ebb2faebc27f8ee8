"""The PostgreSQL store keeps the contract, as the role that programs should use.

That role is neither owner nor superuser, so that all of it runs under row-level security.
"""

import asyncio

import pytest

from memoranda.testkit.records import *  # noqa: F403
from tests.stores.contract.opening import at
from tests.stores.postgres.roles import make_roles
from tests.stores.postgres.server import PostgresServer

pytestmark = pytest.mark.backend("postgres")


@pytest.fixture(scope="module")
def app_url(postgres_server: PostgresServer) -> str:
    """One database for all of them: they keep apart by scope, and making one costs 0.1 s."""
    roles = asyncio.run(make_roles(postgres_server, postgres_server.create_database()))
    return roles.app


@pytest.fixture
def open_store(app_url: str) -> OpenStore:  # noqa: F405
    return at(app_url)
