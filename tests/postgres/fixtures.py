"""Fixtures on a real PostgreSQL, as a plugin: `pytest_plugins = ["tests.postgres.fixtures"]`.

Where it can't be had, the tests that ask for it fail: none is skipped.
"""

from collections.abc import Iterator

import pytest

from tests.postgres.server import PostgresServer, running_server


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """The one server of this run, or the one that MEMORANDA_TEST_POSTGRES names."""
    with running_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """A fresh database for one test, as the superuser."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)
