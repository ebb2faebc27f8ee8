"""Worlds on every database that keeps facts: what is tested here holds on each."""

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
from tests.intent.counter import COUNTER
from tests.postgres.server import PostgresServer
from tests.postgres_store.roles import make_roles

Opens = Callable[..., AbstractAsyncContextManager[Memory[Any]]]

_SCOPES = count()


@pytest.fixture(scope="session")
def postgres_of_worlds(postgres_server: PostgresServer) -> str:
    """One database for all of them, as the role that programs should use."""
    roles = asyncio.run(make_roles(postgres_server, postgres_server.create_database()))
    return roles.app


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database; PostgreSQL's is shared, so tests keep apart by scope."""
    if request.param == "postgres":
        return str(request.getfixturevalue("postgres_of_worlds"))
    return f"sqlite:///{tmp_path}/memory.db"


@pytest.fixture
def scope() -> str:
    """A scope that no other test has."""
    return f"worlds-{next(_SCOPES)}"


@pytest.fixture
def clock() -> FrozenClock:
    """A clock that stands until it is moved."""
    return FrozenClock(1_763_000_000_000)


@pytest.fixture
def opens(url: str, scope: str, clock: FrozenClock) -> Opens:
    """Opens the test's scope with the counter, and whatever else is named."""

    def opened(**options: Any) -> AbstractAsyncContextManager[Memory[Any]]:
        given = {"scope": scope, "clock": clock, "actor": "agent:worker", "domain": COUNTER}
        return handle_on(url, **{**given, **options})

    return opened


@pytest.fixture
async def memory(opens: Opens) -> AsyncIterator[Memory[Any]]:
    """The test's scope, opened by an agent that counts."""
    async with opens() as opened:
        yield opened
