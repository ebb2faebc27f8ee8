"""Connections to one database, opened when they are needed and used again.

Not psycopg's pool: that one hides why a server can't be reached behind a timeout, reconnects as
late as its growing pauses say, and hands connections out in turn, so that every call meets a cold
one (80 to 100 µs). This one has no background task: a call opens the connection that it lacks,
and so hears at once what is wrong, or that all is well again.
"""

import asyncio
import select
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg.pq import TransactionStatus

from memoranda.kernel.errors import StoreClosed, StoreUnavailable
from memoranda.stores.home import Home
from memoranda.stores.postgres.connection import Connection, call, explained

PATIENCE_S: Final = 30.0


class Pool:
    """At most `size` connections. Whoever comes first is served first."""

    def __init__(
        self,
        connect: Callable[[], Awaitable[Connection]],
        database: str,
        size: int,
        before_write: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Whoever wants to write waits for `before_write`, which may refuse it."""
        self._connect = connect
        self._before_write = before_write
        self.database = database
        self._size = size
        self.home = Home(database)
        self._turns = asyncio.Semaphore(size)
        self._free: list[Connection] = []
        self._used: set[Connection] = set()
        self.is_closed = False

    def connection(self, *, writes: bool = False) -> "_Lease":
        """A connection for the length of the block; what the server refuses comes out as ours."""
        return _Lease(self, writes=writes)

    async def call(
        self, statement: str, values: Sequence[object], *, writes: bool = False
    ) -> list[tuple[Any, ...]]:
        """The rows of one statement, which is a transaction of its own."""
        async with _Lease(self, writes=writes) as connection:
            return await call(connection, statement, values)

    async def take(self, *, writes: bool) -> Connection:
        self.home.check()
        if writes and self._before_write is not None:
            await self._before_write()
        await self._turn()
        try:
            connection = await self._usable() or await self._opened()
        except BaseException:
            self._turns.release()
            raise
        self._used.add(connection)
        return connection

    async def take_back(self, connection: Connection, *, in_order: bool) -> None:
        try:
            self._used.discard(connection)
            is_idle = connection.pgconn.transaction_status == TransactionStatus.IDLE
            if in_order and is_idle and not self.is_closed:
                self._free.append(connection)
            else:
                await connection.close()
        finally:
            self._turns.release()

    @asynccontextmanager
    async def transaction(self, begin: bytes, *, writes: bool = False) -> AsyncIterator[Connection]:
        """A transaction for the length of the block: committed at its end, or rolled back."""
        async with self.connection(writes=writes) as connection:
            await connection.execute(begin)
            try:
                yield connection
            except (Exception, GeneratorExit):
                with suppress(psycopg.Error):  # then the connection is not idle, and is closed
                    await connection.rollback()
                raise
            await connection.commit()

    def give(self, connection: Connection) -> None:
        self._free.append(connection)

    async def close(self) -> None:
        """Wait until nobody uses a connection, then let go; whoever still asks is refused."""
        for _ in range(self._size):
            await self._turns.acquire()
        await self.cut()
        for _ in range(self._size):
            self._turns.release()

    async def cut(self) -> None:
        """Let go at once, also of what is in use; whoever still asks is refused."""
        self.is_closed = True
        for connection in [*self._free, *self._used]:
            await connection.close()
        self._free.clear()

    async def _turn(self) -> None:
        try:
            if self._turns.locked():
                async with asyncio.timeout(PATIENCE_S):
                    await self._turns.acquire()
            else:
                await self._turns.acquire()
        except TimeoutError:
            why = f"all {self._size} connections were in use for {PATIENCE_S:.0f} s; retry"
            raise StoreUnavailable(self.database, why) from None

    async def _usable(self) -> Connection | None:
        """The connection that was used last, if its server still holds it."""
        while self._free:
            connection = self._free.pop()
            if not _has_news(connection):
                return connection
            await connection.close()
        return None

    async def _opened(self) -> Connection:
        if self.is_closed:
            raise StoreClosed
        return await self._connect()


class _Lease:
    """A connection that is in use.

    It is used again if it is in good order, also after a refusal. After a cancellation it is
    not: the request to cancel may still be on its way, and would meet the next call.
    """

    __slots__ = ("_connection", "_pool", "_writes")

    def __init__(self, pool: Pool, *, writes: bool) -> None:
        self._pool = pool
        self._writes = writes

    async def __aenter__(self) -> Connection:
        self._connection = await self._pool.take(writes=self._writes)
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: object
    ) -> None:
        in_order = error is None or isinstance(error, Exception | GeneratorExit)
        await self._pool.take_back(self._connection, in_order=in_order)
        if isinstance(error, psycopg.Error):
            plain = explained(error, self._pool.database, writes=self._writes)
            if self._pool.is_closed and isinstance(plain, StoreUnavailable):
                raise StoreClosed from None
            raise plain from error


def _has_news(connection: Connection) -> bool:
    """Whether the server said something since the last answer: mostly, that it is going away."""
    poll = select.poll()
    poll.register(connection.pgconn.socket, select.POLLIN)
    return bool(poll.poll(0))
