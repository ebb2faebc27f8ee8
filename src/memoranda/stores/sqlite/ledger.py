"""The ledger of one scope in SQLite."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import apsw
import orjson

from memoranda.kernel.errors import EntryDamaged, StoreFailed, StoreReadOnly, StoreUnavailable
from memoranda.ledger.snapshot import REBUILDING, Index, LedgerSnapshot
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import Committed, Current, Head, Mark, Past, StoredEntry, Unit
from memoranda.recall.bm25 import Scored
from memoranda.recall.index import EVERYTHING, Ranking
from memoranda.recall.question import ParsedQuestion
from memoranda.recall.ranking import RankingMode
from memoranda.records.filter import MemoryFilter
from memoranda.stores.postings import ChunkDamaged
from memoranda.stores.selection import COLUMNS, PLACED
from memoranda.stores.shorthand import ENTRY, unpacked
from memoranda.stores.sqlite.connection import SEQ, place
from memoranda.stores.sqlite.erase import scrub
from memoranda.stores.sqlite.finding import BEFORE_ALL, SqliteWordSearch, find
from memoranda.stores.sqlite.heads import block_read
from memoranda.stores.sqlite.marks import BYTES_AT, ENTRIES_AT, MARKED, NAMES, OUTPUTS
from memoranda.stores.sqlite.merging import Merger, merge
from memoranda.stores.sqlite.origins import SqliteOrigins
from memoranda.stores.sqlite.ranking import SqliteQuestion, rank
from memoranda.stores.sqlite.reader import OpenDatabase
from memoranda.stores.sqlite.segments import merge_some
from memoranda.stores.sqlite.select import SqliteSelecting
from memoranda.stores.sqlite.sessions import SqliteAttachments
from memoranda.stores.sqlite.snapshot import HEAD, SqliteSnapshot
from memoranda.stores.sqlite.units import JOINED, NEWEST, JournalUnit, SqliteUnits
from memoranda.stores.sqlite.vectors import SqliteVectors
from memoranda.stores.sqlite.words import INDEX, clear, index_in
from memoranda.stores.words import BATCH, SEARCHED
from memoranda.text import Query

A = TypeVar("A")
R = TypeVar("R")

_STATUS: Final = Current._fields.index("status")
_VERSIONS: Final = (
    f"SELECT {COLUMNS} FROM {JOINED} WHERE v.journal = ? AND v.id = ? ORDER BY v.number"  # noqa: S608 - ours
)
_AS_OF: Final = (
    f"SELECT {PLACED} FROM {JOINED} WHERE v.journal = ?1 AND v.seq < ?2 AND v.number ="  # noqa: S608 - ours
    " (SELECT max(w.number) FROM versions w WHERE w.journal = ?1 AND w.id = v.id AND w.seq < ?2)"
    " AND (v.status <> 'erased' OR b.body IS NOT NULL) ORDER BY v.since"
)
_NOTICES: Final = (
    f"SELECT e.place & {SEQ}, e.entry, b.salt, b.body"  # noqa: S608 - ours
    " FROM entries e LEFT JOIN bodies b ON b.place = e.place"
    " WHERE (e.place >> 40) = ? AND (substr(e.entry, 1, 1) IN (x'05', x'06', x'08')"
    " OR instr(e.entry, x'226b696e64223a22706f6c6963795f6368616e676522') > 0"
    " OR instr(e.entry, x'226b696e64223a22636f6e666f726d616e63655f627265616b22') > 0"
    " OR instr(e.entry, x'226b696e64223a226d61696e74656e616e636522') > 0) ORDER BY e.place"
)
"""By the same words as the index `notices`, which would else not be used."""
_REBUILD: Final = "UPDATE journals SET tokenizer = ? WHERE number = ?"
_TAIL: Final = "SELECT size - indexed, '' FROM journals WHERE number = ?"
_ACTIVE: Final = (
    "SELECT count(*), '' FROM (SELECT 1 FROM versions"
    " WHERE journal = ? AND is_newest AND status = 'active' LIMIT ?)"
)
_OLDEST_FIRST: Final = MARKED.format(order="ASC")
_NEWEST_FIRST: Final = MARKED.format(order="DESC")
_AFTER_ALL: Final = "\U0010ffff" * 600
"""More of the last character than a name can have: those that begin so stand before it."""
_NOTES: Final = "SELECT note FROM checkpoints WHERE journal = ? ORDER BY size DESC LIMIT ?"


class JournalDatabase(OpenDatabase, Protocol):
    """What a ledger needs of its database."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    @property
    def connect(self) -> Callable[[], apsw.Connection]:
        """Makes a further connection."""
        ...

    @property
    def merger(self) -> Merger:
        """Brings the index of words forward."""
        ...

    @property
    def units(self) -> SqliteUnits:
        """Runs units of work."""
        ...

    def check_writable(self) -> None:
        """Refuse with StoreReadOnly if it was opened only to be read."""
        ...

    async def write_joined(
        self, work: Callable[[apsw.Connection, Sequence[A]], Sequence[R]], argument: A
    ) -> R:
        """Run one unit of work together with others of the same kind."""
        ...


class SqliteLedger(SqliteSelecting):
    """The journal of one scope and what follows from it; every statement names it."""

    def __init__(self, database: JournalDatabase, journal: int) -> None:
        super().__init__(database, journal)
        self._database = database
        self.vectors = SqliteVectors(database, journal)
        self.attachments = SqliteAttachments(database, journal)
        self.origins = SqliteOrigins(database, journal)

    def commit(self, unit: Unit) -> Coroutine[Any, Any, Committed]:
        """Run a unit in one transaction, which other units may share."""
        units, job = self._database.units, JournalUnit(self._journal, unit)
        if unit.is_dry:
            return self._database.read(lambda connection: units.look(connection, job))
        return self._database.write_joined(units.commit, job)

    # ------------------------------------------------------------------------ objects

    async def current(self, id: str, make: Callable[[Current], R]) -> R | None:
        """The newest version of an object, if it is active, made into a value."""
        versions = await self._database.rows(NEWEST, (self._journal, id), self._active)
        return make(versions[0]) if versions and versions[0] is not None else None

    def _active(self, row: Any) -> Current | None:
        return self._compared.current(row) if row[_STATUS] == "active" else None

    async def versions(self, id: str) -> list[Past]:
        """Every version of an object, the first one first."""
        return await self._database.rows(_VERSIONS, (self._journal, id), self._compared.past)

    async def as_of(self, size: int) -> AsyncGenerator[Current, None]:
        """The objects as they were when the journal had this many entries, in its order."""
        async with aclosing(self._database.stream(_AS_OF, (self._journal, size))) as rows:
            async for row in rows:
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
        """The active objects that have the words of a query, newest first.

        Where too much is not in the index yet, it is brought forward first.
        """
        asked = SqliteWordSearch(query, every, make, limit, self._compared, after or BEFORE_ALL)
        words = self._database.merger.words
        return await self._searched(lambda c: find(c, self._journal, words, asked))

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
        question = SqliteQuestion(mode, asked, make, limit, below, within, self._compared, damaged)
        words = self._database.merger.words
        return await self._searched(lambda c: rank(c, self._journal, words, question))

    async def _searched(self, search: Callable[[apsw.Connection], R | None]) -> R:
        """What a search finds; where much is not in the index yet, some of it is merged first."""
        try:
            if not (await self.index()).is_stale and await self.tail() > SEARCHED:
                with suppress(StoreReadOnly, StoreUnavailable):  # then all of it is read
                    await self._merge()
            while (found := await self._database.read(search)) is None:
                await self._merge()
        except ChunkDamaged as damaged:
            why = f"its index of words is damaged ({damaged}); run `memoranda reindex`"
            raise StoreFailed(self._database.name, why) from None
        return found

    async def index(self) -> Index:
        """How far the word index reaches, and whose it is."""
        return (await self._database.rows(INDEX, (self._journal,), index_in))[0]

    async def tail(self) -> int:
        """How many entries are not in the word index."""
        return int((await self._database.rows(_TAIL, (self._journal,), _first))[0])

    async def reindex(self) -> None:
        def begin(connection: apsw.Connection) -> None:
            clear(connection, self._journal)
            connection.execute(_REBUILD, (REBUILDING, self._journal))

        await self._database.write(begin)
        while await self._merge(rebuilding=True):
            pass

    async def active(self, at_most: int) -> int:
        """How many objects are active; counted up to a number."""
        counted = await self._database.rows(_ACTIVE, (self._journal, at_most), _first)
        return int(counted[0])

    async def _merge(self, *, entries: int = BATCH, rebuilding: bool = False) -> int:
        bring = partial(merge, entries=entries, rebuilding=rebuilding)
        words = self._database.merger.words
        left = await self._database.write(lambda c: bring(c, self._journal, words))
        while await self._database.write(lambda connection: merge_some(connection, self._journal)):
            pass
        return left

    # ------------------------------------------------------------------------ journal

    async def head(self) -> Head:
        return (await self._database.rows(HEAD, (self._journal,), Head._make))[0]

    async def bytes_at(self, seqs: Collection[int]) -> dict[int, bytes]:
        """The bytes of these entries, by number; those that are not there are left out."""

        def make(row: Any) -> tuple[int, bytes]:
            return row[0], unpacked(row[1], ENTRY)

        return dict(await self._database.rows(BYTES_AT, (self._places(seqs),), make))

    async def entries_at(self, seqs: Collection[int]) -> list[StoredEntry]:
        """These entries with their bodies, by number; those that are not there are left out."""
        asked = (self._places(seqs),)
        return await self._database.rows(ENTRIES_AT, asked, self._compared.entry)

    def _places(self, seqs: Collection[int]) -> str:
        return orjson.dumps([place(self._journal, seq) for seq in seqs]).decode()  # noqa: TID251 - a parameter

    # -------------------------------------------------------------------------- facts

    async def marked(
        self, name: str, *, after: int = -1, limit: int | None = None, newest_first: bool = False
    ) -> list[StoredEntry]:
        """The entries that are found by a name, by number; with `newest_first` backwards."""
        sql = _NEWEST_FIRST if newest_first else _OLDEST_FIRST
        asked = (self._journal, name, after, -1 if limit is None else limit)
        return await self._database.rows(sql, asked, self._compared.marked)

    async def marks(self, prefix: str, *, after: str = "", limit: int | None = None) -> list[Mark]:
        """The names that begin so, by name, each with its newest entry."""
        most = -1 if limit is None else limit
        asked = (self._journal, after, prefix, prefix + _AFTER_ALL, most)
        return await self._database.rows(NAMES, asked, lambda row: Mark(row[1], row[0]))

    async def outputs(self, input: str) -> list[str]:
        """What was made from an object or a fact: ids and names, in their order."""
        return await self._database.rows(OUTPUTS, (self._journal, input), _first)

    async def notices(self) -> list[StoredEntry]:
        """The entries about the memory as a whole, the first one first."""
        return await self._database.rows(_NOTICES, (self._journal,), self._compared.notice)

    async def hashes(self, blocks: Collection[Block]) -> Blocks:
        """Blocks of the tree, as they are stored or as they follow from the entries."""
        reads = {block: block_read(self._journal, block) for block in blocks}
        return {block: await self._database.rows(*read) for block, read in reads.items()}

    async def notes(self, limit: int | None = None) -> list[str]:
        """The notes that are kept, the largest size first; at most so many."""
        asked = (self._journal, -1 if limit is None else limit)
        return await self._database.rows(_NOTES, asked, lambda row: str(row[0]))

    async def scrub(self, *, rewrite: bool = False) -> None:
        """See that what was erased is in no byte of the file."""
        database = self._database
        database.check_writable()
        database.merger.words.clear()
        await asyncio.to_thread(scrub, database.connect, database.name, rewrite=rewrite)

    def snapshot(self) -> AbstractAsyncContextManager[LedgerSnapshot]:
        database = self._database
        return SqliteSnapshot(database.connect, self._journal, database.name, database.bodies)


def _first(row: Any) -> Any:
    return row[0]
