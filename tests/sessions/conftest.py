"""A ledger on each database; PostgreSQL as the role that row-level security binds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest

from memoranda.app.databases import LedgerDatabase, acquire, release
from memoranda.journeys.govern.table import FilteredLedger
from memoranda.stores.dictionary import DictDatabase
from memoranda.testkit.simulators import FrozenClock
from tests.postgres.server import PostgresServer
from tests.postgres_store.roles import Roles, make_roles

_SCOPES = count()


@pytest.fixture(scope="session")
def postgres_of_sessions(postgres_server: PostgresServer) -> Roles:
    """One database for all of them."""
    return asyncio.run(make_roles(postgres_server, postgres_server.create_database()))


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database; PostgreSQL's is shared, so tests keep apart by scope."""
    if request.param == "postgres":
        roles: Roles = request.getfixturevalue("postgres_of_sessions")
        return roles.app
    return f"sqlite:///{tmp_path}/sessions.db"


@pytest.fixture
def owner(request: pytest.FixtureRequest, url: str) -> str:
    """The database, as somebody who sees and may do everything."""
    if url.startswith("sqlite"):
        return url
    roles: Roles = request.getfixturevalue("postgres_of_sessions")
    return roles.superuser


@pytest.fixture
def scope() -> str:
    """A scope that no other test has."""
    return f"sessions-{next(_SCOPES)}"


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[LedgerDatabase]:
    """The database at a URL, for a while."""
    database, lease = await acquire(url, FrozenClock())
    assert not isinstance(database, DictDatabase)
    try:
        yield database
    finally:
        await release(lease)


@pytest.fixture
async def database(url: str) -> AsyncIterator[LedgerDatabase]:
    """The database, open."""
    async with opened(url) as database:
        yield database


@pytest.fixture
async def ledger(database: LedgerDatabase, scope: str) -> FilteredLedger:
    """The ledger of that scope."""
    return await database.ledger(scope, f"origin of {scope}", 0)
