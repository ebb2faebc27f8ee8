"""How much room a database takes."""

from pathlib import Path

import apsw
import psycopg

_TABLES = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')
"""


def sqlite_bytes(path: Path) -> int:
    """The size of a SQLite file once its write-ahead log, if it has one, is folded in."""
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(5_000)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    finally:
        connection.close()
    return path.stat().st_size


async def postgres_bytes(url: str) -> int:
    """All tables of a PostgreSQL database, with their indexes."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        row = await (await connection.execute(_TABLES)).fetchone()
        return 0 if row is None else int(row[0])
