"""The ledger of one scope in PostgreSQL."""

from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, TypeVar

from psycopg.types.numeric import Int8

from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.snapshot import Index, LedgerSnapshot
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import Committed, Current, Head, Mark, Past, StoredEntry, Unit
from memoranda.recall.bm25 import Scored
from memoranda.recall.index import EVERYTHING, Ranking
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import RankingMode
from memoranda.records.filter import MemoryFilter
from memoranda.stores.postgres.arrays import Integers
from memoranda.stores.postgres.erase import rewrite_tables
from memoranda.stores.postgres.off_loop import off_the_loop
from memoranda.stores.postgres.origins import PostgresOrigins
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.select import PostgresSelecting
from memoranda.stores.postgres.sessions import PostgresAttachments
from memoranda.stores.postgres.snapshot import PostgresSnapshot
from memoranda.stores.postgres.units import BLOCKS, JOINED, PostgresUnits, blocks_in
from memoranda.stores.postgres.vectors import PostgresVectors
from memoranda.stores.postgres.words import PostgresWordIndex
from memoranda.stores.selection import PLACED
from memoranda.text import Query

R = TypeVar("R")

_STATUS: Final = 1 + Current._fields.index("status")
_CURRENT: Final = "SELECT * FROM memoranda.current_version(%s, %s, %s)"
_VERSIONS: Final = "SELECT * FROM memoranda.versions_of(%s, %s, %s)"
_NOTICES: Final = "SELECT * FROM memoranda.notices_of(%s, %s)"
_COUNT_ACTIVE: Final = "SELECT memoranda.count_active(%s, %s, %s)"
_NOTES: Final = "SELECT memoranda.notes_of(%s, %s) LIMIT %s"
_HEAD: Final = "SELECT origin, size, head FROM memoranda.head_of(%s, %s)"
_BYTES_AT: Final = "SELECT seq, entry FROM memoranda.bytes_at(%s, %s, %s)"
_ENTRIES_AT: Final = "SELECT * FROM memoranda.entries_at(%s, %s, %s)"
_MARKED: Final = "SELECT * FROM memoranda.marked(%s, %s, %s, %s, %s, %s)"
_MARKS: Final = "SELECT name, seq FROM memoranda.marks_with(%s, %s, %s, %s, %s)"
_OUTPUTS: Final = "SELECT memoranda.outputs_of(%s, %s, %s)"
_AS_OF: Final = (
    f"SELECT {PLACED} FROM {JOINED} WHERE v.journal = %s AND v.seq < %s AND v.number ="  # noqa: S608 - ours
    " (SELECT max(w.number) FROM memoranda.versions w"
    " WHERE w.journal = v.journal AND w.id = v.id AND w.seq < %s)"
    " AND (v.status <> 'erased' OR b.body IS NOT NULL) ORDER BY v.since"
)


class PostgresLedger(PostgresSelecting):
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
        words: PostgresWordIndex,
        bodies: BodyCodec,
    ) -> None:
        super().__init__(calls, streams, journal, origin, bodies)
        self._bodies = bodies
        self._words = words
        self._database = database
        self._units = units
        self.vectors = PostgresVectors(calls, journal, origin, bodies)
        self.attachments = PostgresAttachments(calls, journal, origin, bodies)
        self.origins = PostgresOrigins(calls, journal, origin, bodies)

    async def commit(self, unit: Unit) -> Committed:
        committed = await self._units.commit(unit)
        self._words.note(len(committed.places) if committed.fresh else 0)
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

    async def versions(self, id: str) -> list[Past]:
        """Every version of an object, the first one first."""
        rows = await self._call(_VERSIONS, id)
        return [self._compared.past(row) for row in rows]

    async def as_of(self, size: int) -> AsyncGenerator[Current, None]:
        """The objects as they were when the journal had this many entries, by id."""
        asked = (self._numbered, Int8(size), Int8(size))
        async with aclosing(self._streamed(_AS_OF, asked)) as found:
            async for rows in found:
                for row in rows:
                    yield self._compared.placed(row)

    # -------------------------------------------------------------------------- words

    async def find(
        self,
        query: Query,
        make: Callable[[Current], R | None],
        *,
        every: bool,
        limit: int | None,
        after: tuple[int, int] | None = None,
    ) -> list[R]:
        """The active objects that have the words of a query, newest first."""
        return await self._words.find(query, make, every=every, limit=limit, after=after)

    async def rank(
        self,
        mode: RankingMode,
        asked: ParsedQuestion,
        make: Callable[[Current, Scored], R | None],
        *,
        limit: int,
        below: int = 0,
        within: MemoryFilter = EVERYTHING,
        damaged: list[EntryDamaged] | None = None,
    ) -> Ranking[R]:
        """The active objects that have anything of what is asked for, the best first."""
        return await self._words.rank(
            mode, asked, make, limit=limit, below=below, within=within, damaged=damaged
        )

    async def index(self) -> Index:
        """How far the word index reaches, whose it is, and of how much."""
        return await self._words.index()

    async def reindex(self) -> None:
        await self._words.reindex()

    async def active(self, at_most: int) -> int:
        """How many objects are active; counted up to a number."""
        ((count,),) = await self._call(_COUNT_ACTIVE, Int8(at_most))
        return int(count)

    # ------------------------------------------------------------------------ journal

    async def head(self) -> Head:
        (row,) = await self._call(_HEAD)
        return Head._make(row)

    async def bytes_at(self, seqs: Collection[int]) -> dict[int, bytes]:
        """The bytes of these entries, by number; those that are not there are left out."""
        rows = await self._call(_BYTES_AT, Integers(sorted(set(seqs))))
        return {row[0]: row[1] for row in rows}

    async def entries_at(self, seqs: Collection[int]) -> list[StoredEntry]:
        """These entries with their bodies, by number; those that are not there are left out."""
        rows = await self._call(_ENTRIES_AT, Integers(sorted(set(seqs))))
        return [self._compared.entry(row) for row in rows]

    # -------------------------------------------------------------------------- facts

    async def marked(
        self, name: str, *, after: int = -1, limit: int | None = None, newest_first: bool = False
    ) -> list[StoredEntry]:
        """The entries that are found by a name, by number; with `newest_first` backwards."""
        asked = (name, Int8(after), _limit(limit), newest_first)
        return [self._compared.marked(row) for row in await self._call(_MARKED, *asked)]

    async def marks(self, prefix: str, *, after: str = "", limit: int | None = None) -> list[Mark]:
        """The names that begin so, by name, each with its newest entry."""
        found = await self._call(_MARKS, prefix, after, _limit(limit))
        return [Mark._make(row) for row in found]

    async def outputs(self, input: str) -> list[str]:
        """What was made from an object or a fact: ids and names, in their order."""
        return [str(output) for (output,) in await self._call(_OUTPUTS, input)]

    async def notices(self) -> list[StoredEntry]:
        """The entries about the memory as a whole, the first one first."""
        return [self._compared.notice(row) for row in await self._call(_NOTICES)]

    async def hashes(self, blocks: Collection[Block]) -> Blocks:
        """Blocks of the tree, as they are stored or as they follow from the entries."""
        asked = (
            Integers(block.level for block in blocks),
            Integers(block.number for block in blocks),
        )
        return blocks_in(await self._call(BLOCKS, *asked))

    async def notes(self, limit: int | None = None) -> list[str]:
        """The notes that are kept, the largest size first; at most so many."""
        return [str(note) for (note,) in await self._call(_NOTES, _limit(limit))]

    async def scrub(self, *, rewrite: bool = False) -> None:
        """With `rewrite`, write the tables anew that held what was erased.

        Without it there is nothing to do: once an erasure has returned, no query, no index and no
        dump shows what was erased.
        """
        self._words.forget()
        self._units.recent.clear()
        if rewrite:
            async with self._calls.connection(writes=True) as connection:
                await rewrite_tables(connection, self._database)

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[LedgerSnapshot, None]:
        """All of the ledger as it is now, on a connection of its own."""
        async with self._streams.transaction(self._begin_stream) as connection:
            yield PostgresSnapshot(connection, self._journal, self._bodies)

    # --------------------------------------------------------------------- statements

    async def _call(
        self, statement: str, *values: object, writes: bool = False
    ) -> list[tuple[Any, ...]]:
        async with self._calls.connection(writes=writes) as connection:
            named = (*self._named, *values)
            found = await connection.execute(statement, named, prepare=True, binary=True)
            return await found.fetchall()


def _limit(limit: int | None) -> Int8 | None:
    return None if limit is None else Int8(limit)
