"""What a witness remembers, in a SQLite file of its own: of each log the newest that it cosigned.

A row is looked at, judged and replaced in one transaction that nobody else can write in, so that
two requests at once can't both extend the same checkpoint. When it ends, it is on the disk.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import apsw

from memoranda.kernel.errors import ForeignDatabase, StoreClosed
from memoranda.ledger.witness import Cosigned
from memoranda.stores.sqlite.connection import (
    check_place,
    connect,
    let_go,
    make_private,
    plain_errors,
)

_APPLICATION_ID: Final = 0x6D65_6D77  # 'memw'

# The triggers are a second wall: whatever a program does wrong, no size goes back and no root
# changes. Whoever may write the file can take them away.
_SCHEMA: Final = """
CREATE TABLE cosigned (
  origin TEXT    NOT NULL PRIMARY KEY,
  size   INTEGER NOT NULL,
  root   BLOB    NOT NULL,
  note   TEXT    NOT NULL
) STRICT;
CREATE TRIGGER cosigned_only_grows BEFORE UPDATE ON cosigned
WHEN NEW.origin <> OLD.origin OR NEW.size <= OLD.size
BEGIN SELECT RAISE(ABORT, 'what was cosigned only grows'); END;
CREATE TRIGGER cosigned_stays BEFORE DELETE ON cosigned
BEGIN SELECT RAISE(ABORT, 'what was cosigned is never forgotten'); END;
"""
_READ: Final = "SELECT size, root, note FROM cosigned WHERE origin = ?"
_WRITE: Final = """
INSERT INTO cosigned (origin, size, root, note) VALUES (?, ?, ?, ?)
ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root, note = excluded.note
"""


class WitnessedFile:
    """The memory of one witness; several processes may share it."""

    def __init__(self, path: str | Path) -> None:
        """Open the file, or make it; ForeignDatabase where another program's tables are in it."""
        self.path = str(path)
        self._turn = threading.Lock()
        self._connection: apsw.Connection | None = None
        check_place(self.path, create=True)
        with plain_errors(self.path):
            make_private(self.path)
            connection = connect(self.path)
            try:
                self._prepare(connection)
            except BaseException:
                let_go(connection)
                raise
        self._connection = connection

    async def newest(self, origin: str) -> Cosigned | None:
        """The newest checkpoint of a log that was cosigned; None where there is none."""
        return await asyncio.to_thread(self._newest, origin)

    async def advance(
        self, origin: str, new: Cosigned, judge: Callable[[Cosigned | None], None]
    ) -> None:
        """Remember a checkpoint if `judge` agrees, who is shown what is known and may raise.

        When it returns, it is on the disk. One of the size that is known changes nothing.
        """
        await asyncio.to_thread(self._advance, origin, new, judge)

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            connection, self._connection = self._connection, None
            if connection is not None:
                let_go(connection)

    def _prepare(self, connection: apsw.Connection) -> None:
        self._check_identity(connection)
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        with _writing(connection):
            if self._check_identity(connection):
                connection.pragma("application_id", _APPLICATION_ID)
                connection.execute(_SCHEMA).fetchall()

    def _check_identity(self, connection: apsw.Connection) -> bool:
        """Whether the file is new; ForeignDatabase if it is another program's."""
        found = connection.pragma("application_id")
        tables = connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
        if found != _APPLICATION_ID and (found or tables):
            raise ForeignDatabase(self.path, "it is not the memory of a witness")
        return not tables

    def _newest(self, origin: str) -> Cosigned | None:
        with self._opened() as connection:
            return _read(connection, origin)

    def _advance(
        self, origin: str, new: Cosigned, judge: Callable[[Cosigned | None], None]
    ) -> None:
        with self._opened() as connection, _writing(connection):
            known = _read(connection, origin)
            judge(known)
            if known is None or known.size != new.size:
                connection.execute(_WRITE, (origin, new.size, new.root, new.note))

    @contextmanager
    def _opened(self) -> Iterator[apsw.Connection]:
        with self._turn, plain_errors(self.path):
            if self._connection is None:
                raise StoreClosed
            yield self._connection


@contextmanager
def _writing(connection: apsw.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _read(connection: apsw.Connection, origin: str) -> Cosigned | None:
    row: Any = connection.execute(_READ, (origin,)).fetchone()
    return None if row is None else Cosigned(*row)
