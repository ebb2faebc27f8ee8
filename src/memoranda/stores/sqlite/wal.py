"""The write-ahead log of a SQLite file: how it is written back without anybody waiting for it.

SQLite would write the log back inside of whichever commit makes it long: 10 to 30 ms, for which
everybody waits. So another thread does it, beside the writer, as far as the log goes by then. What
was written meanwhile is little, and the writer itself does that after one of its commits. Then the
log is used from its beginning again, and does not grow.
"""

import logging
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

import apsw

from memoranda.stores.sqlite.connection import LOG_BYTES, let_go

PAGES: Final = 1_000
"""How many pages the log has when it is written back; as SQLite itself has it."""

_WRITE_BACK: Final = "PRAGMA wal_checkpoint(PASSIVE)"

log = logging.getLogger("memoranda.sqlite")


class WriteAheadLog:
    """The log of one file, for the thread that writes it."""

    def __init__(self, path: str, connect: Callable[[], apsw.Connection]) -> None:
        self._path = f"{path}-wal"
        self._connect = connect
        self._connection: apsw.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "memoranda-log")
        self._writing: Future[None] | None = None
        self._pages = 0
        self._until = PAGES
        self.is_due = False
        """Whether it is so long after a commit that it is to be written back."""

    def watch(self, connection: apsw.Connection) -> None:
        """Learn of each commit how long the log is after it."""
        connection.set_wal_hook(self._grown)

    def tend(self, connection: apsw.Connection) -> None:
        """Begin to write the log back, or finish that."""
        if self._writing is None:
            self._writing = self._thread.submit(self._write_back)
        elif self._writing.done():
            self._writing = None
            connection.execute(_WRITE_BACK).fetchall()
            # Somebody who reads an old state keeps it long: then it is tried again when it has
            # grown as much once more.
            self._until = self._pages + PAGES
            self.is_due = False

    @property
    def is_long(self) -> bool:
        """Whether it was left longer than it should stay."""
        try:
            return os.stat(self._path).st_size > LOG_BYTES  # noqa: PTH116 - a Path costs three times as much, at each write
        except FileNotFoundError:
            return False

    def shorten(self, connection: apsw.Connection) -> None:
        """Write it back and cut it, unless somebody reads or writes: then it is left as it is."""
        ((waits_ms,),) = connection.execute("PRAGMA busy_timeout").fetchall()
        connection.set_busy_timeout(0)
        try:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        finally:
            connection.set_busy_timeout(int(str(waits_ms)))

    def close(self) -> None:
        """End the thread, and its connection."""
        self._thread.shutdown()
        if self._connection is not None:
            let_go(self._connection)

    def _grown(self, _connection: apsw.Connection, _database: str, pages: int) -> int:
        if pages < self._pages:  # it is used from its beginning
            self._until = PAGES
        self._pages = pages
        self.is_due = pages >= self._until
        return apsw.SQLITE_OK

    def _write_back(self) -> None:
        try:
            if self._connection is None:
                self._connection = self._connect()
            self._connection.execute(_WRITE_BACK).fetchall()
        except apsw.Error as failed:
            log.warning("could not write back %s: %s", self._path, failed)
