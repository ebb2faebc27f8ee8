"""From a cycle to what it left, in PostgreSQL: the salt of its digests, and its items."""

from collections.abc import Sequence
from typing import Any, Final

from psycopg.types.numeric import Int8

from recollect.kernel.errors import RecordExists
from recollect.ledger.beside import CycleSalt, ItemOrigin, OriginOf
from recollect.stores.postgres.arrays import Texts
from recollect.stores.postgres.connection import Connection
from recollect.stores.postgres.pool import Pool

_KEEP_SALT: Final = "SELECT recollect.keep_salt(%s, %s, %s)"
_KEEP_ORIGIN: Final = "SELECT recollect.keep_origin(%s, %s, %s, %s)"
_SALT: Final = "SELECT recollect.salt_of(%s, %s, %s)"
_ORIGINS: Final = "SELECT cycle, seq, items FROM recollect.origins_of(%s, %s, %s, %s)"


async def keep_salt(connection: Connection, journal: Int8, kept: CycleSalt) -> None:
    """Keep the salt of a cycle, in a transaction; RecordExists if it has one."""
    if not await _is_kept(connection, _KEEP_SALT, (journal, *kept)):
        raise RecordExists(kept.cycle)


async def keep_origin(connection: Connection, journal: Int8, origin: ItemOrigin) -> None:
    """Note which cycle stored an item, in a transaction; RecordExists if another one did."""
    if not await _is_kept(connection, _KEEP_ORIGIN, (journal, *origin)):
        raise RecordExists(origin.id)


async def _is_kept(connection: Connection, statement: str, values: tuple[object, ...]) -> bool:
    found = await connection.execute(statement, values, prepare=True, binary=True)
    ((is_kept,),) = await found.fetchall()
    return bool(is_kept)


# ---------------------------------------------------------------------------- reading


class PostgresOrigins:
    """The salts of the cycles of one journal, and which items they stored."""

    def __init__(self, calls: Pool, scope: str, journal: int) -> None:
        self._calls = calls
        self._named = (scope, Int8(journal))

    async def salt(self, cycle: str) -> bytes | None:
        """What the digests in the fact of a cycle are salted with."""
        found = await self._call(_SALT, cycle)
        return found[0][0] if found else None

    async def of(self, session_ref: str, ids: Sequence[str]) -> list[OriginOf]:
        """The cycles that stored these items of a session, each once, in their order."""
        found = await self._call(_ORIGINS, session_ref, Texts(ids))
        return [OriginOf._make(row) for row in found]

    async def _call(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """One statement: a transaction of its own, in one trip."""
        async with self._calls.connection() as connection:
            named = (*self._named, *values)
            found = await connection.execute(statement, named, prepare=True, binary=True)
            return await found.fetchall()
