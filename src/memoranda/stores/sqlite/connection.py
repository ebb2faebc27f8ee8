"""Opening a SQLite file, to write it or only to read it, and what its errors mean."""

import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final, TypeVar
from urllib.parse import quote
from weakref import finalize

import apsw
import orjson

from memoranda.kernel.errors import (
    ForeignDatabase,
    MemorandaError,
    SchemaTooOld,
    StoreFailed,
    StoreReadOnly,
    StoreUnavailable,
)
from memoranda.stores.migrations import Migration, known_migrations, pending

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
    connection.convert_binding = _list_as_json
    try:
        for setting in (*first, *_SETTINGS, *last):
            connection.execute(setting)
    except BaseException:
        let_go(connection)
        raise
    return connection


def _list_as_json(_cursor: object, _number: int, value: Any) -> str:
    """A parameter that SQLite has no type for: a list is JSON."""
    return orjson.dumps(value).decode()  # noqa: TID251 - a parameter


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
        if hasattr(os, "fchmod"):  # Windows has rights of its own
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


# ------------------------------------------------------------------------------------------------
# What ``sqlite://:memory:`` opens: a file that nobody else finds, gone when it is closed.
#
# A database in SQLite's own memory has one connection, so reads wait behind writes, and no snapshot
# can be taken beside them. A file has all that any other file has.

MEMORY: Final = ":memory:"
"""What stands in a URL where other databases have their path."""

NAME: Final = "sqlite://:memory:"
"""What messages call such a database: its path would say nothing to whoever opened it."""

log = logging.getLogger("memoranda.sqlite")


class PrivateFile:
    """A file in a folder of its own, which only its owner can enter.

    The folder goes with `remove`, and at the latest when the process ends. A process that is
    killed leaves it behind.
    """

    def __init__(self) -> None:
        # In the system's folder for temporary files and not in /dev/shm: a container gives that
        # one 64 MB, and fills up. Nothing waits for the disk here (`connect`), so that a file that
        # lives briefly hardly reaches it. Whoever wants it in memory for certain sets TMPDIR.
        try:
            folder = mkdtemp(prefix="memoranda-")
        except OSError as failed:
            why = f"no temporary folder can be made ({failed.strerror}); check TMPDIR"
            raise StoreUnavailable(NAME, why) from failed
        self.path: Final = str(Path(folder, "memory.db"))
        self.remove: Final = finalize(self, _remove, folder, os.getpid())


def _remove(folder: str, owner: int) -> None:
    if os.getpid() != owner:
        return  # a forked process ends; whoever made the folder still uses it
    try:
        with suppress(FileNotFoundError):  # it may have been cleaned up from outside
            shutil.rmtree(folder)
    except OSError as failed:
        log.warning("could not remove %s: %s", folder, failed)


# ------------------------------------------------------------------------------------------------
# The schema of a SQLite file: whose it is, and how it is brought up to date.

MIGRATIONS: Final = known_migrations("memoranda.stores.sqlite.migrations")

_HISTORY: Final = """
CREATE TABLE IF NOT EXISTS migrations (
  number     INTEGER NOT NULL PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT
"""


def check_identity(connection: apsw.Connection, path: str, *, to_read: bool = False) -> None:
    """Refuse what is not ours before anything is written to it."""
    application_id = connection.pragma("application_id")
    tables = connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    if application_id != APPLICATION_ID and (application_id or tables):
        raise ForeignDatabase(path, "it holds the tables of another program")
    if not to_read and connection.readonly("main"):
        raise StoreReadOnly(path, "the file is read-only; check its rights")


def due(
    connection: apsw.Connection,
    path: str,
    *,
    create: bool,
    known: Sequence[Migration] | None = None,
) -> Sequence[Migration] | None:
    """What is to be applied to a file of ours; None if it has no schema yet. Nothing is written.

    Refuses a file that a newer memoranda has written, one whose history is not ours, and without
    `create` one that has no schema.
    """
    applied = _applied(connection)
    if applied:
        return pending(MIGRATIONS if known is None else known, applied, path)
    if not create:
        raise StoreUnavailable(path, "there is no memoranda schema in it; name another")
    return None


def migrate(
    connection: apsw.Connection, path: str, now: int, *, known: Sequence[Migration] | None = None
) -> Sequence[Migration]:
    """Bring the schema up to date in one transaction; several processes may try at once.

    Returns what was applied here: nothing, if another was faster.
    """
    known = MIGRATIONS if known is None else known
    if not pending(known, _applied(connection), path):
        return ()
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(_HISTORY)
        left = pending(known, _applied(connection), path)
        for migration in left:
            connection.execute(migration.sql).fetchall()
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
    return left


def _applied(connection: apsw.Connection) -> list[tuple[int, str]]:
    has_history = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'"
    if not connection.execute(has_history).fetchone():
        return []
    rows: list[Any] = connection.execute(
        "SELECT number, checksum FROM migrations ORDER BY number"
    ).fetchall()
    return rows


# ------------------------------------------------------------------------------------------------
# Where an entry is stored: one number for its journal and its sequence number.

SEQ_BITS: Final = 40
"""How many bits of a place are the sequence number; above them is the journal's."""


SEQ: Final = (1 << SEQ_BITS) - 1
"""The bits of a place that are the sequence number."""


def place(journal: int, seq: int) -> int:
    return journal << SEQ_BITS | seq


# ------------------------------------------------------------------------------------------------
# New rows in few statements.
#
# Each statement gives other threads a turn, and waiting to have one's own back costs more than an
# insert. So the units that share a commit share their statements too, and a batch of a thousand
# rows takes some fifty of them.

V = TypeVar("V")

_BLOCKS: Final = (64, 8, 2, 1)
"""Rows to a statement: as many of the largest as fit, then of the next."""


class Inserts:
    """An INSERT of any number of rows into one table."""

    def __init__(self, table: str, *columns: str) -> None:
        row = f"({', '.join('?' * len(columns))})"
        into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES "  # noqa: S608 - both are ours
        self._statements = {size: into + ", ".join([row] * size) for size in _BLOCKS}
        self.one: Final = self._statements[1]
        """The statement for a single row."""

    def run(self, connection: apsw.Connection, rows: Sequence[tuple[object, ...]]) -> None:
        """Insert the rows; ConstraintError if a key is in use, and some of them may be in then."""
        start, left = 0, len(rows)
        for size in _BLOCKS:
            while left >= size:
                block = rows[start : start + size]
                connection.execute(self._statements[size], tuple(chain.from_iterable(block)))
                start, left = start + size, left - size
