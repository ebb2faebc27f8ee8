"""A table that refuses every row, for a while: from beside, whatever the code does."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import psycopg

_POSTGRES = """
CREATE FUNCTION memoranda.refuse() RETURNS trigger LANGUAGE plpgsql
AS $$ BEGIN RAISE EXCEPTION 'on purpose' USING ERRCODE = 'XX000'; END $$;
GRANT EXECUTE ON FUNCTION memoranda.refuse() TO PUBLIC;
CREATE TRIGGER refuse BEFORE INSERT ON memoranda.{table} EXECUTE FUNCTION memoranda.refuse();
"""


@contextmanager
def refusing(url: str, table: str) -> Iterator[None]:
    """No row gets into a table meanwhile; the URL is that of who owns it."""
    if url.startswith("sqlite"):
        connection = apsw.Connection(str(Path(url.removeprefix("sqlite:///"))))
        why = "SELECT RAISE(ABORT, 'on purpose');"
        connection.execute(f"CREATE TRIGGER refuse BEFORE INSERT ON {table} BEGIN {why} END")
        try:
            yield
        finally:
            connection.execute("DROP TRIGGER refuse")
            connection.close()
        return
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(_POSTGRES.format(table=_in_postgres(table)).encode())
        try:
            yield
        finally:
            server.execute("DROP FUNCTION memoranda.refuse() CASCADE")


def _in_postgres(table: str) -> str:
    """Bodies are in the rows of their entries there."""
    return "entries" if table == "bodies" else table


def rows(url: str, *tables: str) -> dict[str, int]:
    """How many rows there are in tables, of all scopes; the URL is that of a superuser."""
    if url.startswith("sqlite"):
        connection = apsw.Connection(str(Path(url.removeprefix("sqlite:///"))))
        counted = {t: connection.execute(f"SELECT count(*) FROM {t}").fetchall() for t in tables}  # noqa: S608
        connection.close()
        return {table: int(str(found[0][0])) for table, found in counted.items()}
    with psycopg.connect(url) as server:
        asked = {t: f"SELECT count(*) FROM memoranda.{_in_postgres(t)}" for t in tables}  # noqa: S608
        return {t: server.execute(sql.encode()).fetchall()[0][0] for t, sql in asked.items()}
