"""A SQLite file that is open: its schema, its writer and its readers."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final, Self, TypeVar

import apsw

from memoranda.kernel.errors import StoreReadOnly
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.stores.home import Home
from memoranda.stores.migrations import OPENED_TO_READ, Migration, done
from memoranda.stores.shorthand import InShorthand
from memoranda.stores.sqlite.connection import (
    MEMORY,
    NAME,
    PrivateFile,
    check_identity,
    check_place,
    connect,
    connect_to_read,
    due,
    let_go,
    make_private,
    migrate,
    plain_errors,
)
from memoranda.stores.sqlite.merger import Merger
from memoranda.stores.sqlite.reader import Glance, Parameters, Reader, parameters, run
from memoranda.stores.sqlite.units import SqliteUnits, compared
from memoranda.stores.sqlite.writer import SqliteWriter
from memoranda.stores.statements import Procedure, Statement

A = TypeVar("A")
R = TypeVar("R")

log = logging.getLogger("memoranda.sqlite")


class SqliteFile:
    """One file, opened for this process: its schema, its writer and its readers."""

    home: Home

    def __init__(
        self,
        name: str,
        writer: SqliteWriter | None,
        reader: Reader,
        connect: Callable[[], apsw.Connection],
        *,
        bodies: InShorthand,
        merger: Merger,
        private: PrivateFile | None = None,
        known: Sequence[Migration] | None = None,
        upgrades_at: int | None = None,
    ) -> None:
        """Without a `writer` it is only read; `upgrades_at` is set while its schema is older."""
        self.name = name
        self.bodies = bodies
        self.compared = compared(bodies)
        self.merger = merger
        self.known = merger.known
        self.units = SqliteUnits(bodies, merger.note_written)
        self.connect = connect
        self.writer: Final = writer
        self.reader = reader
        self._private = private
        self._known = known
        self._upgrades_at = upgrades_at
        self._upgrading = asyncio.Lock()
        self.is_current = upgrades_at is None
        """Whether its schema is up to date."""

    @classmethod
    async def open(
        cls,
        path: str,
        now: int,
        *,
        create: bool,
        read_only: bool = False,
        bodies: BodyCodec = PLAIN,
        known: Sequence[Migration] | None = None,
    ) -> Self:
        """Open a file: a new one is made, private to its owner, and an older one stays as it is.

        The first write brings an older schema up to date. With `read_only` nothing is ever written,
        and the file may lie where nothing can be. ``:memory:`` is a new file of its own, which goes
        when it is closed.
        """
        stored = InShorthand(bodies)
        if read_only:
            opened = await asyncio.to_thread(cls._open_to_read, path, stored, known)
        else:
            opening = partial(cls._open, path, now, create=create, bodies=stored, known=known)
            opened = await asyncio.to_thread(opening)
        opened.home = Home(opened.name)
        return opened

    @classmethod
    def _open(
        cls,
        path: str,
        now: int,
        *,
        create: bool,
        bodies: InShorthand,
        known: Sequence[Migration] | None,
    ) -> Self:
        if path == MEMORY:
            private = PrivateFile()
            try:
                return cls._connected(private.path, now, create, bodies, known, private)
            except BaseException:
                private.remove()
                raise
        check_place(path, create=create)
        return cls._connected(path, now, create, bodies, known)

    @classmethod
    def _connected(
        cls,
        path: str,
        now: int,
        create: bool,
        bodies: InShorthand,
        known: Sequence[Migration] | None,
        private: PrivateFile | None = None,
    ) -> Self:
        name = path if private is None else NAME
        again = partial(connect, path, is_private=private is not None)
        with plain_errors(name):
            if create:
                make_private(path)
            connection = again()
            try:
                check_identity(connection, name)
                left = due(connection, name, create=create, known=known)
                if left is None:
                    migrate(connection, name, now, known=known)
                reader = Reader(again, name)
            except BaseException:
                let_go(connection)
                raise
            merger = Merger(bodies)
            writer = SqliteWriter(connection, name, reconnect=again, spare_time=merger)
            return cls(
                name,
                writer,
                reader,
                again,
                bodies=bodies,
                merger=merger,
                private=private,
                known=known,
                upgrades_at=now if left else None,
            )

    @classmethod
    def _open_to_read(
        cls, path: str, bodies: InShorthand, known: Sequence[Migration] | None
    ) -> Self:
        check_place(path, create=False)
        again = partial(connect_to_read, path)
        with plain_errors(path):
            connection = again()
            try:
                check_identity(connection, path, to_read=True)
                due(connection, path, create=False, known=known)
                reader = Reader(again, path)
            finally:
                let_go(connection)
        return cls(path, None, reader, again, bodies=bodies, merger=Merger(bodies), known=known)

    async def read(self, work: Callable[[apsw.Connection], R]) -> R:
        """Several reads that all see the same moment, on a thread of their own."""
        self.home.check()
        return await self.reader.run(work)

    async def write(self, work: Callable[[apsw.Connection], R]) -> R:
        """Run one unit of work in a transaction."""
        self.home.check()
        if not self.is_current or self.writer is None:
            await self.upgrade()
        assert self.writer is not None  # noqa: S101 - an upgrade refuses what is only read
        return await self.writer.run(work)

    async def write_upgraded(
        self, work: Callable[[apsw.Connection, Sequence[A]], Sequence[R]], argument: A
    ) -> R:
        """Run one unit of work in a transaction, once the schema is up to date."""
        await self.upgrade()
        assert self.writer is not None  # noqa: S101 - an upgrade refuses what is only read
        return await self.writer.join(work, argument)

    async def upgrade(self) -> Sequence[str]:
        """Bring the schema up to date; what was applied, which is nothing where nothing was due."""
        async with self._upgrading:
            if self._upgrades_at is None:
                self.check_writable()
                return ()
            applied = await asyncio.to_thread(self._upgrade, self._upgrades_at)
            self._upgrades_at, self.is_current = None, True
        if applied:
            log.warning("%s: %s", self.name, done(applied))
        return [str(migration) for migration in applied]

    def _upgrade(self, now: int) -> Sequence[Migration]:
        with plain_errors(self.name):
            connection = self.connect()
            try:
                return migrate(connection, self.name, now, known=self._known)
            finally:
                let_go(connection)

    def check_writable(self) -> None:
        """Refuse with StoreReadOnly if it was opened only to be read."""
        if self.writer is None:
            raise StoreReadOnly(self.name, OPENED_TO_READ)

    def rows(
        self, sql: str, parameters: Parameters, make: Callable[[Any], R]
    ) -> Coroutine[Any, Any, list[R]]:
        """The rows of a SELECT, each made into a value."""
        self.home.check()
        return self.reader.rows(sql, parameters, make)

    def glance(self, look: Glance, make: Callable[[Any], R]) -> Coroutine[Any, Any, list[R]]:
        """What a few short reads find, all of the same moment."""
        self.home.check()
        return self.reader.glance(look, make)

    def stream(self, sql: str, parameters: Parameters) -> AsyncGenerator[Any, None]:
        """The rows of a SELECT as they are now, a few at a time."""
        self.home.check()
        return self.reader.stream(sql, parameters)

    async def close(self) -> None:
        """Finish what is under way, then let go of the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader.close()
        if self._private is not None:
            self._private.remove()


class SqliteRows:
    """One journal of a file (`JournalRows`)."""

    def __init__(self, database: SqliteFile, journal: int) -> None:
        self._database = database
        self._journal = journal
        self.database = database.name
        self.bodies = database.bodies
        self.compared = database.compared

    def rows(
        self, make: Callable[[Any], R], statement: Statement, /, **values: Any
    ) -> Coroutine[Any, Any, list[R]]:
        asked = parameters(statement, self._journal, values)
        return self._database.rows(statement.sqlite, asked, make)

    async def read(self, procedure: Callable[[], Procedure[R]]) -> R:
        self._database.home.check()
        return await self._database.reader.run(lambda c: run(c, self._journal, procedure()))

    async def glimpse(self, procedure: Callable[[], Procedure[R]]) -> R:
        self._database.home.check()
        return await self._database.reader.glimpse(lambda c: run(c, self._journal, procedure()))

    async def write(self, procedure: Callable[[], Procedure[R]]) -> R:
        return await self._database.write(lambda c: run(c, self._journal, procedure()))

    change = write
