"""A PostgreSQL database: its schema and its connections."""

from functools import partial
from typing import Final
from weakref import WeakValueDictionary

from psycopg.types.numeric import Int8

from recollect.ledger.entry import genesis
from recollect.stores.postgres.address import parse_address
from recollect.stores.postgres.connection import connect
from recollect.stores.postgres.errors import plain_errors
from recollect.stores.postgres.ledger import PostgresLedger
from recollect.stores.postgres.pool import Pool
from recollect.stores.postgres.schema import check_encoding, migrate, warn_of_powers
from recollect.stores.postgres.units import Units

CONNECTIONS: Final = 8
STREAMS: Final = 8

_JOURNAL: Final = "SELECT recollect.journal_of(%s)"
_OPEN_JOURNAL: Final = "SELECT recollect.open_journal(%s, %s, %s, %s)"
_BEGIN_LISTING: Final = b"BEGIN READ ONLY; SELECT set_config('recollect.lists_scopes', 'yes', true)"
_SCOPES: Final = "SELECT scope FROM recollect.journals WHERE scope <> %s ORDER BY scope"
# The directory's scope has an empty name, and an empty setting names none. No scope of a user
# begins or ends with a space (`kernel.scopes`).
_DIRECTORY: Final = " "


class PostgresDatabase:
    """One database, opened for this process.

    A stream has a connection of its own for as long as it lasts: however many are open, calls
    don't wait for them.
    """

    def __init__(self, name: str, calls: Pool, streams: Pool) -> None:
        self.name = name
        self._calls = calls
        self._streams = streams
        self._units = WeakValueDictionary[tuple[str, int], Units]()  # all handles of a scope share

    @classmethod
    async def open(cls, url: str, now: int, *, create: bool) -> "PostgresDatabase":
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
        return cls(address.name, calls, Pool(again, address.name, STREAMS))

    async def ledger(self, scope: str, origin: str, now: int) -> PostgresLedger:
        """The ledger of one scope; a scope that is new gets a journal of this origin."""
        scope = scope or _DIRECTORY
        async with self._calls.connection() as connection:
            ((journal,),) = await (await connection.execute(_JOURNAL, (scope,))).fetchall()
        if journal is None:
            opened = (scope, origin, Int8(now), bytes.fromhex(genesis(origin)))
            async with self._calls.connection(writes=True) as connection:
                ((journal,),) = await (await connection.execute(_OPEN_JOURNAL, opened)).fetchall()
        units = self._units.get((scope, journal)) or Units(self._calls, scope, journal)
        self._units[scope, journal] = units
        return PostgresLedger(self.name, self._calls, self._streams, scope, journal, units)

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
        await self._calls.close()
