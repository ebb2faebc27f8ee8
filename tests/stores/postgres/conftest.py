"""Databases as docs/postgres.md sets them up."""

import pytest

from tests.stores.postgres.roles import Roles, make_roles
from tests.stores.postgres.server import PostgresServer


@pytest.fixture
async def roles(postgres_server: PostgresServer, postgres_url: str) -> Roles:
    """A fresh database with an owner and an app role."""
    return await make_roles(postgres_server, postgres_url)
