"""A SQLite database: its schema, its writer and its readers."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

import apsw

from recollect.kernel.errors import ForeignDatabase, StoreReadOnly
from recollect.stores.migrations import known_migrations, pending
from recollect.stores.sqlite.connection import (
    APPLICATION_ID,
    MEMORY,
    check_place,
    connect,
    plain_errors,
)
from recollect.stores.sqlite.reader import Reader
from recollect.stores.sqlite.records import SqliteTable
from recollect.stores.sqlite.writer import Writer

R = TypeVar("R")

MIGRATIONS: Final = "recollect.stores.sqlite.migrations"
_HISTORY: Final = """
CREATE TABLE IF NOT EXISTS migrations (
  number     INTEGER NOT NULL PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT
"""


class SqliteDatabase:
    """One file, or one database in memory, opened for this process."""

    def __init__(self, path: str, writer: Writer, reader: Reader | None) -> None:
        self.path = path
        self._writer = writer
        self._reader = reader

    @classmethod
    async def open(cls, path: str, now: int) -> "SqliteDatabase":
        """Open a file, making or migrating its schema; nothing is left behind if that fails."""
        return await asyncio.to_thread(cls._open, path, now)

    @classmethod
    def _open(cls, path: str, now: int) -> "SqliteDatabase":
        if path != MEMORY:
            check_place(path)
        with plain_errors(path):
            connection = connect(path)
            try:
                _check_identity(connection, path)
                _migrate(connection, path, now)
            except BaseException:
                connection.close()
                raise
            if path == MEMORY:
                return cls(path, Writer(lambda: connection, path), None)
            connection.close()
            again = partial(connect, path)
            return cls(path, Writer(again, path), Reader(again, path))

    async def write(self, work: Callable[[apsw.Connection], R]) -> R:
        """Run one unit of work in a transaction."""
        return await self._writer.run(work)

    async def read(self, read: Callable[[apsw.Connection], R]) -> R:
        """Run one read; in memory there is one connection, so it takes its turn."""
        return await (self._writer if self._reader is None else self._reader).run(read)

    @property
    def reader(self) -> Reader | None:
        """The readers; None in memory."""
        return self._reader

    async def records(self, scope: str, now: int) -> SqliteTable:
        """The records of one scope, which is noted when it is first opened."""
        known = "SELECT 1 FROM scopes WHERE scope = ?"
        if not await self.read(lambda c: c.execute(known, (scope,)).fetchone()):
            note = "INSERT INTO scopes (scope, opened_at) VALUES (?, ?) ON CONFLICT DO NOTHING"
            await self.write(lambda c: c.execute(note, (scope, now)).fetchall())
        return SqliteTable(self, scope)

    async def scopes(self) -> list[str]:
        """Every scope that was ever opened here."""
        rows = await self.read(lambda c: c.execute("SELECT scope FROM scopes").fetchall())
        return sorted(str(scope) for (scope,) in rows)

    async def close(self) -> None:
        """Finish what is under way, then let go of the file."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        self._writer.close()
        if self._reader is not None:
            self._reader.close()


def _check_identity(connection: apsw.Connection, path: str) -> None:
    """Refuse what is not ours before anything is written to it."""
    application_id = connection.pragma("application_id")
    tables = connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    if application_id != APPLICATION_ID and (application_id or tables):
        raise ForeignDatabase(path, "it holds the tables of another program")
    if connection.readonly("main"):
        raise StoreReadOnly(path, "the file is read-only; check its rights")


def _migrate(connection: apsw.Connection, path: str, now: int) -> None:
    """Bring the schema up to date in one transaction; several processes may try at once."""
    if not pending(known_migrations(MIGRATIONS), _applied(connection), path):
        return
    if path != MEMORY:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(_HISTORY)
        for migration in pending(known_migrations(MIGRATIONS), _applied(connection), path):
            connection.execute(migration.sql)
            connection.execute(
                "INSERT INTO migrations (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
                (migration.number, migration.name, migration.checksum, now),
            )
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _applied(connection: apsw.Connection) -> list[tuple[int, str]]:
    has_history = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'"
    if not connection.execute(has_history).fetchone():
        return []
    rows: list[Any] = connection.execute(
        "SELECT number, checksum FROM migrations ORDER BY number"
    ).fetchall()
    return rows
