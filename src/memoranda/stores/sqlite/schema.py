"""The schema of a SQLite file: whose it is, and how it is brought up to date."""

from collections.abc import Sequence
from typing import Any, Final

import apsw

from memoranda.kernel.errors import ForeignDatabase, StoreReadOnly, StoreUnavailable
from memoranda.stores.migrations import Migration, known_migrations, pending
from memoranda.stores.sqlite.connection import APPLICATION_ID

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
