"""Reading a SQLite file without waiting behind writes.

A short read runs at once, on the event loop's own thread: a point look-up takes microseconds,
and a hop to another thread ten times that. It has a budget of steps and of bytes; a read that
turns out to be long is broken off and started anew on a reader thread, which also decodes what
it found, so that the loop is never held up.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, repeat
from threading import local
from typing import Any, Final, TypeVar

import apsw

from memoranda.kernel.errors import StoreClosed
from memoranda.stores.sqlite.connection import let_go, plain_errors
from memoranda.stores.statements import (
    Each,
    EachRow,
    PlainStatement,
    Procedure,
    Question,
    Statement,
    Values,
)

R = TypeVar("R")
Parameters = Sequence[Any]
Notes = dict[Any, Any]
"""What reads have found out, and may use again as long as the database stays as it is."""

Glance = Callable[[apsw.Cursor, Notes], list[Any]]
"""A few short reads by one cursor; the last column of the rows that they end with is a body."""

LOOP_STEPS: Final = 10_000
"""Steps of SQLite's virtual machine: about a millisecond."""

LOOP_BYTES: Final = 64 * 1024
"""Bytes of bodies that may be decoded on the loop's thread: likewise."""

_STEPS_AT_ONCE: Final = 1_000
_MOST_NOTES: Final = 64
THREADS: Final = 4
CHUNK: Final = 256


class Reader:
    """Runs reads, short ones on the loop's thread and long ones on others."""

    def __init__(self, connect: Callable[..., apsw.Connection], database: str) -> None:
        self._connect = connect
        self._database = database
        self._short = connect(busy_ms=0)
        self._short.set_progress_handler(self._break_off, _STEPS_AT_ONCE)
        self._steps = 0
        self._cursor = self._short.cursor()  # making one costs a fifth of a point look-up
        self._notes: Notes = {}
        self._noted_at: object = None
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="memoranda-reader")
        self._own = local()
        self._connections: list[apsw.Connection] = []
        self._open = True

    async def rows(self, sql: str, parameters: Parameters, make: Callable[[Any], R]) -> list[R]:
        """The rows of a SELECT, each made into a value; its bodies are in the last column."""
        rows = self._at_once(sql, parameters)
        if rows is not None:
            return [make(row) for row in rows]
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._long, sql, parameters, make)

    async def glance(self, look: Glance, make: Callable[[Any], R]) -> list[R]:
        """What a few short reads find, all of the same moment; each row made into a value."""
        rows = self._glanced(look)
        if rows is not None:
            return [make(row) for row in rows]
        return await self.run(lambda c: [make(row) for row in look(c.cursor(), {})])

    async def glimpse(self, work: Callable[[apsw.Connection], R]) -> R:
        """Several reads that all see the same moment; on the loop's thread, if they are short."""
        if not self._open:
            raise StoreClosed
        self._steps = 0
        try:
            return self._transacted(self._short, work)
        except (apsw.InterruptError, apsw.BusyError, apsw.LockedError):
            pass  # too long for the loop, or not at once
        except (apsw.Error, UnicodeDecodeError):
            with plain_errors(self._database):
                raise
        return await self.run(work)

    async def run(self, work: Callable[[apsw.Connection], R]) -> R:
        """Several reads that all see the same moment, on a reader thread."""
        if not self._open:
            raise StoreClosed
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, self._transacted, None, work)
        except (apsw.Error, UnicodeDecodeError):
            with plain_errors(self._database):
                raise

    async def stream(self, sql: str, parameters: Parameters) -> AsyncGenerator[Any, None]:
        """EachRow of one SELECT as they are now, in chunks; writes go on beside it."""
        if not self._open:
            raise StoreClosed
        rows = _Rows(self._connect, sql, parameters)
        chunks = self._threads.submit(rows.next_chunk)
        try:
            with plain_errors(self._database):
                while chunk := await asyncio.wrap_future(chunks):
                    for row in chunk:
                        yield row
                    if not self._open:
                        raise StoreClosed
                    chunks = self._threads.submit(rows.next_chunk)
        finally:
            # Left early, a chunk may still be under way: its thread closes when it is done.
            chunks.add_done_callback(rows.close)

    def close(self) -> None:
        """Wait for reads under way, then close every connection."""
        if self._open:
            self._open = False
            self._threads.shutdown()
            for connection in [self._short, *self._connections]:
                let_go(connection)

    def _at_once(self, sql: str, parameters: Parameters) -> list[Any] | None:
        """The rows of a SELECT; None if it takes more than a moment."""
        if not self._open:
            raise StoreClosed
        self._steps = 0
        try:
            rows = self._cursor.execute(sql, parameters).fetchall()
        except (apsw.InterruptError, apsw.BusyError, apsw.LockedError):
            return None  # too long for the loop, or not at once
        except (apsw.Error, UnicodeDecodeError):
            with plain_errors(self._database):
                raise
        return rows if _is_short(rows) else None

    def _glanced(self, look: Glance) -> list[Any] | None:
        """The rows of a glance; None if it takes more than a moment."""
        if not self._open:
            raise StoreClosed
        self._steps = 0
        cursor = self._cursor
        try:
            cursor.execute("BEGIN")
            try:
                # Whoever commits, here or in another process: the number is another one then.
                version = cursor.execute("PRAGMA data_version").fetchall()
                if version != self._noted_at or len(self._notes) > _MOST_NOTES:
                    self._notes, self._noted_at = {}, version
                rows = look(cursor, self._notes)
            finally:
                self._steps = 0  # the end is not broken off
                if self._short.in_transaction:
                    cursor.execute("ROLLBACK")
        except (apsw.InterruptError, apsw.BusyError, apsw.LockedError):
            return None  # too long for the loop, or not at once
        except (apsw.Error, UnicodeDecodeError):
            with plain_errors(self._database):
                raise
        return rows if _is_short(rows) else None

    def _break_off(self) -> bool:
        # SQLite counts the steps of a prepared statement over all of its runs, and asks here at
        # every thousandth: so the steps of one read are counted by us.
        self._steps += _STEPS_AT_ONCE
        return self._steps > LOOP_STEPS

    def _long(self, sql: str, parameters: Parameters, make: Callable[[Any], R]) -> list[R]:
        with plain_errors(self._database):
            return [make(row) for row in self._of_thread().execute(sql, parameters)]

    def _transacted(self, given: apsw.Connection | None, work: Callable[[apsw.Connection], R]) -> R:
        """Reads of one moment, on a connection that is given, or on this thread's own."""
        connection = self._of_thread() if given is None else given
        connection.execute("BEGIN")
        try:
            return work(connection)
        finally:
            self._steps = 0  # the end is not broken off
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    def _of_thread(self) -> apsw.Connection:
        connection: apsw.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = self._connect()
            self._connections.append(connection)
        return connection


def _is_short(rows: Sequence[Any]) -> bool:
    size = 0
    for row in rows:
        if row[-1].__class__ is bytes:
            size += len(row[-1])
    return size <= LOOP_BYTES


class _Rows:
    """The rows of one SELECT in chunks, on a connection of its own: one snapshot for all."""

    def __init__(
        self, connect: Callable[[], apsw.Connection], sql: str, parameters: Parameters
    ) -> None:
        self._connect = connect
        self._select = (sql, parameters)
        self._connection: apsw.Connection | None = None
        self._cursor: apsw.Cursor | None = None

    def next_chunk(self) -> list[Any]:
        """The next rows; the first call opens the connection."""
        if self._cursor is None:
            self._connection = self._connect()
            self._cursor = self._connection.execute(*self._select)
        return list(islice(self._cursor, CHUNK))

    def close(self, _done: object) -> None:
        if self._connection is not None:
            let_go(self._connection)


# ------------------------------------------------------------------------------------------------
# Procedures on a SQLite journal (`stores.statements`), on a thread that has a connection.


def run(connection: apsw.Connection, journal: int, procedure: Procedure[R]) -> R:
    """Run a procedure to its end; what it raises, or a statement does, comes out."""
    found: Any = None
    try:
        while True:
            question = procedure.send(found)
            if isinstance(question, PlainStatement):
                found = connection.execute(question.sql, question.parameters).fetchall()
                continue
            statement = question.statement
            sql = statement.sqlite
            if isinstance(question, EachRow):
                columns = statement.of_sqlite({**question.columns, "journal": repeat(journal)})
                connection.executemany(sql, zip(*columns, strict=False)).fetchall()
                found = []
            elif isinstance(question, Question):
                asked = parameters(statement, journal, question.values)
                found = connection.execute(sql, asked).fetchall()
            elif isinstance(question, Each):
                several = [parameters(statement, journal, values) for values in question.several]
                found = connection.executemany(sql, several).fetchall()
            else:
                cursor = connection.execute(sql, parameters(statement, journal, question.values))
                while rows := list(islice(cursor, question.size)):
                    question.take(rows)
    except StopIteration as end:
        result: R = end.value
        return result


def parameters(statement: Statement, journal: int, values: Values) -> Sequence[Any]:
    values["journal"] = journal
    return statement.of_sqlite(values)
