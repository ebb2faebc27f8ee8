"""Opening a SQLite file, and what its errors mean."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import apsw

from recollect.kernel.errors import (
    ForeignDatabase,
    RecollectError,
    StoreFailed,
    StoreReadOnly,
    StoreUnavailable,
)

MEMORY: Final = ":memory:"
BUSY_MS: Final = 5_000
APPLICATION_ID: Final = 0x7265_636F  # 'reco'

# FULL, because NORMAL loses acknowledged writes when the power goes.
_SETTINGS: Final = (
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA secure_delete = ON",
)


def connect(path: str, *, busy_ms: int | None = None) -> apsw.Connection:
    """A connection with our settings. Nothing is written to the file."""
    connection = apsw.Connection(
        path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE, statementcachesize=256
    )
    connection.set_busy_timeout(BUSY_MS if busy_ms is None else busy_ms)
    try:
        for setting in _SETTINGS:
            connection.execute(setting)
    except BaseException:
        let_go(connection)
        raise
    return connection


def let_go(connection: apsw.Connection) -> None:
    """Close a connection in which nothing is open, so that nothing can be lost by it."""
    with suppress(apsw.Error):
        connection.close(True)


def check_place(path: str, *, create: bool) -> None:
    """Refuse a path that SQLite could only fail on, in words that say what to do."""
    place = Path(path)
    if place.is_dir():
        raise StoreUnavailable(path, "it is a folder; name a file in it")
    if not place.parent.is_dir():
        raise StoreUnavailable(path, f"the folder {place.parent} does not exist; make it first")
    if not create and not place.exists():
        raise StoreUnavailable(path, "there is no such file; name another")


@contextmanager
def plain_errors(database: str) -> Iterator[None]:
    """Whatever SQLite raises inside becomes an error of ours, with what to do about it."""
    try:
        yield
    except apsw.Error as error:
        raise explained(error, database) from error
    except UnicodeDecodeError as error:  # SQLite itself lets any bytes pass for a text
        why = "the file is damaged (a text in it is not UTF-8); restore a backup"
        raise StoreFailed(database, why) from error


def explained(error: apsw.Error, database: str) -> RecollectError:
    """The error of ours for an error of SQLite's."""
    match error:
        case apsw.BusyError() | apsw.LockedError():
            why = f"another process has been writing it for more than {BUSY_MS} ms; retry"
            return StoreUnavailable(database, why)
        case apsw.NotADBError():
            return ForeignDatabase(database, "it is not a SQLite file")
        case apsw.ReadOnlyError():
            return StoreReadOnly(
                database, "the file, or its folder, is read-only; check its rights"
            )
        case apsw.CantOpenError():
            return StoreUnavailable(database, "it can't be opened; check its rights and its folder")
        case apsw.PermissionsError() | apsw.AuthError():
            return StoreUnavailable(database, "access is denied; check its rights")
        case apsw.FullError():
            return StoreFailed(database, "the disk is full; make room")
        case apsw.CorruptError():
            return StoreFailed(database, f"the file is damaged ({error}); restore a backup")
        case _:
            return StoreFailed(database, str(error))
