"""Turns on both databases: what is tested here holds on each."""

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
from tests.turn.tables import Tables

Opens = Callable[..., AbstractAsyncContextManager[Memory[Any]]]

_SCOPES = count()


@pytest.fixture(scope="session")
def postgres_of_turns(postgres_server: PostgresServer) -> Roles:
    """One database for all of them."""
    return asyncio.run(make_roles(postgres_server, postgres_server.create_database()))


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database, for the role that programs should use.

    PostgreSQL's is shared, so tests keep apart by scope.
    """
    if request.param == "postgres":
        roles: Roles = request.getfixturevalue("postgres_of_turns")
        return roles.app
    return f"sqlite:///{tmp_path}/memory.db"


@pytest.fixture
def tables(request: pytest.FixtureRequest, url: str) -> Tables:
    """The tables of it, for somebody who may do everything."""
    if url.startswith("sqlite"):
        return Tables(url)
    roles: Roles = request.getfixturevalue("postgres_of_turns")
    return Tables(roles.superuser)


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands until it is moved."""
    return FrozenClock(1_763_000_000_000)


@pytest.fixture
def opens(url: str, clock: FrozenClock) -> Opens:
    """Opens the test's scope."""
    scope = f"turns-{next(_SCOPES)}"

    def opened(**options: Any) -> AbstractAsyncContextManager[Memory[Any]]:
        given = {"scope": scope, "clock": clock, "actor": "agent:worker"}
        return handle_on(url, **{**given, **options})

    return opened


@pytest.fixture
async def memory(opens: Opens) -> AsyncIterator[Memory[Any]]:
    """The test's scope, opened by an agent."""
    async with opens() as opened:
        yield opened
