"""From a cycle to what it left, in PostgreSQL: the salt of its digests, and its items."""

from collections.abc import Sequence
from typing import Any, Final

from psycopg.types.numeric import Int8

from memoranda.kernel.errors import RecordExists
from memoranda.ledger.attachments import CycleSalt, ItemOrigin, OriginOf, StoredItem
from memoranda.ledger.codec import BodyCodec
from memoranda.stores.postgres.arrays import Texts
from memoranda.stores.postgres.connection import Connection
from memoranda.stores.postgres.pool import Pool

_KEEP_SALT: Final = "SELECT memoranda.keep_salt(%s, %s, %s)"
_KEEP_ORIGIN: Final = "SELECT memoranda.keep_origin(%s, %s, %s, %s, %s)"
_WHOLE: Final = "SELECT memoranda.is_index_whole(%s, %s, %s)"
_STORED: Final = "SELECT * FROM memoranda.stored_items(%s, %s, %s, %s)"
_SALT: Final = "SELECT memoranda.salt_of(%s, %s, %s)"
_ITEMS: Final = "SELECT id::text FROM memoranda.items_of(%s, %s, %s)"
_ORIGINS: Final = "SELECT cycle, seq, items FROM memoranda.origins_of(%s, %s, %s, %s)"


async def keep_salt(connection: Connection, journal: Int8, kept: CycleSalt) -> None:
    """Keep the salt of a cycle, in a transaction; RecordExists if it has one."""
    if not await _is_kept(connection, _KEEP_SALT, (journal, *kept)):
        raise RecordExists(kept.cycle)


async def keep_origin(connection: Connection, journal: Int8, origin: ItemOrigin) -> None:
    """Note which cycle stored an item, in a transaction; RecordExists if another one did."""
    session, id, cycle, terms = origin
    if not await _is_kept(connection, _KEEP_ORIGIN, (journal, session, id, cycle, Int8(terms))):
        raise RecordExists(origin.id)


async def _is_kept(connection: Connection, statement: str, values: tuple[object, ...]) -> bool:
    found = await connection.execute(statement, values, prepare=True, binary=True)
    ((is_kept,),) = await found.fetchall()
    return bool(is_kept)


# ---------------------------------------------------------------------------- reading


class PostgresOrigins:
    """The salts of the cycles of one journal, and which items they stored."""

    def __init__(self, calls: Pool, journal: int, origin: str, bodies: BodyCodec) -> None:
        self._calls = calls
        self._bodies = bodies
        self._named = (Int8(journal), origin)

    async def salt(self, cycle: str) -> bytes | None:
        """What the digests in the fact of a cycle are salted with."""
        found = await self._call(_SALT, cycle)
        return found[0][0] if found else None

    async def of(self, session_ref: str, ids: Sequence[str]) -> list[OriginOf]:
        """The cycles that stored these items of a session, each once, in their order."""
        found = await self._call(_ORIGINS, session_ref, Texts(ids))
        return [OriginOf._make(row) for row in found]

    async def items(self, cycle: str) -> list[str]:
        """The ids of the items that a cycle stored and that are still there, in order."""
        return [id for (id,) in await self._call(_ITEMS, cycle)]

    async def is_index_whole(self, session_ref: str) -> bool:
        """Whether the index of a session has as many keywords as its cycles stored."""
        ((is_whole,),) = await self._call(_WHOLE, session_ref)
        return bool(is_whole)

    async def stored(self, session_ref: str, ids: Sequence[str]) -> list[StoredItem]:
        """These items of a session as they are stored; those that are not there are left out."""
        return [
            StoredItem(session_ref, str(id), self._bodies.unpack(body), cycle, salt)
            for id, body, cycle, salt in await self._call(_STORED, session_ref, Texts(ids))
        ]

    async def _call(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        async with self._calls.connection() as connection:
            named = (*self._named, *values)
            found = await connection.execute(statement, named, prepare=True, binary=True)
            return await found.fetchall()
