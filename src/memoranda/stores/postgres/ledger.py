"""The ledger of one scope in PostgreSQL."""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, TypeVar

from psycopg.types.numeric import Int8

from memoranda.ledger.codec import BodyCodec, LenientCodec
from memoranda.ledger.port import Compacted
from memoranda.ledger.snapshot import Index, LedgerSnapshot, Table
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import Committed, Current, Head, Unit
from memoranda.stores.attachments import StoredOrigins
from memoranda.stores.leases import StoredLeases
from memoranda.stores.postgres.connection import Connection, off_the_loop
from memoranda.stores.postgres.erase import rewrite_tables
from memoranda.stores.postgres.journal import PostgresRows, chunks, parameters
from memoranda.stores.postgres.merger import PostgresMerger
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.select import PostgresSelecting
from memoranda.stores.postgres.unit_reads import JOINED
from memoranda.stores.postgres.units import BLOCKS, PostgresUnits, blocks_in
from memoranda.stores.reading import JournalReader
from memoranda.stores.scope_words import KnownScopes
from memoranda.stores.selection import PLACED
from memoranda.stores.sessions import StoredAttachments
from memoranda.stores.shorthand import ENTRY, InShorthand
from memoranda.stores.statements import Integers, PlainStatement, Procedure, Statement
from memoranda.stores.tables import HEAD, INDEX, SEGMENTS, TABLES, Unpacking, index_of
from memoranda.stores.vectors import StoredVectors

R = TypeVar("R")

_STATUS: Final = 1 + Current._fields.index("status")
_CURRENT: Final = "SELECT * FROM memoranda.current_version(%s, %s, %s)"
_AS_OF: Final = (
    f"SELECT {PLACED} FROM {JOINED} WHERE v.journal = %s AND v.seq < %s AND v.number ="  # noqa: S608 - ours
    " (SELECT max(w.number) FROM memoranda.versions w"
    " WHERE w.journal = v.journal AND w.id = v.id AND w.seq < %s)"
    " AND (v.status <> 'erased' OR b.body IS NOT NULL) ORDER BY v.since"
)


class PostgresLedger(PostgresSelecting, JournalReader):
    """The journal of one scope and what follows from it.

    Every statement names it, and the database checks it again.
    """

    def __init__(
        self,
        database: str,
        calls: Pool,
        streams: Pool,
        journal: int,
        origin: str,
        units: PostgresUnits,
        merger: PostgresMerger,
        bodies: InShorthand,
        known: KnownScopes,
    ) -> None:
        super().__init__(calls, streams, journal, origin, bodies)
        self._bodies = bodies
        self._known = known
        self._merger = merger
        self.words = words = merger.words
        self._database = database
        self._units = units
        self._reads = PostgresRows(calls, journal, origin, bodies)
        self.find, self.rank = words.find, words.rank
        self.index, self.reindex, self.tidy = words.index, words.reindex, words.tidy
        self.vectors = StoredVectors(self._reads)
        self.attachments = StoredAttachments(self._reads)
        self.origins = StoredOrigins(self._reads)
        self.leases = StoredLeases(self._reads)

    async def commit(self, unit: Unit) -> Committed:
        committed = await self._units.commit(unit)
        self._merger.note(len(committed.places) if committed.fresh else 0)
        return committed

    # ------------------------------------------------------------------------ objects

    async def current(self, id: str, make: Callable[[Current], R]) -> R | None:
        """The newest version of an object, if it is active, made into a value."""
        (row,) = await self._call(_CURRENT, id)
        if row[0] is None or row[_STATUS] != "active":
            return None

        def made() -> R:
            current = self._compared.placed(row)
            self._units.recent.add(self._journal, current)
            return make(current)

        return await off_the_loop(len(row[-1] or b""), made)

    async def as_of(self, size: int) -> AsyncGenerator[Current, None]:
        """The objects as they were when the journal had this many entries, by id."""
        asked = (self._numbered, Int8(size), Int8(size))
        async with aclosing(self._streamed(_AS_OF, asked)) as found:
            async for rows in found:
                for row in rows:
                    yield self._compared.placed(row)

    def read_blocks(self, blocks: Collection[Block]) -> Procedure[Blocks]:
        """Blocks of the tree, as they are stored or as they follow from the entries."""
        levels = Integers(block.level for block in blocks)
        numbers = Integers(block.number for block in blocks)
        return blocks_in((yield PlainStatement(BLOCKS, (*self._named, levels, numbers))))

    async def scrub(self, *, rewrite: bool = False) -> None:
        """With `rewrite`, write the tables anew that held what was erased.

        Without it there is nothing to do: once an erasure has returned, no query, no index and no
        dump shows what was erased.
        """
        self._known.forget()
        self._units.recent.clear()
        if rewrite:
            async with self._calls.connection(writes=True) as connection:
                await rewrite_tables(connection, self._database)

    async def compact(self, after: int, *, dry_run: bool = False) -> Compacted:
        """Nothing is left to do: the server compresses long bodies when they are written."""
        del dry_run
        return Compacted(0, 0, after, is_all=True)

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[LedgerSnapshot, None]:
        """All of the ledger as it is now, on a connection of its own."""
        async with self._streams.transaction(self._begin_stream) as connection:
            yield PostgresSnapshot(connection, self._journal, self._bodies)

    # --------------------------------------------------------------------- statements

    async def _call(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return await self._calls.call(statement, (*self._named, *values))


class PostgresSnapshot:
    """All of one ledger, on a connection inside a transaction."""

    def __init__(self, connection: Connection, journal: int, bodies: BodyCodec) -> None:
        self._unpacking = Unpacking(LenientCodec(bodies), ENTRY.unpack)
        self._connection = connection
        self._journal = journal

    async def head(self) -> Head:
        ((*head,),) = await self._all(HEAD)
        return Head._make(head)

    async def rows(self, table: Table[R]) -> AsyncGenerator[Sequence[R], None]:
        for statement, make, _ in TABLES[table]:
            asked = parameters(statement, self._journal, None, {})
            read = chunks(self._connection, table.name, statement.postgres, asked)
            async with aclosing(read) as found:
                async for some in found:
                    yield make(self._unpacking, some)

    async def index(self) -> Index:
        """How far the word index reaches, whose it is, of how much, and if it can be whole."""
        return index_of(await self._all(INDEX), await self._all(SEGMENTS))

    async def _all(self, statement: Statement) -> list[Any]:
        asked = parameters(statement, self._journal, None, {})
        found = await self._connection.execute(statement.postgres, asked, binary=True)
        return await found.fetchall()
