"""The ledger of one scope in SQLite."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import apsw
import orjson

from recollect.identity.merkle import leaf_hash
from recollect.kernel.errors import StoreFailed, StoreReadOnly, StoreUnavailable
from recollect.ledger.codec import BodyCodec, Leniently
from recollect.ledger.tree import BLOCK, Block, Blocks
from recollect.ledger.unit import (
    REBUILDING,
    Committed,
    Current,
    Head,
    Index,
    Mark,
    Past,
    Snapshot,
    StoredEntry,
    Unit,
    Version,
)
from recollect.recall.asking import Asked as Telling
from recollect.recall.candidates import Scored
from recollect.recall.index import EVERYTHING, Ranking, Within
from recollect.recall.ranking import Mode
from recollect.records.filter import MemoryFilter
from recollect.stores.postings import ChunkDamaged
from recollect.stores.selection import COLUMNS, Dialect, selection
from recollect.stores.shorthand import ENTRY, unpacked
from recollect.stores.sqlite.appending import LEAVES, NODES
from recollect.stores.sqlite.erasing import scrub
from recollect.stores.sqlite.finding import Asked, find
from recollect.stores.sqlite.marks import ENTRIES_AT, MARKED, NAMES, OUTPUTS
from recollect.stores.sqlite.merging import Merger, merge
from recollect.stores.sqlite.origins import SqliteOrigins
from recollect.stores.sqlite.places import SEQ_BITS, place
from recollect.stores.sqlite.ranking import Question, rank
from recollect.stores.sqlite.reader import Parameters, Reader
from recollect.stores.sqlite.segments import merge_some
from recollect.stores.sqlite.sessions import SqliteBeside
from recollect.stores.sqlite.snapshot import (
    ENTRIES,
    HEAD,
    MemorySnapshot,
    SqliteSnapshot,
    stored_entry,
)
from recollect.stores.sqlite.units import JOINED, NEWEST, Job, current
from recollect.stores.sqlite.vectors import SqliteVectors
from recollect.stores.sqlite.words import INDEX, clear, index_in
from recollect.stores.words import BATCH, SEARCHED
from recollect.text import Query

A = TypeVar("A")
R = TypeVar("R")

DIALECT: Final = Dialect(
    id_in_list="v.id IN (SELECT value FROM json_each(?))",
    list_parameter=lambda ids: orjson.dumps(ids).decode(),  # noqa: TID251 - a parameter
    no_limit=-1,
    joined=JOINED,
)
_VERSIONS: Final = (
    "SELECT v.id, v.number, v.status, v.created_at, v.updated_at, v.valid_from, v.valid_to,"  # noqa: S608 - ours
    " v.expires_at, v.subject, v.seq, e.entry, b.body FROM versions v"
    f" JOIN entries e ON e.place = (v.journal << {SEQ_BITS} | v.seq)"
    " LEFT JOIN bodies b ON b.place = e.place WHERE v.journal = ? AND v.id = ? ORDER BY v.number"
)
_AS_OF: Final = (
    f"SELECT {COLUMNS} FROM {JOINED} WHERE v.journal = ?1 AND v.seq < ?2 AND v.number ="  # noqa: S608 - ours
    " (SELECT max(w.number) FROM versions w WHERE w.journal = ?1 AND w.id = v.id AND w.seq < ?2)"
    " ORDER BY v.id"
)
_NOTICES: Final = (
    "SELECT e.place, e.entry, b.salt, b.body FROM notices n JOIN entries e ON e.place = n.place"
    " LEFT JOIN bodies b ON b.place = e.place WHERE n.place >= ? AND n.place < ? ORDER BY n.place"
)
_KEEP_NOTE: Final = """
INSERT INTO checkpoints (journal, size, note, at) VALUES (?, ?, ?, ?)
ON CONFLICT (journal, size) DO UPDATE SET note = excluded.note, at = excluded.at
"""
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


class Database(Protocol):
    """What a ledger needs of its database."""

    @property
    def reader(self) -> Reader | None:
        """The readers; None in memory."""
        ...

    @property
    def path(self) -> str:
        """Where it is."""
        ...

    @property
    def connect(self) -> Callable[[], apsw.Connection] | None:
        """Makes a further connection; None in memory."""
        ...

    @property
    def bodies(self) -> BodyCodec:
        """How bodies are stored."""
        ...

    @property
    def merger(self) -> Merger:
        """Brings the index of words forward."""
        ...

    async def read(self, work: Callable[[apsw.Connection], R]) -> R:
        """Several reads that all see the same moment."""
        ...

    async def write(self, work: Callable[[apsw.Connection], R]) -> R:
        """Run one unit of work in a transaction."""
        ...

    async def write_joined(
        self, work: Callable[[apsw.Connection, Sequence[A]], Sequence[R]], argument: A
    ) -> R:
        """Run one unit of work together with others of the same kind."""
        ...

    async def rows(self, sql: str, parameters: Parameters, make: Callable[[Any], R]) -> list[R]:
        """The rows of a SELECT, each made into a value."""
        ...


class SqliteLedger:
    """The journal of one scope and what follows from it; every statement names it."""

    def __init__(self, database: Database, journal: int) -> None:
        self._database = database
        self._journal = journal
        self._current = partial(current, database.bodies)
        self.vectors = SqliteVectors(database, journal)
        self.beside = SqliteBeside(database, journal)
        self.origins = SqliteOrigins(database, journal)

    def commit(self, unit: Unit) -> Coroutine[Any, Any, Committed]:
        """Run a unit in one transaction, which other units may share."""
        return self._database.write_joined(self._database.merger.commit, Job(self._journal, unit))

    # ------------------------------------------------------------------------ objects

    async def current(self, id: str, make: Callable[[Current], R]) -> R | None:
        """The newest version of an object, if it is active, made into a value."""
        parameters = (self._journal, id)
        reader = self._database.reader
        found = None if reader is None else reader.at_once(NEWEST, parameters)
        if found is None:
            versions = await self._database.rows(NEWEST, parameters, self._current)
        else:
            versions = [self._current(row) for row in found]
        return make(versions[0]) if versions and versions[0].status == "active" else None

    async def versions(self, id: str) -> list[Past]:
        """Every version of an object, the first one first."""
        make = partial(_past, self._database.bodies)
        return await self._database.rows(_VERSIONS, (self._journal, id), make)

    async def as_of(self, size: int) -> AsyncGenerator[Current, None]:
        """The objects as they were when the journal had this many entries, by id."""
        async with aclosing(self._streamed(_AS_OF, (self._journal, size))) as rows:
            async for row in rows:
                yield self._current(row)

    async def select(self, filter: MemoryFilter, make: Callable[[Current], R]) -> list[R]:
        """The active objects that a filter asks for, each made into a value where it was read."""
        chosen = selection(filter, self._journal, DIALECT)
        if chosen is None:
            return []
        return await self._database.rows(
            chosen.sql, chosen.parameters, lambda row: make(self._current(row))
        )

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[Current, None]:
        """The same, as they are when the stream starts, a few at a time."""
        chosen = selection(filter, self._journal, DIALECT)
        if chosen is None:
            return
        async with aclosing(self._streamed(chosen.sql, chosen.parameters)) as rows:
            async for row in rows:
                yield self._current(row)

    # -------------------------------------------------------------------------- words

    async def find(
        self, query: Query, make: Callable[[Current], R | None], *, every: bool, limit: int | None
    ) -> list[R]:
        """The active objects that have the words of a query, newest first, ties by id.

        Where too much is not in the index yet, it is brought forward first.
        """
        asked = Asked(query, every, make, limit, self._database.bodies)
        words = self._database.merger.words
        return await self._searched(lambda c: find(c, self._journal, words, asked))

    async def rank(
        self,
        mode: Mode,
        asked: Telling,
        make: Callable[[Current, Scored], R | None],
        *,
        limit: int,
        below: int = 0,
        within: Within = EVERYTHING,
    ) -> Ranking[R]:
        """The active objects that have anything of what is asked for, the best first."""
        question = Question(mode, asked, make, limit, below, within, self._database.bodies)
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
            why = f"its index of words is damaged ({damaged}); run `recollect reindex`"
            raise StoreFailed(self._database.path, why) from None
        return found

    async def index(self) -> Index:
        """How far the word index reaches, and whose it is."""
        return (await self._database.rows(INDEX, (self._journal,), index_in))[0]

    async def tail(self) -> int:
        """How many entries are not in the word index."""
        return int((await self._database.rows(_TAIL, (self._journal,), _first))[0])

    async def reindex(self) -> None:
        """Make the word index anew, in steps."""

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
        """Bring the index forward by a batch, then merge what segments are due."""
        bring = partial(merge, entries=entries, rebuilding=rebuilding)
        words = self._database.merger.words
        left = await self._database.write(lambda c: bring(c, self._journal, words))
        while await self._database.write(lambda connection: merge_some(connection, self._journal)):
            pass
        return left

    # ------------------------------------------------------------------------ journal

    async def head(self) -> Head:
        """The end of the journal."""
        return (await self._database.rows(HEAD, (self._journal,), Head._make))[0]

    async def entry(self, seq: int) -> StoredEntry | None:
        """One entry by its number."""
        where = place(self._journal, seq)
        make = partial(stored_entry, Leniently(self._database.bodies))
        found = await self._database.rows(ENTRIES, (where, where + 1), make)
        return found[0] if found else None

    async def entries_at(self, seqs: Sequence[int]) -> list[StoredEntry]:
        """These entries, by number; those that are not there are left out."""
        places = orjson.dumps([place(self._journal, seq) for seq in seqs])  # noqa: TID251 - a parameter
        make = partial(stored_entry, self._database.bodies)
        return await self._database.rows(ENTRIES_AT, (places.decode(),), make)

    # -------------------------------------------------------------------------- facts

    async def marked(
        self, name: str, *, after: int = -1, limit: int | None = None, newest_first: bool = False
    ) -> list[StoredEntry]:
        """The entries that are found by a name, by number; with `newest_first` backwards."""
        sql = _NEWEST_FIRST if newest_first else _OLDEST_FIRST
        asked = (self._journal, name, after, -1 if limit is None else limit)
        make = partial(stored_entry, self._database.bodies)
        return await self._database.rows(sql, asked, make)

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
        places = (place(self._journal, 0), place(self._journal + 1, 0))
        make = partial(stored_entry, self._database.bodies)
        return await self._database.rows(_NOTICES, places, make)

    async def hashes(self, blocks: Collection[Block]) -> Blocks:
        """Blocks of the tree, as they are stored or as they follow from the entries."""
        return {block: await self._hashes(block) for block in blocks}

    async def _hashes(self, block: Block) -> list[bytes]:
        start, end = block.number * BLOCK, (block.number + 1) * BLOCK
        if block.level == 0:
            places = (place(self._journal, start), place(self._journal, end))
            return await self._database.rows(
                LEAVES, places, lambda row: leaf_hash(unpacked(row[0], ENTRY))
            )
        parameters = (self._journal, block.level, start, end)
        return await self._database.rows(NODES, parameters, lambda row: bytes(row[0]))

    async def keep_note(self, size: int, note: str, at: int) -> None:
        """Keep a checkpoint's note; one of the same size is replaced."""
        row = (self._journal, size, note, at)
        await self._database.write(lambda c: c.execute(_KEEP_NOTE, row).fetchall())

    async def notes(self, limit: int | None = None) -> list[str]:
        """The notes that are kept, the largest size first; at most so many."""
        asked = (self._journal, -1 if limit is None else limit)
        return await self._database.rows(_NOTES, asked, lambda row: str(row[0]))

    async def scrub(self, *, rewrite: bool = False) -> None:
        """See that what was erased is in no byte of the file; in memory there is none."""
        self._database.merger.words.clear()
        connect = self._database.connect
        if connect is not None:
            await asyncio.to_thread(scrub, connect, self._database.path, rewrite=rewrite)

    def snapshot(self) -> AbstractAsyncContextManager[Snapshot]:
        """All of the ledger as it is now."""
        connect = self._database.connect
        if connect is None:
            return MemorySnapshot(self._database.write, self._journal, self._database.bodies)
        return SqliteSnapshot(connect, self._journal, self._database.path, self._database.bodies)

    async def _streamed(self, sql: str, parameters: Parameters) -> AsyncGenerator[Any, None]:
        reader = self._database.reader
        if reader is None:
            # In memory there is one connection, which a stream must not hold.
            for row in await self._database.rows(sql, parameters, _itself):
                yield row
            return
        async with aclosing(reader.stream(sql, parameters)) as rows:
            async for row in rows:
                yield row


def _mark(row: Any) -> Mark:
    seq, name = row
    return Mark(name, seq)


def _first(row: Any) -> Any:
    return row[0]


def _itself(row: Any) -> Any:
    return row


def _past(bodies: BodyCodec, row: Any) -> Past:
    *version, seq, entry, body = row
    content = None if body is None else bodies.unpack(body)
    return Past(Version._make(version), seq, unpacked(entry, ENTRY), content)
