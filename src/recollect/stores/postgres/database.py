"""A PostgreSQL database: its schema and its connections."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

from psycopg import sql
from psycopg.types.numeric import Int8

from recollect.kernel.errors import StoreUnavailable
from recollect.ledger.codec import PLAIN, BodyCodec
from recollect.ledger.entry import genesis
from recollect.plans.items import check_session_ref
from recollect.stores.postgres.address import parse_address
from recollect.stores.postgres.adoption import PostgresAdoption, adoption
from recollect.stores.postgres.connection import connect
from recollect.stores.postgres.errors import plain_errors
from recollect.stores.postgres.items import PostgresItems
from recollect.stores.postgres.ledger import PostgresLedger
from recollect.stores.postgres.pool import Pool
from recollect.stores.postgres.schema import check_encoding, migrate, warn_of_powers
from recollect.stores.postgres.units import Units
from recollect.stores.postgres.words import WordIndex

CONNECTIONS: Final = 8
STREAMS: Final = 8

_JOURNAL: Final = "SELECT recollect.journal_of(%s)"
_OPEN_JOURNAL: Final = "SELECT recollect.open_journal(%s, %s, %s, %s)"
_BEGIN_LISTING: Final = b"BEGIN READ ONLY; SELECT set_config('recollect.lists_scopes', 'yes', true)"
_SCOPES: Final = "SELECT scope FROM recollect.journals WHERE scope <> %s ORDER BY scope"
_ORIGINS: Final = "SELECT scope, origin FROM recollect.journals ORDER BY scope"
_PLAIN_SCOPES: Final = "SELECT scope FROM recollect.plain_scopes ORDER BY scope"
_MAY_ADOPT: Final = (
    "SELECT has_table_privilege('recollect.plain_scopes', 'SELECT')"
    " AND has_table_privilege('recollect.plain_records', 'SELECT')"
    " AND has_table_privilege('recollect.plain_records', 'UPDATE')"
)
_PLAIN_ROWS: Final = """
SELECT id, version, created_at, updated_at, actor, reason, body FROM recollect.plain_records
WHERE scope = %s AND body IS NOT NULL ORDER BY created_at, id LIMIT %s
"""
_FORGET_PLAIN: Final = (
    "UPDATE recollect.plain_records SET body = NULL WHERE scope = %s AND id = ANY (%s)"
)
_ENTER: Final = sql.SQL("BEGIN; SELECT set_config('recollect.scope', {}, true)")
# The directory's scope has an empty name, and an empty setting names none. No scope of a user
# begins or ends with a space (`kernel.scopes`).
_DIRECTORY: Final = " "


class PostgresDatabase:
    """One database, opened for this process.

    A stream has a connection of its own for as long as it lasts: however many are open, calls
    don't wait for them.
    """

    def __init__(self, name: str, calls: Pool, streams: Pool, bodies: BodyCodec) -> None:
        self.name = name
        self._bodies = bodies
        self._calls = calls
        self._streams = streams
        self._units = WeakValueDictionary[tuple[str, int], Units]()  # all handles of a scope share
        self._words: dict[tuple[str, int], WordIndex] = {}

    @classmethod
    async def open(
        cls, url: str, now: int, *, create: bool, bodies: BodyCodec = PLAIN
    ) -> "PostgresDatabase":
        """Open a database and bring its schema up to date, in one transaction or not at all."""
        address = parse_address(url)
        connection = await connect(address)
        try:
            with plain_errors(address.name):
                await check_encoding(connection, address.name)
                await migrate(connection, address.name, now, create=create)
                await warn_of_powers(connection, address.name)
        except BaseException:
            await connection.close()
            raise
        again = partial(connect, address)
        calls = Pool(again, address.name, CONNECTIONS)
        calls.give(connection)
        return cls(address.name, calls, Pool(again, address.name, STREAMS), bodies)

    async def ledger(self, scope: str, origin: str, now: int) -> PostgresLedger:
        """The ledger of one scope; a scope that is new gets a journal of this origin."""
        scope = scope or _DIRECTORY
        async with self._calls.connection() as connection:
            ((journal,),) = await (await connection.execute(_JOURNAL, (scope,))).fetchall()
        if journal is None:
            opened = (scope, origin, Int8(now), bytes.fromhex(genesis(origin)))
            async with self._calls.connection(writes=True) as connection:
                ((journal,),) = await (await connection.execute(_OPEN_JOURNAL, opened)).fetchall()
        key, named = (scope, journal), (self._calls, scope, journal, self._bodies)
        units = self._units[key] = self._units.get(key) or Units(*named)
        words = self._words[key] = self._words.get(key) or WordIndex(*named)
        return PostgresLedger(
            self.name, self._calls, self._streams, scope, journal, units, words, self._bodies
        )

    async def items(self, scope: str, session_ref: str) -> PostgresItems:
        """The items of one session; StoreUnavailable if its scope was never opened here."""
        checked = check_session_ref(session_ref)
        async with self._calls.connection() as connection:
            ((journal,),) = await (await connection.execute(_JOURNAL, (scope,))).fetchall()
        if journal is None:
            raise StoreUnavailable(self.name, f"there is no scope {scope!r} in it")
        return PostgresItems(self._calls, scope, journal, checked, self._bodies)

    def adoption(
        self, scope: str, origin: str, now: int
    ) -> AbstractAsyncContextManager[PostgresAdoption]:
        """Takes over the journal of this scope from another database, which has it alone."""
        return adoption(self._streams, self.name, scope, origin, now, self._bodies)

    async def plain_scopes(self) -> list[str]:
        """The scopes that still have records from before there was a journal."""
        async with self._calls.transaction(_BEGIN_LISTING) as connection:
            ((may,),) = await (await connection.execute(_MAY_ADOPT)).fetchall()
            rows = await (await connection.execute(_PLAIN_SCOPES)).fetchall() if may else []
        return [scope for (scope,) in rows if await self.plain_rows(scope, 1)]

    async def plain_rows(self, scope: str, limit: int) -> list[tuple[Any, ...]]:
        """Some of them: id, version, times, actor, reason, body."""
        async with self._calls.transaction(_entering(scope)) as connection:
            return await (await connection.execute(_PLAIN_ROWS, (scope, limit))).fetchall()

    async def forget_plain(self, scope: str, ids: Sequence[str]) -> None:
        """Let go of those that were adopted: the row stays, its content goes."""
        async with self._calls.transaction(_entering(scope), writes=True) as connection:
            await connection.execute(_FORGET_PLAIN, (scope, list(ids)))

    async def journals(self) -> dict[str, str]:
        """The origin of every journal, by scope; that of the directory is under no name."""
        async with self._calls.transaction(_BEGIN_LISTING) as connection:
            found = await connection.execute(_ORIGINS)
            rows = await found.fetchall()
        return {"" if scope == _DIRECTORY else str(scope): str(origin) for scope, origin in rows}

    async def scopes(self) -> list[str]:
        """Every scope that was ever opened here, sorted."""
        async with self._calls.transaction(_BEGIN_LISTING) as connection:
            found = await connection.execute(_SCOPES, (_DIRECTORY,))
            return [str(scope) for (scope,) in await found.fetchall()]

    async def close(self) -> None:
        """Finish what is under way, then let go; a stream that nobody reads is cut off."""
        await self._streams.cut()
        for units in list(self._units.values()):
            await units.close()
        for words in self._words.values():
            await words.close()
        await self._calls.close()


def _entering(scope: str) -> bytes:
    return _ENTER.format(scope).as_bytes()
