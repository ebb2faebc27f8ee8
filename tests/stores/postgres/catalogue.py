"""Looking into a database from beside: its schema as text that can be compared, its rows."""

import psycopg

_PARTS = (
    """SELECT table_name, ordinal_position, column_name, data_type, collation_name, is_nullable,
              column_default FROM information_schema.columns WHERE table_schema = 'memoranda'""",
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'memoranda'",
    """SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint
       WHERE connamespace = to_regnamespace('memoranda')""",
    """SELECT tablename, policyname, permissive, roles, cmd, qual, with_check FROM pg_policies
       WHERE schemaname = 'memoranda'""",
    """SELECT relname, relkind, relrowsecurity, relforcerowsecurity, relreplident, relacl
       FROM pg_class WHERE relnamespace = to_regnamespace('memoranda')""",
    """SELECT pg_get_functiondef(oid), proacl FROM pg_proc
       WHERE pronamespace = to_regnamespace('memoranda')""",
    "SELECT nspname, nspacl FROM pg_namespace WHERE nspname = 'memoranda'",
)


def catalogue(url: str) -> list[str]:
    """The schema, part by part; empty if there is none."""
    with psycopg.connect(url) as connection:
        return sorted(str(row) for part in _PARTS for row in connection.execute(part.encode()))


def asked(url: str, query: str, *values: object) -> list[tuple[object, ...]]:
    """The rows of a query."""
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query.encode(), values).fetchall()


def connections(url: str) -> int:
    """How many connections memoranda has to a database, by the name that it gives them.

    Those of tests are left out: the server may still tell of one that is closed.
    """
    query = """
        SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'memoranda' AND state IS NOT NULL
    """
    return len(asked(url, query))
