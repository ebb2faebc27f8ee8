"""A PostgreSQL database: its schema and its connections."""

from functools import partial
from typing import Final

from psycopg.types.numeric import Int8

from recollect.stores.postgres.address import parse_address
from recollect.stores.postgres.connection import connect
from recollect.stores.postgres.errors import plain_errors
from recollect.stores.postgres.pool import Pool
from recollect.stores.postgres.records import PostgresTable
from recollect.stores.postgres.schema import check_encoding, migrate, warn_of_powers

CONNECTIONS: Final = 8
STREAMS: Final = 8


class PostgresDatabase:
    """One database, opened for this process.

    A stream has a connection of its own for as long as it lasts: however many are open, calls
    don't wait for them.
    """

    def __init__(self, name: str, calls: Pool, streams: Pool) -> None:
        self.name = name
        self._calls = calls
        self._streams = streams

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

    async def records(self, scope: str, now: int) -> PostgresTable:
        """The records of one scope, which is noted when it is first opened."""
        known = "SELECT 1 FROM recollect.scopes WHERE scope = %s"
        async with self._calls.connection() as connection:
            found = await (await connection.execute(known, (scope,))).fetchone()
        if found is None:
            note = "SELECT recollect.open_scope(%s, %s)"
            async with self._calls.connection(writes=True) as connection:
                await connection.execute(note, (scope, Int8(now)))
        return PostgresTable(self._calls, self._streams, scope)

    async def scopes(self) -> list[str]:
        """Every scope that was ever opened here."""
        async with self._calls.connection() as connection:
            found = await connection.execute("SELECT scope FROM recollect.scopes")
            return sorted([str(scope) for (scope,) in await found.fetchall()])

    async def close(self) -> None:
        """Finish what is under way, then let go; a stream that nobody reads is cut off."""
        await self._streams.cut()
        await self._calls.close()
