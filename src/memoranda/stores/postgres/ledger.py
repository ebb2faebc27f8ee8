"""The ledger of one scope in PostgreSQL."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final, TypeVar

from psycopg import sql
from psycopg.types.numeric import Int8

from memoranda.kernel.errors import EntryDamaged
from memoranda.kernel.json import MAX_INTEGER, storable
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.tree import Block, Blocks
from memoranda.ledger.unit import (
    Committed,
    Current,
    Head,
    Index,
    Mark,
    Past,
    Snapshot,
    StoredEntry,
    Unit,
)
from memoranda.recall.asking import Asked
from memoranda.recall.candidates import Scored
from memoranda.recall.index import EVERYTHING, Ranking, Within
from memoranda.recall.ranking import Mode
from memoranda.records.filter import MemoryFilter
from memoranda.stores.postgres.appending import hashes_in
from memoranda.stores.postgres.arrays import Integers, Texts
from memoranda.stores.postgres.beside import beside_the_loop
from memoranda.stores.postgres.erasing import rewrite_tables
from memoranda.stores.postgres.origins import PostgresOrigins
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.sessions import PostgresBeside
from memoranda.stores.postgres.snapshot import ROWS_AT_ONCE, PostgresSnapshot, chunks
from memoranda.stores.postgres.units import JOINED, Units, compared
from memoranda.stores.postgres.vectors import PostgresVectors
from memoranda.stores.postgres.words import WordIndex
from memoranda.stores.selection import COLUMNS, Dialect, Selection, fitting, selection
from memoranda.text import Query

R = TypeVar("R")

DIALECT: Final = Dialect(
    id_in_list="v.id = ANY (?)",
    list_parameter=Texts,
    no_limit=None,
    joined=JOINED,
    schema="memoranda.",
    tag="memoranda.tag_key(?)",
    whole_tag="coalesce(x.whole, x.tag)",
)

_STATUS: Final = Current._fields.index("status")
_CURRENT: Final = "SELECT * FROM memoranda.current_version(%s, %s, %s)"
_VERSIONS: Final = "SELECT * FROM memoranda.versions_of(%s, %s, %s)"
_NEWEST: Final = "SELECT * FROM memoranda.newest_active(%s, %s, %s, %s, %s, %s, %s)"
_NOTICES: Final = "SELECT * FROM memoranda.notices_of(%s, %s)"
_COUNT_ACTIVE: Final = "SELECT memoranda.count_active(%s, %s, %s)"
_BLOCKS: Final = "SELECT level, number, hashes FROM memoranda.blocks(%s, %s, %s, %s)"
_KEEP_NOTE: Final = "SELECT memoranda.keep_note(%s, %s, %s, %s, %s)"
_NOTES: Final = "SELECT memoranda.notes_of(%s, %s) LIMIT %s"
_HEAD: Final = "SELECT origin, size, head FROM memoranda.head_of(%s, %s)"
_BYTES_AT: Final = "SELECT seq, entry FROM memoranda.bytes_at(%s, %s, %s)"
_ENTRIES_AT: Final = "SELECT * FROM memoranda.entries_at(%s, %s, %s)"
_MARKED: Final = "SELECT * FROM memoranda.marked(%s, %s, %s, %s, %s, %s)"
_MARKS: Final = "SELECT name, seq FROM memoranda.marks_with(%s, %s, %s, %s, %s)"
_OUTPUTS: Final = "SELECT memoranda.outputs_of(%s, %s, %s)"
_AS_OF: Final = (
    f"SELECT {COLUMNS} FROM {JOINED} WHERE v.journal = %s AND v.seq < %s AND v.number ="  # noqa: S608 - ours
    " (SELECT max(w.number) FROM memoranda.versions w"
    " WHERE w.journal = v.journal AND w.id = v.id AND w.seq < %s)"
    " AND (v.status <> 'erased' OR b.body IS NOT NULL) ORDER BY v.since"
)
# Both in one trip: two statements without parameters. The scope is quoted by psycopg.
_BEGIN_QUERY: Final = sql.SQL("BEGIN READ ONLY; SELECT memoranda.enter({}, {})")
_BEGIN_STREAM: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT memoranda.enter({}, {})"
)


class PostgresLedger:
    """The journal of one scope and what follows from it.

    Every statement names it, and the database checks it again.
    """

    def __init__(
        self,
        database: str,
        calls: Pool,
        streams: Pool,
        scope: str,
        journal: int,
        units: Units,
        words: WordIndex,
        bodies: BodyCodec,
    ) -> None:
        self._bodies = bodies
        self._compared = compared(bodies)
        self._words = words
        self._database = database
        self._calls = calls
        self._streams = streams
        self._journal = journal
        self._numbered = Int8(journal)
        self._named = (scope, self._numbered)
        self._units = units
        self.vectors = PostgresVectors(calls, scope, journal, bodies)
        self.beside = PostgresBeside(calls, scope, journal, bodies)
        self.origins = PostgresOrigins(calls, scope, journal, bodies)
        self._begin_query = _BEGIN_QUERY.format(scope, journal).as_bytes()
        self._begin_stream = _BEGIN_STREAM.format(scope, journal).as_bytes()

    async def commit(self, unit: Unit) -> Committed:
        """Run a unit in one transaction."""
        committed = await self._units.commit(unit)
        self._words.note(len(committed.places) if committed.fresh else 0)
        return committed

    # ------------------------------------------------------------------------ objects

    async def current(self, id: str, make: Callable[[Current], R]) -> R | None:
        """The newest version of an object, if it is active, made into a value."""
        (row,) = await self._call(_CURRENT, id)
        if row[0] is None or row[_STATUS] != "active":
            return None
        size = len(row[-1] or b"")
        return await beside_the_loop(size, lambda: make(self._compared.current(row)))

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
                    yield self._compared.current(row)

    async def select(
        self,
        filter: MemoryFilter,
        make: Callable[[Current], R],
        damaged: list[EntryDamaged] | None = None,
    ) -> list[R]:
        """What the filter asks for; other tasks get their turn while many rows are made."""
        if filter.conditions:
            async with aclosing(self.stream(filter)) as fit:
                return [make(current) async for current in fit]
        newest = _newest(filter)
        if newest is not None:
            async with self._calls.connection() as connection:
                values = (*self._named, *newest)
                found = await connection.execute(_NEWEST, values, prepare=True, binary=True)
        else:
            chosen = selection(filter, self._journal, DIALECT)
            if chosen is None:
                return []
            async with self._calls.transaction(self._begin_query) as connection:
                found = await connection.execute(*_for_psycopg(chosen), prepare=True, binary=True)
        made: list[R] = []
        while rows := await found.fetchmany(ROWS_AT_ONCE):
            made += await self._made(rows, make, damaged)
            if len(rows) == ROWS_AT_ONCE:
                await asyncio.sleep(0)
        return made

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[Current, None]:
        """The same, as they are when the stream starts, a few at a time."""
        chosen = selection(filter, self._journal, DIALECT)
        if chosen is None:
            return
        async with aclosing(fitting(filter, self._currents(chosen))) as found:
            async for current in found:
                yield current

    async def _currents(self, chosen: Selection) -> AsyncGenerator[Current, None]:
        async with aclosing(self._streamed(*_for_psycopg(chosen))) as found:
            async for rows in found:
                for row in rows:
                    yield self._compared.current(row)

    # -------------------------------------------------------------------------- words

    async def find(
        self, query: Query, make: Callable[[Current], R | None], *, every: bool, limit: int | None
    ) -> list[R]:
        """The active objects that have the words of a query, newest first."""
        return await self._words.find(query, make, every=every, limit=limit)

    async def rank(
        self,
        mode: Mode,
        asked: Asked,
        make: Callable[[Current, Scored], R | None],
        *,
        limit: int,
        below: int = 0,
        within: Within = EVERYTHING,
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
        """Make the word index anew, in steps."""
        await self._words.reindex()

    async def active(self, at_most: int) -> int:
        """How many objects are active; counted up to a number."""
        ((count,),) = await self._call(_COUNT_ACTIVE, Int8(at_most))
        return int(count)

    # ------------------------------------------------------------------------ journal

    async def head(self) -> Head:
        """The end of the journal."""
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
        found = await self._call(_BLOCKS, *asked)
        return {Block(level, number): hashes_in(hashes or b"") for level, number, hashes in found}

    async def keep_note(self, size: int, note: str, at: int) -> None:
        """Keep a checkpoint's note; one of the same size is replaced."""
        await self._call(_KEEP_NOTE, Int8(size), note, Int8(at), writes=True)

    async def notes(self, limit: int | None = None) -> list[str]:
        """The notes that are kept, the largest size first; at most so many."""
        return [str(note) for (note,) in await self._call(_NOTES, _limit(limit))]

    async def scrub(self, *, rewrite: bool = False) -> None:
        """With `rewrite`, write the tables anew that held what was erased.

        Without it there is nothing to do: once an erasure has returned, no query, no index and no
        dump shows what was erased.
        """
        self._words.forget()
        if rewrite:
            async with self._calls.connection(writes=True) as connection:
                await rewrite_tables(connection, self._database)

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[Snapshot, None]:
        """All of the ledger as it is now, on a connection of its own."""
        async with self._streams.transaction(self._begin_stream) as connection:
            yield PostgresSnapshot(connection, self._journal, self._bodies)

    # --------------------------------------------------------------------- statements

    async def _call(
        self, statement: str, *values: object, writes: bool = False
    ) -> list[tuple[Any, ...]]:
        """One statement: a transaction of its own, in one trip."""
        async with self._calls.connection(writes=writes) as connection:
            named = (*self._named, *values)
            found = await connection.execute(statement, named, prepare=True, binary=True)
            return await found.fetchall()

    async def _made(
        self,
        rows: Sequence[tuple[Any, ...]],
        make: Callable[[Current], R],
        damaged: list[EntryDamaged] | None,
    ) -> list[R]:
        """Each row made into a value; where that takes long, beside the event loop."""
        size = sum(len(row[-1] or b"") for row in rows)
        return await beside_the_loop(
            size, lambda: [make(one) for _, one in self._compared.currents(rows, damaged)]
        )

    async def _streamed(
        self, statement: str, values: Sequence[object]
    ) -> AsyncGenerator[list[Any], None]:
        async with (
            self._streams.transaction(self._begin_stream) as connection,
            aclosing(chunks(connection, "stream", statement, values)) as found,
        ):
            async for rows in found:
                yield rows


def _limit(limit: int | None) -> Int8 | None:
    return None if limit is None else Int8(limit)


def _newest(filter: MemoryFilter) -> tuple[object, ...] | None:
    """What `memoranda.newest_active` is asked; None if the filter wants something else."""
    tags = set(filter.tags or ())
    if (
        (filter.ids, filter.order_by, filter.order) != (None, "createdAt", "desc")
        or filter.own_keys
        or not filter.limit
        or len(tags) > 1
        or not all(storable(tag) for tag in tags)
    ):
        return None
    after = -MAX_INTEGER if filter.created_after is None else filter.created_after
    before = MAX_INTEGER if filter.created_before is None else filter.created_before
    tag = tags.pop() if tags else None
    return tag, Int8(after), Int8(before), Int8(filter.limit), Int8(filter.offset)


def _for_psycopg(chosen: Selection) -> tuple[str, list[object]]:
    """Its placeholders, and integers of one size: else each size would be a plan of its own."""
    parameters = [Int8(each) if isinstance(each, int) else each for each in chosen.parameters]
    return chosen.sql.replace("?", "%s"), parameters
