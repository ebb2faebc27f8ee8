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

from memoranda.kernel.errors import ScopeNotFound, StoreReadOnly
from memoranda.ledger.codec import PLAIN, BodyCodec
from memoranda.ledger.entry import genesis
from memoranda.ledger.journals import NewNote, NotedHead
from memoranda.ledger.tree import Block, Blocks
from memoranda.plans.items import check_session_ref
from memoranda.stores.migrations import OPENED_TO_READ, Migration, done
from memoranda.stores.postgres.address import Address, parse_address
from memoranda.stores.postgres.adoption import PostgresAdoption, adoption
from memoranda.stores.postgres.appending import hashes_in
from memoranda.stores.postgres.arrays import Integers, Texts
from memoranda.stores.postgres.connection import connect
from memoranda.stores.postgres.errors import plain_errors
from memoranda.stores.postgres.items import PostgresItems
from memoranda.stores.postgres.ledger import PostgresLedger
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.schema import check_encoding, due, migrate, warn_of_powers
from memoranda.stores.postgres.units import Units
from memoranda.stores.postgres.words import WordIndex
from memoranda.stores.words import WordCache

CONNECTIONS: Final = 8
STREAMS: Final = 8
RECENT: Final = 1_000
"""So many scopes' indexes of words go on counting what is to be merged when no handle is open."""

log = logging.getLogger("memoranda.postgres")

_JOURNAL: Final = "SELECT memoranda.journal_of(%s)"
_OPEN_JOURNAL: Final = "SELECT memoranda.open_journal(%s, %s, %s, %s)"
_BEGIN_LISTING: Final = b"BEGIN READ ONLY; SELECT set_config('memoranda.lists_scopes', 'yes', true)"
_SCOPES: Final = "SELECT scope FROM memoranda.journals WHERE scope <> %s ORDER BY scope"
_ORIGINS: Final = "SELECT scope, origin FROM memoranda.journals ORDER BY scope"
# The directory's scope has an empty name, and an empty setting names none. No scope of a user
# begins or ends with a space (`kernel.scopes`).
_DIRECTORY: Final = " "
_HEADS: Final = "SELECT scope, origin, size, noted FROM memoranda.heads_of(%s)"
_BLOCKS: Final = "SELECT scope, level, number, hashes FROM memoranda.blocks_of(%s, %s, %s)"
_KEEP_NOTES: Final = "SELECT memoranda.keep_notes(%s, %s, %s, %s, %s)"

_Journal = tuple[str, int]
"""The name of a scope, and the number of its journal."""


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
        self._bodies = bodies
        again = partial(connect, address, read_only=read_only)
        self._calls = Pool(again, address.name, CONNECTIONS, self._before_write)
        self._streams = Pool(again, address.name, STREAMS, self._before_write)
        self._is_read_only = read_only
        self._known = known
        self._upgrades_at = upgrades_at
        self._upgrading = asyncio.Lock()
        # All handles of a scope share what runs its units, and its index of words.
        self._units = WeakValueDictionary[_Journal, Units]()
        self._words = WeakValueDictionary[_Journal, WordIndex]()
        self._recent_words: OrderedDict[_Journal, WordIndex] = OrderedDict()
        self._known_words = WordCache(bodies)

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
        return [str(one) for one in applied]

    async def _before_write(self) -> None:
        if self._is_read_only or self._upgrades_at is not None:
            await self.upgrade()

    async def ledger(self, scope: str, origin: str, now: int) -> PostgresLedger:
        """The ledger of one scope; a scope that is new gets a journal of this origin."""
        found = await self.existing(scope)
        if found is not None:
            return found
        scope = _stored(scope)
        opened = (scope, origin, Int8(now), bytes.fromhex(genesis(origin)))
        async with self._calls.connection(writes=True) as connection:
            ((journal,),) = await (await connection.execute(_OPEN_JOURNAL, opened)).fetchall()
        return self._ledger(scope, journal)

    async def existing(self, scope: str) -> PostgresLedger | None:
        """The ledger of one scope; None if it has no journal, and none is made."""
        scope = _stored(scope)
        async with self._calls.connection() as connection:
            ((journal,),) = await (await connection.execute(_JOURNAL, (scope,))).fetchall()
        return None if journal is None else self._ledger(scope, journal)

    def _ledger(self, scope: str, journal: int) -> PostgresLedger:
        key, named = (scope, journal), (self._calls, scope, journal, self._bodies)
        units = self._units[key] = self._units.get(key) or Units(*named)
        words = self._words.get(key) or WordIndex(*named, self._known_words)
        self._words[key] = self._recent_words[key] = words
        self._recent_words.move_to_end(key)
        if len(self._recent_words) > RECENT:
            self._recent_words.popitem(last=False)
        return PostgresLedger(
            self.name, self._calls, self._streams, scope, journal, units, words, self._bodies
        )

    async def items(self, scope: str, session_ref: str) -> PostgresItems:
        """The items of one session; ScopeNotFound if nothing was written to its scope."""
        checked = check_session_ref(session_ref)
        async with self._calls.connection() as connection:
            ((journal,),) = await (await connection.execute(_JOURNAL, (scope,))).fetchall()
        if journal is None:
            raise ScopeNotFound(self.name, scope)
        return PostgresItems(self._calls, scope, journal, checked, self._bodies)

    def adoption(
        self, scope: str, origin: str, now: int
    ) -> AbstractAsyncContextManager[PostgresAdoption]:
        """Takes over the journal of this scope from another database, which has it alone."""
        return adoption(self._streams, self.name, scope, origin, now, self._bodies)

    async def journals(self) -> dict[str, str]:
        """The origin of every journal, by scope; that of the directory is under no name."""
        async with self._calls.transaction(_BEGIN_LISTING) as connection:
            found = await connection.execute(_ORIGINS)
            rows = await found.fetchall()
        return {_named(scope): str(origin) for scope, origin in rows}

    async def scopes(self) -> list[str]:
        """Every scope that was ever written to here, sorted."""
        async with self._calls.transaction(_BEGIN_LISTING) as connection:
            found = await connection.execute(_SCOPES, (_DIRECTORY,))
            return [str(scope) for (scope,) in await found.fetchall()]

    async def heads(self, scopes: Collection[str]) -> list[NotedHead]:
        """The heads of these scopes' journals; those that have none are left out."""
        rows = await self._call(_HEADS, Texts(map(_stored, scopes)))
        return [NotedHead(_named(scope), *rest) for scope, *rest in rows]

    async def hashes(self, blocks: Mapping[str, Collection[Block]]) -> dict[str, Blocks]:
        """Blocks of the trees of these scopes."""
        asked = [(_stored(scope), block) for scope, some in blocks.items() for block in some]
        rows = await self._call(
            _BLOCKS,
            Texts(scope for scope, _ in asked),
            Integers(block.level for _, block in asked),
            Integers(block.number for _, block in asked),
        )
        found: dict[str, dict[Block, Sequence[bytes]]] = {}
        for scope, level, number, hashes in rows:
            found.setdefault(_named(scope), {})[Block(level, number)] = hashes_in(hashes or b"")
        return {**found}

    async def keep_notes(self, notes: Sequence[NewNote]) -> None:
        """Keep notes of checkpoints in one transaction.

        By scope: two processes that keep notes of the same journals never wait for each other.
        """
        notes = sorted(notes)
        await self._call(
            _KEEP_NOTES,
            Texts(_stored(one.scope) for one in notes),
            Texts(one.origin for one in notes),
            Integers(one.size for one in notes),
            Texts(one.note for one in notes),
            Integers(one.at for one in notes),
            writes=True,
        )

    async def _call(
        self, statement: str, *values: object, writes: bool = False
    ) -> list[tuple[Any, ...]]:
        """One statement about many scopes: a transaction of its own, in one trip."""
        async with self._calls.connection(writes=writes) as connection:
            found = await connection.execute(statement, values, prepare=True, binary=True)
            return await found.fetchall()

    async def close(self) -> None:
        """Finish what is under way, then let go; a stream that nobody reads is cut off."""
        await self._streams.cut()
        for units in list(self._units.values()):
            await units.close()
        began = asyncio.get_running_loop().time()
        for words in sorted(self._words.values(), key=lambda one: one.tail, reverse=True):
            await words.close(began)
        await self._calls.close()


def _stored(scope: str) -> str:
    """The name that a scope has in the tables."""
    return scope or _DIRECTORY


def _named(stored: str) -> str:
    return "" if stored == _DIRECTORY else str(stored)
