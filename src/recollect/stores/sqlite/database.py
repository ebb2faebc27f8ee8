"""A SQLite database: its schema, its writer and its readers."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, TypeVar

import apsw

from recollect.stores.sqlite.connection import (
    MEMORY,
    check_place,
    connect,
    plain_errors,
)
from recollect.stores.sqlite.reader import Read, Reader
from recollect.stores.sqlite.records import SqliteTable
from recollect.stores.sqlite.schema import check_identity, migrate
from recollect.stores.sqlite.writer import Writer

A = TypeVar("A")
R = TypeVar("R")


class SqliteDatabase:
    """One file, or one database in memory, opened for this process."""

    def __init__(self, path: str, writer: Writer, reader: Reader | None) -> None:
        self.path = path
        self._writer = writer
        self._reader = reader

    @classmethod
    async def open(cls, path: str, now: int, *, create: bool) -> "SqliteDatabase":
        """Open a file and bring its schema up to date, in one transaction or not at all."""
        return await asyncio.to_thread(cls._open, path, now, create=create)

    @classmethod
    def _open(cls, path: str, now: int, *, create: bool) -> "SqliteDatabase":
        if path != MEMORY:
            check_place(path, create=create)
        with plain_errors(path):
            connection = connect(path)
            try:
                check_identity(connection, path)
                migrate(connection, path, now, create=create)
            except BaseException:
                connection.close()
                raise
            if path == MEMORY:
                return cls(path, Writer(connection, path), None)
            again = partial(connect, path)
            return cls(path, Writer(connection, path, reconnect=again), Reader(again, path))

    async def write(self, work: Callable[[apsw.Connection], R]) -> R:
        """Run one unit of work in a transaction."""
        return await self._writer.run(work)

    async def write_joined(
        self, work: Callable[[apsw.Connection, Sequence[A]], Sequence[R]], argument: A
    ) -> R:
        """Run one unit of work together with others of the same kind."""
        return await self._writer.join(work, argument)

    def read(self, read: Read, make: Callable[[Any], R]) -> Coroutine[Any, Any, list[R]]:
        """The rows of a read; in memory there is one connection, so it takes its turn."""
        if self._reader is not None:
            return self._reader.run(read, make)
        return self._writer.run(lambda connection: [make(row) for row in read(connection)])

    @property
    def reader(self) -> Reader | None:
        """The readers; None in memory."""
        return self._reader

    async def records(self, scope: str, now: int) -> SqliteTable:
        """The records of one scope, which is noted when it is first opened."""
        if scope not in await self.scopes():
            note = "INSERT INTO scopes (scope, opened_at) VALUES (?, ?) ON CONFLICT DO NOTHING"
            await self.write(lambda c: c.execute(note, (scope, now)).fetchall())
        return SqliteTable(self, scope)

    async def scopes(self) -> list[str]:
        """Every scope that was ever opened here."""
        names = "SELECT scope FROM scopes ORDER BY scope"
        return await self.read(lambda c: c.execute(names).fetchall(), lambda row: str(row[0]))

    async def close(self) -> None:
        """Finish what is under way, then let go of the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        if self._reader is not None:
            self._reader.close()
