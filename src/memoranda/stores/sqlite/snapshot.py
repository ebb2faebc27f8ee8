"""A SQLite ledger at one moment, read in chunks on a thread of its own."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from itertools import islice
from typing import Any, Self, TypeVar

import apsw

from memoranda.ledger.codec import BodyCodec, LenientCodec
from memoranda.ledger.snapshot import Index, Table
from memoranda.ledger.unit import Head
from memoranda.stores.shorthand import ENTRY
from memoranda.stores.sqlite.connection import let_go, plain_errors
from memoranda.stores.sqlite.reader import parameters
from memoranda.stores.statements import Statement
from memoranda.stores.tables import HEAD, INDEX, SEGMENTS, TABLES, Unpacking, index_of

R = TypeVar("R")


class SqliteSnapshot:
    """One read transaction: writing goes on beside it, and does not show."""

    def __init__(
        self,
        connect: Callable[[], apsw.Connection],
        journal: int,
        database: str,
        bodies: BodyCodec,
    ) -> None:
        self._unpacking = Unpacking(LenientCodec(bodies), ENTRY.unpack)
        self._connect = connect
        self._journal = journal
        self._database = database
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="memoranda-snapshot")
        self._connection: apsw.Connection | None = None
        self._has_ended = False

    async def __aenter__(self) -> Self:
        try:
            await self._run(self._begin)
        except BaseException:
            await self.__aexit__()  # nobody else will: a snapshot that was left pins the past
            raise
        return self

    async def __aexit__(self, *_raised: object) -> None:
        self._has_ended = True
        ended = self._thread.submit(self._end)
        self._thread.shutdown(wait=False)
        await asyncio.shield(asyncio.wrap_future(ended))  # it ends, also for who doesn't wait

    async def head(self) -> Head:
        ((*head,),) = await self._all(HEAD)
        return Head._make(head)

    async def rows(self, table: Table[R]) -> AsyncGenerator[Sequence[R], None]:
        for statement, make, at_once in TABLES[table]:
            made = partial(make, self._unpacking)
            async with aclosing(self._chunks(statement, made, at_once)) as chunks:
                async for some in chunks:
                    yield some

    async def index(self) -> Index:
        """How far the word index reaches, whose it is, of how much, and if it can be whole."""
        return index_of(await self._all(INDEX), await self._all(SEGMENTS))

    async def _all(self, statement: Statement) -> list[Any]:
        async with aclosing(self._chunks(statement, list, 256)) as chunks:
            return [row async for chunk in chunks for row in chunk]

    # ------------------------------------------------------------------- on the thread

    def _begin(self) -> None:
        connection = self._connection = self._connect()
        connection.execute("BEGIN")
        connection.execute("SELECT 1 FROM journals").fetchall()  # from here on nothing new shows

    def _end(self) -> None:
        if self._connection is not None:
            let_go(self._connection)

    async def _chunks(
        self, statement: Statement, make: Callable[[Iterable[Any]], list[R]], at_once: int
    ) -> AsyncGenerator[Sequence[R], None]:
        assert self._connection is not None  # noqa: S101 - it is entered first
        asked = parameters(statement, self._journal, {})
        cursor = await self._run(partial(self._connection.execute, statement.sqlite, asked))

        def take() -> list[R]:
            return make(islice(cursor, at_once))

        try:
            while chunk := await self._run(take):
                yield chunk
        finally:
            if not self._has_ended:  # the end of the snapshot closes every cursor
                await self._run(partial(cursor.close, True))

    async def _run(self, work: Callable[[], R]) -> R:
        with plain_errors(self._database):
            return await asyncio.get_running_loop().run_in_executor(self._thread, work)
