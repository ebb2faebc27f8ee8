"""A SQLite database: its schema, its writer and its readers."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Final, TypeVar

import apsw

from recollect.kernel.errors import CapabilityMissing, StoreUnavailable
from recollect.ledger.codec import PLAIN, BodyCodec
from recollect.ledger.entry import genesis
from recollect.plans.items import check_session_ref
from recollect.stores.shorthand import InShorthand
from recollect.stores.sqlite.adoption import SqliteAdoption
from recollect.stores.sqlite.connection import (
    MEMORY,
    check_place,
    connect,
    let_go,
    plain_errors,
)
from recollect.stores.sqlite.items import SqliteItems
from recollect.stores.sqlite.ledger import SqliteLedger
from recollect.stores.sqlite.merging import Merger
from recollect.stores.sqlite.reader import Glance, Parameters, Reader
from recollect.stores.sqlite.schema import check_identity, migrate
from recollect.stores.sqlite.writer import Writer

A = TypeVar("A")
R = TypeVar("R")


# The last column stands where a reader expects a body: how long it is decides who decodes it.
_JOURNAL: Final = "SELECT number, '' FROM journals WHERE scope = ?"
_SCOPES: Final = "SELECT scope, '' FROM journals WHERE scope <> '' ORDER BY scope"
_ORIGINS: Final = "SELECT scope, origin FROM journals ORDER BY scope"
_PLAIN_SCOPES: Final = "SELECT DISTINCT scope, '' FROM plain_records WHERE body IS NOT NULL"
_PLAIN_ROWS: Final = """
SELECT id, version, created_at, updated_at, actor, reason, body FROM plain_records
WHERE scope = ? AND body IS NOT NULL ORDER BY created_at, id LIMIT ?
"""
_FORGET_PLAIN: Final = "DELETE FROM plain_records WHERE scope = ? AND id = ?"
_OPEN_JOURNAL: Final = """
INSERT INTO journals (scope, origin, opened_at, size, head, head_at) VALUES (?, ?, ?, 0, ?, ?)
ON CONFLICT (scope) DO NOTHING
"""


class SqliteDatabase:
    """One file, or one database in memory, opened for this process."""

    def __init__(
        self,
        path: str,
        writer: Writer,
        reader: Reader | None = None,
        connect: Callable[[], apsw.Connection] | None = None,
        *,
        bodies: BodyCodec,
        merger: Merger,
    ) -> None:
        self.path = path
        self.bodies = bodies
        self.merger = merger
        self.connect = connect
        self._writer = writer
        self._reader = reader

    @classmethod
    async def open(
        cls, path: str, now: int, *, create: bool, bodies: BodyCodec = PLAIN
    ) -> "SqliteDatabase":
        """Open a file and bring its schema up to date, in one transaction or not at all."""
        stored = InShorthand(bodies)
        return await asyncio.to_thread(cls._open, path, now, create=create, bodies=stored)

    @classmethod
    def _open(cls, path: str, now: int, *, create: bool, bodies: BodyCodec) -> "SqliteDatabase":
        if path != MEMORY:
            check_place(path, create=create)
        with plain_errors(path):
            connection = connect(path)
            try:
                check_identity(connection, path)
                migrate(connection, path, now, create=create)
                again = partial(connect, path)
                reader = None if path == MEMORY else Reader(again, path)
            except BaseException:
                let_go(connection)
                raise
            merger = Merger(bodies)
            if reader is None:
                writer = Writer(connection, path, spare_time=merger)
                return cls(path, writer, bodies=bodies, merger=merger)
            writer = Writer(connection, path, reconnect=again, spare_time=merger)
            return cls(path, writer, reader, again, bodies=bodies, merger=merger)

    async def read(self, work: Callable[[apsw.Connection], R]) -> R:
        """Several reads that all see the same moment; in memory they take their turn."""
        if self._reader is not None:
            return await self._reader.run(work)
        return await self._writer.run(work)

    async def write(self, work: Callable[[apsw.Connection], R]) -> R:
        """Run one unit of work in a transaction."""
        return await self._writer.run(work)

    def write_joined(
        self, work: Callable[[apsw.Connection, Sequence[A]], Sequence[R]], argument: A
    ) -> Coroutine[Any, Any, R]:
        """Run one unit of work together with others of the same kind."""
        return self._writer.join(work, argument)

    def rows(
        self, sql: str, parameters: Parameters, make: Callable[[Any], R]
    ) -> Coroutine[Any, Any, list[R]]:
        """The rows of a SELECT; in memory there is one connection, so it takes its turn."""
        if self._reader is not None:
            return self._reader.rows(sql, parameters, make)
        return self._writer.run(lambda c: [make(row) for row in c.execute(sql, parameters)])

    async def glance(self, look: Glance, make: Callable[[Any], R]) -> list[R]:
        """What a few short reads find, all of the same moment; in memory they take their turn."""
        if self._reader is not None:
            return await self._reader.glance(look, make)
        return await self._writer.run(lambda c: [make(row) for row in look(c.cursor(), {})])

    @property
    def reader(self) -> Reader | None:
        """The readers; None in memory."""
        return self._reader

    async def ledger(self, scope: str, origin: str, now: int) -> SqliteLedger:
        """The ledger of one scope; a scope that is new gets a journal of this origin."""
        found = await self.rows(_JOURNAL, (scope,), _first)
        if not found:
            opened = (scope, origin, now, bytes.fromhex(genesis(origin)), now)
            await self.write(lambda c: c.execute(_OPEN_JOURNAL, opened).fetchall())
            found = await self.rows(_JOURNAL, (scope,), _first)
        ledger = SqliteLedger(self, found[0])
        self.merger.note(found[0], await ledger.tail())
        return ledger

    async def items(self, scope: str, session_ref: str) -> SqliteItems:
        """The items of one session; StoreUnavailable if its scope was never opened here."""
        checked = check_session_ref(session_ref)
        found = await self.rows(_JOURNAL, (scope,), _first)
        if not found:
            raise StoreUnavailable(self.path, f"there is no scope {scope!r} in it")
        return SqliteItems(self, found[0], checked)

    def adoption(self, scope: str, origin: str, now: int) -> SqliteAdoption:
        """Takes over the journal of this scope from another database, which has it alone."""
        if self.connect is None:
            raise CapabilityMissing("copying into memory")
        return SqliteAdoption(self.connect, self.path, (scope, origin, now), self.bodies)

    async def plain_scopes(self) -> list[str]:
        """The scopes that still have records from before there was a journal."""
        return await self.rows(_PLAIN_SCOPES, (), _first)

    async def plain_rows(self, scope: str, limit: int) -> list[tuple[Any, ...]]:
        """Some of them: id, version, times, actor, reason, body."""
        return await self.rows(_PLAIN_ROWS, (scope, limit), tuple)

    async def forget_plain(self, scope: str, ids: Sequence[str]) -> None:
        """Let go of those that were adopted."""
        rows = [(scope, id) for id in ids]
        await self.write(lambda c: c.executemany(_FORGET_PLAIN, rows).fetchall())

    async def journals(self) -> dict[str, str]:
        """The origin of every journal, by scope; that of the directory is under no name."""
        return dict(await self.rows(_ORIGINS, (), tuple))

    async def scopes(self) -> list[str]:
        """Every scope that was ever opened here, sorted."""
        return await self.rows(_SCOPES, (), _first)

    async def close(self) -> None:
        """Finish what is under way, then let go of the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        if self._reader is not None:
            self._reader.close()


def _first(row: Any) -> Any:
    return row[0]
