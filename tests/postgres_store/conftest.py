"""Databases as docs/postgres.md sets them up."""

import pytest

from tests.postgres.server import PostgresServer
from tests.postgres_store.roles import Roles, make_roles


@pytest.fixture
async def roles(postgres_server: PostgresServer, postgres_url: str) -> Roles:
    """A fresh database with an owner and an app role."""
    return await make_roles(postgres_server, postgres_url)
