"""The tables as an attacker sees them: a small port, so that both databases get the same classes.

Whoever has the file, or owns the tables, reads and writes rows as they please: no rule of ours is
asked, and what guards against accidents is put out of the way first.
"""
# ruff: noqa: S608 - the names of tables and columns are those of this file

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Protocol, Self

import apsw
import psycopg

from memoranda.stores.shorthand import BODY, ENTRY, packed, unpacked
from memoranda.stores.sqlite.connection import SEQ_BITS, place

Row = dict[str, Any]

TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    "journals": (
        "number", "scope", "origin", "opened_at", "size", "head", "head_at", "indexed", "tokenizer",
        "documents", "length",
    ),
    "entries": ("journal", "seq", "entry"),
    "bodies": ("journal", "seq", "salt", "body"),
    "nodes": ("journal", "level", "number", "hash"),
    "checkpoints": ("journal", "size", "note", "at"),
    "versions": (
        "journal", "id", "number", "seq", "since", "is_newest", "status", "created_at",
        "updated_at", "valid_from", "valid_to", "expires_at", "subject",
    ),
    "tags": ("journal", "tag", "created_at", "since", "id"),
    "marks": ("journal", "name", "seq"),
    "derivations": ("journal", "input", "output"),
    "segments": ("journal", "number", "first", "until", "level"),
    "postings": ("journal", "segment", "token", "first", "body"),
    "documents": ("journal", "block", "body"),
    "threads": ("journal", "thread", "seq"),
    "retries": ("journal", "fingerprint", "nonce", "about", "seq", "entries", "at"),
}  # fmt: skip
"""Every table and its columns, as both databases have them in essence."""

OF_A_JOURNAL: Final = tuple(name for name in TABLES if name != "journals")


class Tables(Protocol):
    """All rows of a database, for whoever owns it. One transaction: it lands on leaving."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def rows(self, table: str, **where: Any) -> list[Row]:
        """The rows of a table for which these columns have these values, in order."""
        ...

    def add(self, table: str, **row: Any) -> None:
        """Add a row."""
        ...

    def change(self, table: str, where: Row, **values: Any) -> None:
        """Change columns of the rows for which others have these values."""
        ...

    def remove(self, table: str, **where: Any) -> None:
        """Delete rows."""
        ...


# ------------------------------------------------------------------------------- SQLite


_PLACED: Final = frozenset({"entries", "bodies"})
_SEQ: Final = (1 << SEQ_BITS) - 1
_PASSAGES: Final = {"entry": ENTRY, "body": BODY}


class SqliteTables:
    """The tables of a SQLite file, by whoever can write the file."""

    def __init__(self, path: str) -> None:
        self._connection = apsw.Connection(path)

    def __enter__(self) -> Self:
        run = self._connection.execute
        run("PRAGMA synchronous = OFF")
        run("BEGIN IMMEDIATE")
        triggers: list[Any] = run(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            run(f"DROP TRIGGER {name}")
        self._triggers = [str(sql) for _, sql in triggers]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if raised is None:
                for trigger in self._triggers:  # nobody is to see that they were gone
                    self._connection.execute(trigger)
                self._connection.execute("COMMIT")
        finally:
            self._connection.close()

    def rows(self, table: str, **where: Any) -> list[Row]:
        """The rows of a table for which these columns have these values, in order."""
        condition, values = self._where(table, where)
        stored = _stored_columns(table)
        sql = f"SELECT {', '.join(stored)} FROM {table} WHERE {condition} ORDER BY 1, 2, 3"
        if len(stored) < 3:
            sql = sql.removesuffix(", 3") if len(stored) == 2 else sql.removesuffix(", 2, 3")
        found = self._connection.execute(sql, values)
        return [_read(table, dict(zip(stored, row, strict=True))) for row in found]

    def add(self, table: str, **row: Any) -> None:
        """Add a row."""
        stored = _written(table, row)
        marks = ", ".join("?" * len(stored))
        sql = f"INSERT INTO {table} ({', '.join(stored)}) VALUES ({marks})"
        self._connection.execute(sql, tuple(stored.values()))

    def change(self, table: str, where: Row, **values: Any) -> None:
        """Change columns of the rows for which others have these values."""
        condition, asked = self._where(table, where)
        if table in _PLACED and {"journal", "seq"} & values.keys():
            values = {"journal": where["journal"], "seq": where.get("seq"), **values}
        stored = _written(table, values)
        sets = ", ".join(f"{name} = ?" for name in stored)
        self._connection.execute(
            f"UPDATE {table} SET {sets} WHERE {condition}", (*stored.values(), *asked)
        )

    def remove(self, table: str, **where: Any) -> None:
        """Delete rows."""
        condition, values = self._where(table, where)
        self._connection.execute(f"DELETE FROM {table} WHERE {condition}", values)

    @staticmethod
    def _where(table: str, where: Row) -> tuple[str, tuple[Any, ...]]:
        if table in _PLACED:
            journal, seq = where["journal"], where.get("seq")
            if seq is not None:
                return "place = ?", (place(journal, seq),)
            return "place >= ? AND place < ?", (place(journal, 0), place(journal + 1, 0))
        if not where:
            return "TRUE", ()
        return " AND ".join(f"{name} IS ?" for name in where), tuple(where.values())


def _stored_columns(table: str) -> tuple[str, ...]:
    columns = TABLES[table]
    return ("place", *columns[2:]) if table in _PLACED else columns


def _is_short(table: str, column: str) -> bool:
    return table in _PLACED and column in _PASSAGES


def _read(table: str, row: Row) -> Row:
    where = row.pop("place", None)
    if where is not None:
        row = {"journal": where >> SEQ_BITS, "seq": where & _SEQ, **row}
    if table == "versions":
        row["is_newest"] = bool(row["is_newest"])
    return {
        name: unpacked(value, _PASSAGES[name]) if _is_short(table, name) else value
        for name, value in row.items()
    }


def _written(table: str, row: Row) -> Row:
    stored: Row = {
        name: packed(value, _PASSAGES[name]) if _is_short(table, name) else value
        for name, value in row.items()
    }
    if table in _PLACED and "seq" in stored:
        stored = {"place": place(stored.pop("journal"), stored.pop("seq")), **stored}
    return {
        name: int(value) if isinstance(value, bool) else value for name, value in stored.items()
    }


# --------------------------------------------------------------------------- PostgreSQL


class PostgresTables:
    """The tables of a PostgreSQL database, by their owner: triggers and walls don't hold them."""

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url)

    def __enter__(self) -> Self:
        self._connection.execute("SET LOCAL session_replication_role = replica")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        raised: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if raised is None:
                self._connection.commit()
        finally:
            self._connection.close()

    def rows(self, table: str, **where: Any) -> list[Row]:
        """The rows of a table for which these columns have these values, in order."""
        columns = TABLES[table]
        shown = [_pg_column(table, name) for name in columns]
        condition, values = _pg_where(table, where)
        order = ", ".join(str(number + 1) for number in range(min(3, len(columns))))
        sql = (
            f"SELECT {', '.join(shown)} FROM {_pg_table(table)} WHERE {condition} ORDER BY {order}"
        )
        found = self._connection.execute(sql.encode(), values).fetchall()
        return [_pg_read(table, dict(zip(columns, row, strict=True))) for row in found]

    def add(self, table: str, **row: Any) -> None:
        """Add a row."""
        if table == "bodies":
            where = {"journal": row.pop("journal"), "seq": row.pop("seq")}
            self.change("entries", where, **row)
            return
        names, marks, values = [], [], []
        for name, value in row.items():
            if _is_tag(table, name):
                names += ["tag", "whole"]
                marks += ["memoranda.tag_key(%s)", "nullif(%s, memoranda.tag_key(%s))"]
                values += [value, value, value]
            else:
                names.append(_pg_column(table, name))
                marks.append("%s")
                values.append(value)
        sql = f"INSERT INTO memoranda.{table} ({', '.join(names)}) VALUES ({', '.join(marks)})"
        self._connection.execute(sql.encode(), values)

    def change(self, table: str, where: Row, **values: Any) -> None:
        """Change columns of the rows for which others have these values."""
        condition, asked = _pg_where(table, where)
        sets, given = [], []
        for name, value in _pg_written(table, values).items():
            if _is_tag(table, name):
                sets += ["tag = memoranda.tag_key(%s)", "whole = nullif(%s, memoranda.tag_key(%s))"]
                given += [value, value, value]
            else:
                sets.append(f"{_pg_column(table, name)} = %s")
                given.append(value)
        sql = f"UPDATE {_pg_table(table)} SET {', '.join(sets)} WHERE {condition}"
        self._connection.execute(sql.encode(), (*given, *asked))

    def remove(self, table: str, **where: Any) -> None:
        """Delete rows."""
        if table == "bodies":
            self.change(table, where, salt=None, body=None)
            return
        condition, values = _pg_where(table, where)
        self._connection.execute(
            f"DELETE FROM memoranda.{table} WHERE {condition}".encode(), values
        )


def _pg_table(table: str) -> str:
    """PostgreSQL has bodies in the rows of their entries."""
    return "memoranda.entries" if table == "bodies" else f"memoranda.{table}"


def _pg_column(table: str, column: str) -> str:
    if _is_tag(table, column):
        return "coalesce(whole, tag)"
    return "journal" if (table, column) == ("journals", "number") else column


def _is_tag(table: str, column: str) -> bool:
    return table == "tags" and column == "tag"


def _pg_where(table: str, where: Row) -> tuple[str, list[Any]]:
    terms = [f"{_pg_column(table, name)} IS NOT DISTINCT FROM %s" for name in where]
    terms += ["body IS NOT NULL"] if table == "bodies" else []
    return " AND ".join(terms) or "TRUE", list(where.values())


def _pg_read(table: str, row: Row) -> Row:
    row = {name: bytes(v) if isinstance(v, memoryview) else v for name, v in row.items()}
    return row | {
        name: unpacked(value, _PASSAGES[name])
        for name, value in row.items()
        if _is_short(table, name)
    }


def _pg_written(table: str, row: Row) -> Row:
    return row | {
        name: packed(value, _PASSAGES[name])
        for name, value in row.items()
        if _is_short(table, name) and value is not None
    }
