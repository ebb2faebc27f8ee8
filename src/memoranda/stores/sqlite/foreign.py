"""Reading the tables of somebody else's SQLite file: nothing is written."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import apsw

from memoranda.kernel.errors import StoreUnavailable
from memoranda.stores.sqlite.connection import connect_to_read, let_go

MAGIC: Final = b"SQLite format 3\x00"


def is_sqlite(path: str | Path) -> bool:
    """Whether a file begins as SQLite's do."""
    with Path(path).open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def foreign_tables(path: str) -> set[str]:
    """The names of its tables."""
    rows = foreign_rows(path, "SELECT name FROM sqlite_master WHERE type = 'table'")
    return {str(row["name"]) for row in rows}


def foreign_rows(path: str, query: str) -> list[Mapping[str, Any]]:
    """What a query of ours finds in it, by the names of columns."""
    connection = connect_to_read(path)
    try:
        cursor = connection.cursor()
        rows: list[Mapping[str, Any]] = []
        for row in cursor.execute(query):
            names = (column[0] for column in cursor.get_description())
            rows.append(dict(zip(names, row, strict=True)))
    except apsw.Error as failed:
        raise StoreUnavailable(path, f"it can't be read: {failed}") from failed
    finally:
        let_go(connection)
    return rows
