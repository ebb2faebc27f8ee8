"""A PostgreSQL database: its schema and its connections."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Final
from weakref import WeakValueDictionary

from psycopg.types.numeric import Int8

from memoranda.identity import sha256
from memoranda.kernel.errors import ScopeCollision, ScopeNotFound, StoreReadOnly
from memoranda.ledger.anchor import SCOPE as DIRECTORY
from memoranda.ledger.anchor import NewNote, NotedHead
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.ledger.entry import genesis
from memoranda.ledger.lease import DueJob
from memoranda.ledger.tree import Block, Blocks
from memoranda.plans.items import check_session_ref
from memoranda.records.filter import MemoryFilter
from memoranda.stores.migrations import OPENED_TO_READ, Migration, done
from memoranda.stores.postgres.adoption import PostgresAdoption, adoption
from memoranda.stores.postgres.connection import Address, connect, parse_address, plain_errors
from memoranda.stores.postgres.items import PostgresItems
from memoranda.stores.postgres.journal import PostgresRows
from memoranda.stores.postgres.ledger import PostgresLedger
from memoranda.stores.postgres.merger import PostgresMerger
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.recent import Recent
from memoranda.stores.postgres.schema import check_encoding, due, migrate, warn_of_powers
from memoranda.stores.postgres.select import DIALECT, for_psycopg
from memoranda.stores.postgres.units import BLOCKS, PostgresUnits, blocks_in
from memoranda.stores.scope_words import KnownScopes
from memoranda.stores.search import JournalWords
from memoranda.stores.selection import selection
from memoranda.stores.shorthand import InShorthand
from memoranda.stores.statements import Integers, PlainStatement, Statement, Texts

CONNECTIONS: Final = 8
STREAMS: Final = 8
RECENT: Final = 1_000
"""So many scopes' indexes of words go on counting what is to be merged when no handle is open."""

log = logging.getLogger("memoranda.postgres")

_JOURNAL: Final = "SELECT scope, origin, size, noted FROM memoranda.journal_of(%s)"
_OPEN_JOURNAL: Final = "SELECT scope, origin FROM memoranda.open_journal(%s, %s, %s, %s, %s)"
_BEGIN_LISTING: Final = b"BEGIN READ ONLY; SELECT set_config('memoranda.lists_scopes', 'yes', true)"
_SCOPES: Final = "SELECT scope FROM memoranda.journals WHERE scope <> %s ORDER BY scope"
_ORIGINS: Final = "SELECT scope, origin FROM memoranda.journals ORDER BY scope"
_DUE_JOBS: Final = """
SELECT j.scope, l.name FROM memoranda.leases l JOIN memoranda.journals j ON j.journal = l.journal
WHERE l.due <= %s AND l.until <= floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint
  AND l.name = ANY (%s)
ORDER BY l.due LIMIT %s
"""
_KEEP_NOTE: Final = "SELECT memoranda.keep_note(%s, %s, %s, %s, %s)"

_Journal = tuple[int, str]
"""The number of a journal, and its origin."""


class PostgresDatabase:
    """One database, opened for this process.

    A stream has a connection of its own for as long as it lasts: however many are open, calls
    don't wait for them.
    """

    def __init__(
        self,
        address: Address,
        bodies: BodyCodec,
        *,
        read_only: bool,
        known: Sequence[Migration] | None,
        upgrades_at: int | None,
    ) -> None:
        """It is only read, or it may be written; `upgrades_at` is set while its schema is older."""
        self.name = address.name
        self._address = address
        self._bodies = InShorthand(bodies)
        again = partial(connect, address, read_only=read_only)
        self._calls = Pool(again, address.name, CONNECTIONS, self._before_write)
        self._streams = Pool(again, address.name, STREAMS, self._before_write)
        self._is_read_only = read_only
        self._known = known
        self._upgrades_at = upgrades_at
        self._upgrading = asyncio.Lock()
        # All handles of a scope share what runs its units, and its index of words.
        self._units = WeakValueDictionary[_Journal, PostgresUnits]()
        self._mergers = WeakValueDictionary[_Journal, PostgresMerger]()
        self._recent_mergers: OrderedDict[_Journal, PostgresMerger] = OrderedDict()
        self._known_scopes = KnownScopes()
        self._recent = Recent()

    @classmethod
    async def open(
        cls,
        url: str,
        now: int,
        *,
        create: bool,
        read_only: bool = False,
        bodies: BodyCodec = PLAIN,
        known: Sequence[Migration] | None = None,
    ) -> "PostgresDatabase":
        """Open a database: a schema that is not there is made, and an older one stays as it is.

        The first write brings an older schema up to date. With `read_only` every transaction is
        read-only, and a role that may only read will do.
        """
        address = parse_address(url)
        connection = await connect(address, read_only=read_only)
        try:
            with plain_errors(address.name):
                await check_encoding(connection, address.name)
                makes = create and not read_only
                left = await due(connection, address.name, create=makes, known=known)
                if left is None:
                    await migrate(connection, address.name, now, known=known)
                await warn_of_powers(connection, address.name)
        except BaseException:
            await connection.close()
            raise
        at = now if left and not read_only else None
        database = cls(address, bodies, read_only=read_only, known=known, upgrades_at=at)
        database._calls.give(connection)
        return database

    async def upgrade(self) -> Sequence[str]:
        """Bring the schema up to date; what was applied, which is nothing where nothing was due."""
        async with self._upgrading:
            if self._is_read_only:
                raise StoreReadOnly(self.name, OPENED_TO_READ)
            if self._upgrades_at is None:
                return ()
            connection = await connect(self._address)
            try:
                with plain_errors(self.name, writes=True):
                    applied = await migrate(
                        connection, self.name, self._upgrades_at, known=self._known
                    )
            finally:
                await connection.close()
            self._upgrades_at = None
        if applied:
            log.warning("%s: %s", self.name, done(applied))
        return [str(migration) for migration in applied]

    async def _before_write(self) -> None:
        if self._is_read_only or self._upgrades_at is not None:
            await self.upgrade()

    async def ledger(self, scope: str, origin: str, now: int) -> PostgresLedger:
        """The ledger of one scope; a scope that is new gets a journal of this origin."""
        found = await self.existing(scope)
        if found is not None:
            return found
        journal = journal_number(scope)
        opened = (Int8(journal), scope, origin, Int8(now), bytes.fromhex(genesis(origin)))
        async with self._calls.connection(writes=True) as connection:
            (row,) = await (await connection.execute(_OPEN_JOURNAL, opened)).fetchall()
        return self._ledger(journal, self._origin_of(scope, row))

    async def existing(self, scope: str) -> PostgresLedger | None:
        """The ledger of one scope; None if it has no journal, and none is made."""
        journal = journal_number(scope)
        rows = await self._call(_JOURNAL, Int8(journal))
        return self._ledger(journal, self._origin_of(scope, rows[0])) if rows else None

    def _origin_of(self, scope: str, row: Sequence[Any]) -> str:
        """The origin of the journal that was found for a scope, if it is that scope's."""
        found, origin, *_ = row
        if found != scope:
            raise ScopeCollision(self.name, scope)
        return str(origin)

    def _ledger(self, journal: int, origin: str) -> PostgresLedger:
        key, named = (journal, origin), (self._calls, journal, origin, self._bodies)
        units = self._units[key] = self._units.get(key) or PostgresUnits(*named, self._recent)
        merger = self._mergers.get(key) or PostgresMerger(self._words(journal, origin))
        self._mergers[key] = self._recent_mergers[key] = merger
        self._recent_mergers.move_to_end(key)
        if len(self._recent_mergers) > RECENT:
            self._recent_mergers.popitem(last=False)
        pools = (self._calls, self._streams)
        return PostgresLedger(
            self.name, *pools, journal, origin, units, merger, self._bodies, self._known_scopes
        )

    def _words(self, journal: int, origin: str) -> JournalWords:
        rows = PostgresRows(self._calls, journal, origin, self._bodies)

        def select(filter: MemoryFilter, columns: str) -> PlainStatement | None:
            chosen = selection(filter, journal, DIALECT, columns=columns)
            return None if chosen is None else PlainStatement(*for_psycopg(chosen))

        return JournalWords(journal, rows, self._known_scopes, select)

    async def items(self, scope: str, session_ref: str) -> PostgresItems:
        """The items of one session; ScopeNotFound if nothing was written to its scope."""
        checked = check_session_ref(session_ref)
        journal = journal_number(scope)
        rows = await self._call(_JOURNAL, Int8(journal))
        if not rows:
            raise ScopeNotFound(self.name, scope)
        origin = self._origin_of(scope, rows[0])
        return PostgresItems(PostgresRows(self._calls, journal, origin, self._bodies), checked)

    def adoption(
        self, scope: str, origin: str, now: int
    ) -> AbstractAsyncContextManager[PostgresAdoption]:
        """Takes over the journal of this scope from another database, which has it alone."""
        journal = journal_number(scope)
        return adoption(self._streams, self.name, journal, scope, origin, now, self._bodies)

    async def journals(self) -> dict[str, str]:
        """The origin of every journal, by scope; that of the directory is under no name."""
        async with self._calls.transaction(_BEGIN_LISTING) as connection:
            found = await connection.execute(_ORIGINS)
            rows = await found.fetchall()
        return {str(scope): str(origin) for scope, origin in rows}

    async def scopes(self) -> list[str]:
        """Every scope that was ever written to here, sorted."""
        async with self._calls.transaction(_BEGIN_LISTING) as connection:
            found = await connection.execute(_SCOPES, (DIRECTORY,))
            return [str(scope) for (scope,) in await found.fetchall()]

    async def due_jobs(self, names: Collection[str], now: int, limit: int) -> list[DueJob]:
        """Jobs of these names that are due by then and that nobody holds, in all scopes."""
        asked = (Int8(now), Texts(names), Int8(limit))
        async with self._calls.transaction(_BEGIN_LISTING) as connection:
            found = await connection.execute(_DUE_JOBS, asked)
            return [DueJob._make(row) for row in await found.fetchall()]

    async def heads(self, scopes: Collection[str]) -> list[NotedHead]:
        """The heads of these scopes' journals; those that have none are left out."""
        asked = [(Int8(journal_number(scope)),) for scope in scopes]
        found = await self._each(_JOURNAL, asked)
        return [NotedHead._make(row) for rows in found for row in rows]

    async def hashes(self, blocks: Mapping[str, Collection[Block]]) -> dict[str, Blocks]:
        asked = [
            (
                *(Int8(journal_number(scope)), None),
                Integers(block.level for block in some),
                Integers(block.number for block in some),
            )
            for scope, some in blocks.items()
        ]
        found = zip(blocks, await self._each(BLOCKS, asked), strict=True)
        return {scope: blocks_in(rows) for scope, rows in found if rows}

    async def keep_notes(self, notes: Sequence[NewNote]) -> None:
        """Keep notes of checkpoints in one transaction.

        By scope: two processes that keep notes of the same journals never wait for each other.
        """
        asked = [
            (Int8(journal_number(scope)), origin, Int8(size), note, Int8(at))
            for scope, origin, size, note, at in sorted(notes)
        ]
        await self._each(_KEEP_NOTE, asked, writes=True)

    async def ask_any(self, statement: Statement, /, *, writes: bool, **values: Any) -> list[Any]:
        """The rows of one statement about no journal, which is a transaction of its own."""
        bound = [
            Int8(value) if isinstance(value, int) else value
            for value in statement.of_postgres(values)
        ]
        return await self._calls.call(statement.postgres, bound, writes=writes)

    async def _call(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        async with self._calls.connection() as connection:
            found = await connection.execute(statement, values, binary=True)
            return await found.fetchall()

    async def _each(
        self, statement: str, asked: Sequence[Sequence[object]], *, writes: bool = False
    ) -> list[list[tuple[Any, ...]]]:
        """A statement for each of these journals, all of them in one transaction and one trip.

        It runs to its end although the caller gives up: psycopg can't leave a pipeline half way.
        """

        async def all_of_them() -> list[list[tuple[Any, ...]]]:
            async with self._calls.connection(writes=writes) as connection, connection.pipeline():
                found = [await connection.execute(statement, each, binary=True) for each in asked]
                return [await rows.fetchall() for rows in found]

        return await asyncio.shield(asyncio.create_task(all_of_them()))

    async def close(self) -> None:
        """Finish what is under way, then let go; a stream that nobody reads is cut off."""
        await self._streams.cut()
        for units in list(self._units.values()):
            await units.close()
        began = asyncio.get_running_loop().time()
        for merger in sorted(self._mergers.values(), key=lambda one: one.tail, reverse=True):
            await merger.close(began)
        await self._calls.close()


def journal_number(scope: str) -> int:
    """The number of a scope's journal: 63 bits of the digest of its name, whoever computes it."""
    return int.from_bytes(sha256(scope.encode())[:8]) >> 1
