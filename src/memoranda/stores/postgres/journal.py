"""Procedures on a PostgreSQL journal (`stores.statements`), on the event loop."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, Final, TypeVar

from psycopg import sql
from psycopg.types.numeric import Int8

from memoranda.ledger.codec import BodyCodec
from memoranda.stores.compared import Compared
from memoranda.stores.postgres.connection import Connection, off_the_loop
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.shorthand import ENTRY, digest_in
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

ROWS_AT_ONCE: Final = 256

# Two statements in one trip, without parameters. The origin is quoted by psycopg.
BEGIN_READING: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT memoranda.enter({}, {})"
)
_BEGIN_WRITING: Final = sql.SQL("BEGIN; SELECT memoranda.lock_journal({}, {})")


async def run(
    connection: Connection, journal: int, procedure: Procedure[R], origin: str | None = None
) -> R:
    """Run a procedure to its end, in a transaction that has entered the journal.

    Outside of one the origin is given: then a function is called that enters it.
    """
    found: Any = None
    while True:
        # What is made of many bytes is made beside the event loop.
        step = partial(_next, procedure, found)
        question, is_running = await off_the_loop(_size(found or ()), step)
        if not is_running:
            result: R = question
            return result
        found = await _asked(connection, journal, origin, question)


def _next(procedure: Procedure[R], found: Any) -> tuple[Any, bool]:
    """What a procedure asks next, and that it goes on; or its result, and that it does not."""
    try:
        return procedure.send(found), True
    except StopIteration as end:
        return end.value, False


async def _asked(connection: Connection, journal: int, origin: str | None, question: Any) -> Any:
    if isinstance(question, PlainStatement):
        cursor = await connection.execute(
            question.sql, question.parameters, prepare=True, binary=True
        )
        return await cursor.fetchall()
    statement = question.statement
    sql = statement.postgres
    if not sql:
        return []
    if isinstance(question, Question | EachRow):
        values = question.values if isinstance(question, Question) else question.columns
        asked = parameters(statement, journal, origin, values)
        cursor = await connection.execute(sql, asked, prepare=True, binary=True)
        return await cursor.fetchall() if cursor.description else []
    if isinstance(question, Each):
        several = [parameters(statement, journal, origin, v) for v in question.several]
        return await _each(connection, sql, several)
    asked = parameters(statement, journal, origin, question.values)
    some = chunks(connection, "portions", sql, asked, question.size)
    async with aclosing(some):
        async for rows in some:
            await off_the_loop(_size(rows), partial(question.take, rows))
    return None


async def _each(
    connection: Connection, statement: str, several: Sequence[Sequence[object]]
) -> list[Any]:
    found: list[Any] = []
    if several:
        async with connection.cursor(binary=True) as cursor:
            await cursor.executemany(statement.encode(), several, returning=True)
            async for result in cursor.results():
                found += await result.fetchall() if result.description else []
    return found


def parameters(statement: Statement, journal: int, origin: str | None, values: Values) -> list[Any]:
    """Integers of one size: else each size would be a plan of its own."""
    values["journal"], values["origin"] = journal, origin
    return [
        Int8(value) if value.__class__ is int else value for value in statement.of_postgres(values)
    ]


def _size(rows: Sequence[Any]) -> int:
    return sum(len(row[-1]) for row in rows if row[-1].__class__ is bytes)


async def chunks(
    connection: Connection,
    name: str,
    statement: str,
    values: Sequence[object],
    size: int = ROWS_AT_ONCE,
) -> AsyncGenerator[list[Any], None]:
    """The rows of a SELECT, a few at a time, inside a transaction."""
    async with connection.cursor("memoranda_" + name) as cursor:
        await cursor.execute(statement.encode(), values, binary=True)
        while rows := await cursor.fetchmany(size):
            yield rows


class PostgresRows:
    """One journal of a database (`JournalRows`)."""

    def __init__(self, calls: Pool, journal: int, origin: str, bodies: BodyCodec) -> None:
        self._calls = calls
        self._journal = journal
        self._origin = origin
        self.database = calls.database
        self.bodies = bodies
        self.compared = compared(bodies)
        self._begin_reading = BEGIN_READING.format(journal, origin).as_bytes()
        self._begin_writing = _BEGIN_WRITING.format(journal, origin).as_bytes()

    async def rows(
        self, make: Callable[[Any], R], statement: Statement, /, **values: Any
    ) -> list[R]:
        asked = parameters(statement, self._journal, self._origin, values)
        rows = await self._calls.call(statement.postgres, asked)
        return await off_the_loop(_size(rows), lambda: [make(row) for row in rows])

    async def read(self, procedure: Callable[[], Procedure[R]]) -> R:
        async with self._calls.transaction(self._begin_reading) as connection:
            return await run(connection, self._journal, procedure())

    glimpse = read

    async def write(self, procedure: Callable[[], Procedure[R]]) -> R:
        async with self._calls.transaction(self._begin_writing, writes=True) as connection:
            return await run(connection, self._journal, procedure())

    async def change(self, procedure: Callable[[], Procedure[R]]) -> R:
        async with self._calls.connection(writes=True) as connection:
            return await run(connection, self._journal, procedure(), self._origin)


def compared(bodies: BodyCodec) -> Compared:
    """What makes the rows of this database into values."""
    return Compared(bodies, digest_in, ENTRY.unpack)
