"""Opening a SQLite file, to write it or only to read it, and what its errors mean."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

import apsw

from memoranda.kernel.errors import (
    ForeignDatabase,
    MemorandaError,
    SchemaTooOld,
    StoreFailed,
    StoreReadOnly,
    StoreUnavailable,
)

BUSY_MS: Final = 5_000
LOG_BYTES: Final = 16 * 2**20
"""How long the write-ahead log may stay: a reader that took its time leaves it longer."""

APPLICATION_ID: Final = 0x6D65_6D6F  # 'memo'
_MODE: Final = 0o600
_LACKING: Final = ("no such table", "no such column")

# FULL, because NORMAL loses acknowledged writes when the power goes.
_SETTINGS: Final = (
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA secure_delete = ON",
    f"PRAGMA journal_size_limit = {LOG_BYTES}",
)


def connect(path: str, *, busy_ms: int | None = None, is_private: bool = False) -> apsw.Connection:
    """A connection with our settings. Nothing is written to the file."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    connection = apsw.Connection(path, flags=flags, statementcachesize=256)
    # Nobody finds a private file after a crash, so nothing in it has to outlive one.
    last = ("PRAGMA synchronous = OFF",) if is_private else ()
    return _with_settings(connection, busy_ms, last=last)


def connect_to_read(path: str, *, busy_ms: int | None = None) -> apsw.Connection:
    """A connection that changes nothing, wherever the file lies.

    1. where we could write, SQLite makes a -shm for as long as somebody reads, and removes it
       after the last one; a -wal that was left with something in it is read, and left as it is
    2. where we can't, but a -shm is there: a writer may be at work, and its -wal is read
    3. where we can't and there is no -shm, nobody is at work: a -wal is read without locks, and
       without one the file is taken as it is. Whoever does have the right to write it, say as
       another user, must not begin to while it is being read
    """
    wal = Path(f"{path}-wal")
    has_wal = wal.exists() and wal.stat().st_size > 0
    if _may_write(path) and _may_write(Path(path).parent):
        # 1. SQLite's own way to open read-only would leave a -wal and a -shm behind.
        connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=256)
        connection.execute("PRAGMA query_only = ON")
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(has_wal))
        return _with_settings(connection, busy_ms)
    options, first = "mode=ro", list[str]()
    if has_wal and not Path(f"{path}-shm").exists():  # 3
        options, first = "mode=ro&vfs=unix-none", ["PRAGMA locking_mode = EXCLUSIVE"]
    elif not has_wal:  # 3
        options = "mode=ro&immutable=1"
    connection = apsw.Connection(
        f"file:{quote(path)}?{options}",
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
        statementcachesize=256,
    )
    return _with_settings(connection, busy_ms, first)


def _with_settings(
    connection: apsw.Connection,
    busy_ms: int | None,
    first: Sequence[str] = (),
    last: Sequence[str] = (),
) -> apsw.Connection:
    connection.set_busy_timeout(BUSY_MS if busy_ms is None else busy_ms)
    try:
        for setting in (*first, *_SETTINGS, *last):
            connection.execute(setting)
    except BaseException:
        let_go(connection)
        raise
    return connection


def _may_write(place: str | Path) -> bool:
    return os.access(place, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def make_private(path: str) -> None:
    """Make a new file that only its owner can read, whatever the umask says.

    SQLite gives the files beside it, -wal and -shm, the same rights. A file that is there keeps
    the rights that it has.
    """
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _MODE)
    except FileExistsError:
        return
    try:
        os.fchmod(descriptor, _MODE)
    finally:
        os.close(descriptor)


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


def explained(error: apsw.Error, database: str) -> MemorandaError:
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
        case apsw.SQLError() if str(error).startswith(_LACKING):
            return SchemaTooOld(database, str(error))
        case apsw.CorruptError():
            return StoreFailed(database, f"the file is damaged ({error}); restore a backup")
        case _:
            return StoreFailed(database, str(error))
