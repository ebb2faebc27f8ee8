"""Both databases, one after the other, with the vectors of a scope."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from memoranda import Memory
from memoranda.kernel.actors import ActorRef
from memoranda.ledger.unit import Current
from memoranda.recall.embedder import embedded, embedded_each, stored_as
from memoranda.recall.selector import Constraints, Request
from memoranda.recall.vectors import Embedding, Near, VectorIndex
from tests.handles import inside
from tests.handles import opened as handle_on
from tests.journeys.embeddings.toy import ToyEmbedder
from tests.stores.postgres.server import PostgresServer


class Opens(Protocol):
    """Opens a scope of the database that a test runs on."""

    def __call__(
        self, scope: str = "meaning", **options: Any
    ) -> AbstractAsyncContextManager[Memory[Any]]: ...


@pytest.fixture(scope="session")
def server_url(postgres_server: PostgresServer) -> str:
    """One database of the server for all tests, each of which has scopes of its own."""
    return postgres_server.create_database()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/meaning.db"
    return str(request.getfixturevalue("server_url"))


@pytest.fixture
def opens(url: str, tmp_path: Path) -> Opens:
    """Opens a scope of it, which only this test has."""

    @asynccontextmanager
    async def opened(scope: str = "meaning", **options: Any) -> AsyncIterator[Memory[Any]]:
        async with handle_on(url, scope=f"{tmp_path.name}/{scope}", **options) as memory:
            yield memory

    return opened


@pytest.fixture
async def memory(opens: Opens) -> AsyncIterator[Memory[Any]]:
    """One scope of it."""
    async with opens() as memory:
        yield memory


def index_of(memory: Memory[Any]) -> VectorIndex:
    """The vectors of a scope."""
    found: VectorIndex = inside(memory).ledger.vectors
    return found


async def embed_all(memory: Memory[Any], embedder: ToyEmbedder) -> int:
    """Give everything a vector, without a journey; how many."""
    index, model = index_of(memory), stored_as(embedder)
    missing = await index.missing(model, 100_000)
    vectors = await embedded_each(embedder, [one.texts for one in missing])
    found = zip(missing, vectors, strict=True)
    return await index.put(model, [Embedding(one.id, one.seq, vector) for one, vector in found])


async def nearest(
    memory: Memory[Any], embedder: ToyEmbedder, query: str, limit: int = 10
) -> list[tuple[str, float]]:
    """The ids nearest to a text, with how near they are."""
    (vector,) = await embedded(embedder, [query])

    def make(current: Current, near: Near) -> tuple[str, float]:
        return current.id, near.similarity

    found = await index_of(memory).nearest(stored_as(embedder), vector, limit, make)
    return [(str(one[0]), float(one[1])) for one in found.made]  # type: ignore[index]  # as made


def asking(query: str, top_k: int = 5, **constraints: Any) -> Request:
    """A question of a person, at a time."""
    return Request(
        query,
        top_k,
        1_900_000_000_000,
        ActorRef(actor_id="human:anna", kind="human"),
        Constraints(**constraints),
    )
