"""The schema `memoranda` in a database: whose it is, and how it is brought up to date."""

import logging
from collections.abc import Sequence
from enum import Enum, auto
from typing import Final

from psycopg.errors import InsufficientPrivilege

from memoranda.kernel.errors import ForeignDatabase, StoreUnavailable
from memoranda.stores.migrations import Migration, known_migrations, pending
from memoranda.stores.postgres.connection import Connection

MIGRATIONS: Final = known_migrations("memoranda.stores.postgres.migrations")

log = logging.getLogger("memoranda.postgres")

_LOCK: Final = 0x6D65_6D6F_7261_6E64  # 'memorand': one at a time brings a database up to date
_LOCK_S: Final = 60
_HISTORY: Final = """
CREATE TABLE memoranda.migrations (
  number     integer NOT NULL PRIMARY KEY,
  name       text COLLATE "C" NOT NULL,
  checksum   text COLLATE "C" NOT NULL,
  applied_at bigint NOT NULL
)
"""
_NOTE: Final = """
INSERT INTO memoranda.migrations (number, name, checksum, applied_at) VALUES (%s, %s, %s, %s)
"""
# Read from the catalogue, which everyone may read: a role without any right is told so in words.
_FOUND: Final = """
SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'memoranda'),
       EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace('memoranda')
               UNION ALL SELECT FROM pg_proc WHERE pronamespace = to_regnamespace('memoranda')
               UNION ALL SELECT FROM pg_type WHERE typnamespace = to_regnamespace('memoranda')),
       (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_class c
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relnamespace = to_regnamespace('memoranda') AND c.relname = 'migrations')
"""
_POWERS: Final = """
SELECT current_user::text, rolsuper, rolbypassrls,
       EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = to_regnamespace('memoranda')
               AND c.relkind = 'r' AND pg_has_role(c.relowner, 'MEMBER'))
FROM pg_roles WHERE rolname = current_user
"""


class _State(Enum):
    """What stands in a database where our schema would be."""

    NOTHING = auto()
    EMPTY = auto()  # made for us, by someone who has the right to
    OURS = auto()


async def check_encoding(connection: Connection, database: str) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        why = f"its encoding is {encoding}; make one with: CREATE DATABASE … ENCODING 'UTF8'"
        raise StoreUnavailable(database, why)


async def due(
    connection: Connection,
    database: str,
    *,
    create: bool,
    known: Sequence[Migration] | None = None,
) -> Sequence[Migration] | None:
    """What is to be applied to a schema of ours; None if there is none yet. Nothing is written.

    Refuses a schema of something else, one that a newer memoranda has written, one whose history
    is not ours, and without `create` a database that has none.
    """
    if await _state(connection, database) is _State.OURS:
        known = MIGRATIONS if known is None else known
        return pending(known, await _applied(connection), database)
    if not create:
        raise StoreUnavailable(database, "there is no memoranda schema in it; name another")
    return None


async def migrate(
    connection: Connection,
    database: str,
    now: int,
    *,
    known: Sequence[Migration] | None = None,
) -> Sequence[Migration]:
    """Bring the schema up to date in one transaction; several processes may try at once.

    1. what is not ours is refused
    2. an up-to-date schema is left alone: that takes no right but to read
    3. the lock; whoever waited for it looks again
    4. the schema, its history, what is pending: all of it or nothing

    Returns what was applied here: nothing, if another was faster.
    """
    known = MIGRATIONS if known is None else known
    state = await _state(connection, database)
    if state is _State.OURS and not pending(known, await _applied(connection), database):
        return ()
    try:
        async with connection.transaction():
            await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_S}s'")
            await connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            return await _bring_up_to_date(connection, database, now, known)
    except InsufficientPrivilege as refused:
        what = (
            "has an older memoranda schema" if state is _State.OURS else "has no memoranda schema"
        )
        why = f"it {what} and this role may not change that; run `memoranda upgrade` as its owner"
        raise StoreUnavailable(database, f"{why}, as docs/postgres.md shows") from refused


async def warn_of_powers(connection: Connection, database: str) -> None:
    """Say so if this role could reach every scope whatever row-level security says."""
    (found,) = await (await connection.execute(_POWERS)).fetchall()
    role, is_superuser, bypasses, is_owner = found
    powers = {"a superuser": is_superuser, "BYPASSRLS": bypasses, "its owner": is_owner}
    held = [power for power, is_held in powers.items() if is_held]
    if held:
        log.warning(
            "%s is opened as %r, which is %s: it can pass by, or switch off, the row-level "
            "security between scopes. Use a role that can't, as docs/postgres.md shows.",
            database,
            role,
            " and ".join(held),
        )


async def _bring_up_to_date(
    connection: Connection, database: str, now: int, known: Sequence[Migration]
) -> Sequence[Migration]:
    state = await _state(connection, database)
    if state is _State.NOTHING:
        await connection.execute("CREATE SCHEMA memoranda")
    if state is not _State.OURS:
        await connection.execute(_HISTORY)
    left = pending(known, await _applied(connection), database)
    for migration in left:
        await connection.execute(migration.sql.encode())
        note = (migration.number, migration.name, migration.checksum, now)
        await connection.execute(_NOTE, note)
    return left


async def _state(connection: Connection, database: str) -> _State:
    (found,) = await (await connection.execute(_FOUND)).fetchall()
    exists, has_content, history = found
    if history == ["number", "name", "checksum", "applied_at"]:
        return _State.OURS
    if has_content:
        raise ForeignDatabase(database, "its schema memoranda holds what another program made")
    return _State.EMPTY if exists else _State.NOTHING


async def _applied(connection: Connection) -> list[tuple[int, str]]:
    query = "SELECT number, checksum FROM memoranda.migrations ORDER BY number"
    return [(number, checksum) async for number, checksum in await connection.execute(query)]
