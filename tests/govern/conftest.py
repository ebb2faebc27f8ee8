"""Governed memory on both databases: what is tested here holds on each."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from memoranda import Memory
from memoranda.testkit.simulators import FrozenClock
from tests.handles import opened as handle_on
from tests.postgres.server import PostgresServer
from tests.postgres_store.roles import Roles, make_roles
from tests.tampering.tables import PostgresTables, SqliteTables, Tables

Tampers = Callable[[], Tables]

Opens = Callable[..., AbstractAsyncContextManager[Memory[Any]]]

_SCOPES = count()


@pytest.fixture(scope="session")
def governed_postgres(postgres_server: PostgresServer) -> Roles:
    """One database for all of them; programs use the role `app`."""
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
        return str(request.getfixturevalue("governed_postgres").app)
    return f"sqlite:///{tmp_path}/memory.db"


@pytest.fixture
def scope() -> str:
    """A scope that no other test has."""
    return f"scope-{next(_SCOPES)}"


@pytest.fixture
def tampers(request: pytest.FixtureRequest, url: str) -> Tampers:
    """Opens the tables of the test's database for whoever can write all of them."""
    if url.startswith("sqlite"):
        return lambda: SqliteTables(url.removeprefix("sqlite:///"))
    return lambda: PostgresTables(request.getfixturevalue("governed_postgres").superuser)


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands until it is moved."""
    return FrozenClock(1_763_000_000_000)


@pytest.fixture
def opens(url: str, scope: str, clock: FrozenClock) -> Opens:
    """Opens the test's scope, with whatever else is named."""

    def opened(**options: Any) -> AbstractAsyncContextManager[Memory[Any]]:
        return handle_on(url, **{"scope": scope, "clock": clock, **options})

    return opened


@pytest.fixture
async def memory(opens: Opens) -> AsyncIterator[Memory[Any]]:
    """The test's scope, opened by an agent."""
    async with opens(actor="agent:support") as opened:
        yield opened
