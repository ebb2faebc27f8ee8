"""Fixtures that most folders share, as a plugin: a database of each kind, a scope, a handle on it.

A folder says with `handle_options` how its handles are opened, and overrides whatever else it
needs in another way. Where PostgreSQL can't be had, the tests that ask for it fail: none is
skipped.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from memoranda import Memory
from memoranda.testkit.strategies import FrozenClock
from tests.handles import opened
from tests.stores.postgres.roles import Roles, make_roles
from tests.stores.postgres.server import PostgresServer, running_server

Opens = Callable[..., AbstractAsyncContextManager[Memory[Any]]]

BOTH_DATABASES: Final = (
    pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
    pytest.param("postgres", marks=pytest.mark.backend("postgres")),
)

_SCOPES: Final = count()


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


@pytest.fixture(scope="session")
def databases_of_folders() -> dict[Path, Roles]:
    """The shared database of each folder: what one folder damages is no other's."""
    return {}


@pytest.fixture
def shared_postgres(
    request: pytest.FixtureRequest,
    postgres_server: PostgresServer,
    databases_of_folders: dict[Path, Roles],
) -> Roles:
    """One database for the tests of a folder, which keep apart by scope; see the role `app`."""
    folder = request.path.parent
    if folder not in databases_of_folders:
        url = postgres_server.create_database()
        databases_of_folders[folder] = asyncio.run(make_roles(postgres_server, url))
    return databases_of_folders[folder]


@pytest.fixture(params=BOTH_DATABASES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A file, or the shared database of PostgreSQL as the role that programs should use."""
    if request.param == "postgres":
        return str(request.getfixturevalue("shared_postgres").app)
    return f"sqlite:///{tmp_path}/memory.db"


@pytest.fixture(params=BOTH_DATABASES)
def fresh_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database that no other test has, of either kind."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_url"))
    return f"sqlite:///{tmp_path}/memory.db"


@pytest.fixture
def owner_url(request: pytest.FixtureRequest, url: str) -> str:
    """The database of `url`, as somebody who sees and may do everything."""
    if url.startswith("sqlite"):
        return url
    return str(request.getfixturevalue("shared_postgres").superuser)


@pytest.fixture
def scope() -> str:
    """A scope that no other test has."""
    return f"scope-{next(_SCOPES)}"


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands until it is moved."""
    return FrozenClock(1_763_000_000_000)


@pytest.fixture
def handle_options() -> Mapping[str, Any]:
    """How the handles of a folder are opened."""
    return {}


@pytest.fixture
def opens(url: str, scope: str, clock: FrozenClock, handle_options: Mapping[str, Any]) -> Opens:
    """Opens the test's scope, with whatever else is named."""

    def opening(**options: Any) -> AbstractAsyncContextManager[Memory[Any]]:
        return opened(url, **{"scope": scope, "clock": clock, **handle_options, **options})

    return opening


@pytest.fixture
async def memory(opens: Opens) -> AsyncIterator[Memory[Any]]:
    """The test's scope, opened by an agent."""
    async with opens() as handle:
        yield handle
