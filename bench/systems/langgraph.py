"""LangGraph's stores, as their documentation opens them.

They are installed in the bench environment only, so their modules are loaded by name and typed
here by what is called of them. They filter by JSON equality alone and order by the last update;
so each value carries a scalar `tag`, and a query asks for that.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Protocol

import apsw

from bench.systems.disk import postgres_bytes, sqlite_bytes
from bench.workload import Item, Patch

NAMESPACE: Final = ("bench", "memories")


class Store(Protocol):
    """What is called of LangGraph's `BaseStore`."""

    async def setup(self) -> None:
        """Make the tables."""
        ...

    async def aput(self, namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> None:
        """Put one value."""
        ...

    async def aget(self, namespace: tuple[str, ...], key: str) -> object:
        """Get one value."""
        ...

    async def adelete(self, namespace: tuple[str, ...], key: str) -> None:
        """Delete one value."""
        ...

    async def asearch(
        self, namespace_prefix: tuple[str, ...], /, *, filter: dict[str, Any], limit: int
    ) -> Sequence[object]:
        """Find values."""
        ...

    async def abatch(self, ops: Iterable[object]) -> Sequence[object]:
        """Do many operations in one transaction."""
        ...


class LangGraph:
    """A LangGraph store, and where it keeps its bytes."""

    def __init__(self, store: Store, size: Callable[[], Awaitable[int]]) -> None:
        self._store = store
        self._size = size
        self._put = import_module("langgraph.store.base").PutOp

    async def create(self, item: Item) -> str:
        """One aput."""
        await self._store.aput(NAMESPACE, item.id, item.data)
        return item.id

    async def create_many(self, items: Sequence[Item]) -> list[str]:
        """One abatch."""
        await self._store.abatch([self._put(NAMESPACE, item.id, item.data) for item in items])
        return [item.id for item in items]

    async def get(self, key: str) -> object:
        """One aget."""
        return await self._store.aget(NAMESPACE, key)

    async def update(self, key: str, patch: Patch) -> None:
        """One aput of the whole value: it has no merge."""
        await self._store.aput(NAMESPACE, key, patch.data)

    async def delete(self, key: str, item: Item) -> None:
        """One adelete."""
        del item
        await self._store.adelete(NAMESPACE, key)

    async def query(self, tag: str) -> Sequence[object]:
        """One asearch."""
        return await self._store.asearch(NAMESPACE, filter={"tag": tag}, limit=10)

    async def put(self, key: str, value: dict[str, Any]) -> None:
        """Create or replace one value."""
        await self._store.aput(NAMESPACE, key, value)

    async def put_many(self, values: dict[str, dict[str, Any]]) -> None:
        """Create or replace many values in one transaction."""
        await self._store.abatch([self._put(NAMESPACE, key, one) for key, one in values.items()])

    async def put_all(self, values: Iterable[tuple[tuple[str, ...], str, dict[str, Any]]]) -> None:
        """The same, each in a namespace of its own."""
        await self._store.abatch([self._put(*value) for value in values])

    async def search(
        self, prefix: tuple[str, ...], wanted: dict[str, Any], limit: int
    ) -> Sequence[object]:
        """One asearch in all namespaces that begin so."""
        return await self._store.asearch(prefix, filter=wanted, limit=limit)

    async def bytes_on_disk(self) -> int:
        """The file, or the tables."""
        return await self._size()


@asynccontextmanager
async def langgraph_sqlite(path: Path) -> AsyncIterator[LangGraph]:
    """AsyncSqliteStore as shipped: a rollback journal, synchronous=FULL."""

    async def size() -> int:
        return sqlite_bytes(path)

    opened = import_module("langgraph.store.sqlite.aio").AsyncSqliteStore
    async with _set_up(opened.from_conn_string(str(path))) as store:
        yield LangGraph(store, size)


@asynccontextmanager
async def langgraph_sqlite_wal(path: Path) -> AsyncIterator[LangGraph]:
    """AsyncSqliteStore on a file that was put into WAL mode before; synchronous=FULL."""
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.close()
    async with langgraph_sqlite(path) as system:
        yield system


@asynccontextmanager
async def langgraph_postgres(url: str) -> AsyncIterator[LangGraph]:
    """AsyncPostgresStore as shipped: one connection."""

    async def size() -> int:
        return await postgres_bytes(url)

    opened = import_module("langgraph.store.postgres.aio").AsyncPostgresStore
    async with _set_up(opened.from_conn_string(url)) as store:
        yield LangGraph(store, size)


@asynccontextmanager
async def _set_up(opening: AbstractAsyncContextManager[Store]) -> AsyncIterator[Store]:
    async with opening as store:
        await store.setup()
        yield store
