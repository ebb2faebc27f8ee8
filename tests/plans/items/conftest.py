"""Items in both databases, and a way to their tables for whoever owns them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, cast

import apsw
import psycopg
import pytest

from memoranda.app.databases import LedgerDatabase, acquire, release
from memoranda.kernel.clock import SystemClock
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.plans.items import ItemStore
from memoranda.stores.shorthand import InShorthand
from memoranda.testkit.items import fresh_scope
from tests.stores.contract.item_opening import items_in
from tests.stores.postgres.server import PostgresServer

SESSION = "s1"
TABLES: Final = ("memories", "item_keywords", "item_postings")


class Place:
    """A database, by its URL, and its tables."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self.scope = fresh_scope()
        self.database: LedgerDatabase

    async def items(self, session_ref: str = SESSION, scope: str | None = None) -> ItemStore:
        """The items of a session."""
        return await items_in(self.database, scope or self.scope, session_ref)

    def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement as the owner; tables are named in braces, placeholders are ``?``."""
        prefix = "" if self.is_sqlite else "memoranda."
        named = statement.replace("{", prefix).replace("}", "")
        if self.is_sqlite:
            connection = apsw.Connection(self.url.removeprefix("sqlite:///"))
            try:
                return cast("list[tuple[Any, ...]]", connection.execute(named, values).fetchall())
            finally:
                connection.close()
        with psycopg.connect(self.url, autocommit=True) as owner:
            done = owner.execute(named.replace("?", "%s").encode(), values)
            return done.fetchall() if done.description else []

    def packed(self, body: bytes, codec: BodyCodec = PLAIN) -> bytes:
        """A body as it is stored."""
        return (InShorthand(codec) if self.is_sqlite else codec).pack(body, None)

    def counts(self) -> dict[str, int]:
        """How many rows each table of items has."""
        return {t: self.run(f"SELECT count(*) FROM {{{t}}}")[0][0] for t in TABLES}  # noqa: S608


@pytest.fixture(scope="session")
def items_postgres(postgres_server: PostgresServer) -> str:
    """One database for all of them, as the superuser."""
    return postgres_server.create_database()


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """A database of each kind, open and without items; PostgreSQL's is shared by the tests."""
    if request.param == "sqlite":
        place = Place(f"sqlite:///{tmp_path}/items.db")
    else:
        place = Place(str(request.getfixturevalue("items_postgres")))
    async with opened(place):
        yield place


@pytest.fixture
async def other_place(
    place: Place, tmp_path: Path, request: pytest.FixtureRequest
) -> AsyncIterator[Place]:
    """A database of the other kind."""
    if place.is_sqlite:
        other = Place(str(request.getfixturevalue("items_postgres")))
    else:
        other = Place(f"sqlite:///{tmp_path}/other.db")
    async with opened(other):
        yield other


@asynccontextmanager
async def opened(place: Place) -> AsyncIterator[None]:
    """Open a database, and empty it of items."""
    database, lease = await acquire(place.url, SystemClock())
    place.database = cast("LedgerDatabase", database)
    for table in TABLES:
        place.run(f"DELETE FROM {{{table}}}")  # noqa: S608 - ours
    yield
    await release(lease)
