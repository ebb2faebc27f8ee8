"""The schema of a SQLite file: whose it is, and how it is brought up to date."""

from collections.abc import Sequence
from typing import Any, Final

import apsw

from recollect.kernel.errors import ForeignDatabase, StoreReadOnly, StoreUnavailable
from recollect.stores.migrations import Migration, known_migrations, pending
from recollect.stores.sqlite.connection import APPLICATION_ID, MEMORY

MIGRATIONS: Final = known_migrations("recollect.stores.sqlite.migrations")

_HISTORY: Final = """
CREATE TABLE IF NOT EXISTS migrations (
  number     INTEGER NOT NULL PRIMARY KEY,
  name       TEXT    NOT NULL,
  checksum   TEXT    NOT NULL,
  applied_at INTEGER NOT NULL
) STRICT
"""


def check_identity(connection: apsw.Connection, path: str) -> None:
    """Refuse what is not ours before anything is written to it."""
    application_id = connection.pragma("application_id")
    tables = connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    if application_id != APPLICATION_ID and (application_id or tables):
        raise ForeignDatabase(path, "it holds the tables of another program")
    if connection.readonly("main"):
        raise StoreReadOnly(path, "the file is read-only; check its rights")


def migrate(
    connection: apsw.Connection,
    path: str,
    now: int,
    *,
    create: bool = True,
    known: Sequence[Migration] = MIGRATIONS,
) -> None:
    """Bring the schema up to date in one transaction; several processes may try at once.

    Without `create`, a file that has no schema of ours yet is refused.
    """
    applied = _applied(connection)
    if not applied and not create:
        raise StoreUnavailable(path, "there is no recollect schema in it; name another")
    if not pending(known, applied, path):
        return
    if path != MEMORY:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(_HISTORY)
        for migration in pending(known, _applied(connection), path):
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


def _applied(connection: apsw.Connection) -> list[tuple[int, str]]:
    has_history = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'"
    if not connection.execute(has_history).fetchone():
        return []
    rows: list[Any] = connection.execute(
        "SELECT number, checksum FROM migrations ORDER BY number"
    ).fetchall()
    return rows
