"""What a filter asks for in a PostgreSQL journal: the objects, their ids, how many, their tags."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeVar

from psycopg import sql
from psycopg.types.numeric import Int8

from memoranda.kernel.errors import EntryDamaged
from memoranda.kernel.json import MAX_INTEGER, storable
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.unit import Current
from memoranda.records.filter import MemoryFilter, Position
from memoranda.stores.narrowing import NUMBER_BYTES, PLACES, Search, narrowing
from memoranda.stores.postgres.connection import Connection, off_the_loop
from memoranda.stores.postgres.journal import ROWS_AT_ONCE, chunks, compared
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.unit_reads import JOINED, LOOKED_UP
from memoranda.stores.selection import (
    FEW,
    Dialect,
    SelectStatement,
    by_id,
    counting,
    few_tagged,
    fitting,
    selection,
    tag_counts,
)
from memoranda.stores.statements import Integers, Texts

# ------------------------------------------------------------------------------------------------
# How a filter is written for PostgreSQL.

# The value up to the next comma or brace is read as a number if it is one. That takes a fraction of
# the time of a regular expression, and of the time of a numeric.
_IF_NUMBER: Final = (
    "(SELECT CASE WHEN pg_input_is_valid(w.value, 'float8')"  # noqa: S608 - ours
    " THEN {tests} ELSE false END FROM (SELECT split_part(split_part("
    f"encode(substring(n.rest, 1, {NUMBER_BYTES}), 'escape'), ',', 1), '}}}}', 1) AS value"
    " LIMIT 1) AS w)"
)
DIALECT: Final = Dialect(
    id_in_list="v.id = ANY (?)",
    list_parameter=Texts,
    no_limit=None,
    joined=JOINED,
    looked_up=LOOKED_UP,
    schema="memoranda.",
    journal="journal",
    tag="memoranda.tag_key(?)",
    long_tags="x.tag >= 'sha256:' AND x.tag < 'sha256;'",
    search=Search(
        places=PLACES,
        unseen="{column} >= '\\x20'::bytea"
        " AND ({column} < '\\x7b'::bytea OR {column} >= '\\x7c'::bytea)",
        position='pg_catalog."position"({bytes}, ?)',
        rest="substring({bytes}, {position} + ?::int)",
        start="substring({bytes}, 1, ?::int)",
        number="w.value::float8",
        if_number=_IF_NUMBER,
        if_begins='CASE WHEN pg_catalog."position"(?, substring(n.rest, 1, 1)) > 0'
        " THEN {test} ELSE false END",
    ),
)


def for_psycopg(chosen: SelectStatement) -> tuple[str, list[object]]:
    """Its placeholders, and integers of one size: else each size would be a plan of its own."""
    parameters = [Int8(each) if isinstance(each, int) else each for each in chosen.parameters]
    return chosen.sql.replace("?", "%s"), parameters


R = TypeVar("R")

_NEWEST: Final = "SELECT * FROM memoranda.newest_active(%s, %s, %s, %s, %s, %s, %s)"
_CONTAINING: Final = (
    "SELECT b.seq, coalesce(octet_length(b.body), 0)"
    " FROM memoranda.entries b WHERE b.journal = %s AND {} LIMIT ?"
)
_SMALL: Final = 1024 * 1024
"""So many bytes of bodies are read at once; of more, a few rows at a time."""
_LOOKED_AT: Final = 16
"""Of rows that were read at once so many are made into values before the next ones."""
# Else a cursor is planned for the first rows alone, and would go through everything to find them.
_READ_ALL: Final = "SET LOCAL cursor_tuple_fraction = 1"
# Both in one trip: two statements without parameters. The origin is quoted by psycopg.
_BEGIN_QUERY: Final = sql.SQL("BEGIN READ ONLY; SELECT memoranda.enter({}, {})")
_BEGIN_STREAM: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT memoranda.enter({}, {})"
)


class _Chosen(NamedTuple):
    selection: SelectStatement
    is_small: bool
    """Whether all of its rows may be read at once."""


class PostgresSelecting:
    """The active objects of one journal, by filters."""

    def __init__(
        self, calls: Pool, streams: Pool, journal: int, origin: str, bodies: BodyCodec
    ) -> None:
        self._calls = calls
        self._streams = streams
        self._journal = journal
        self._numbered = Int8(journal)
        self._named = (self._numbered, origin)
        self._compared = compared(bodies)
        self._begin_query = _BEGIN_QUERY.format(journal, origin).as_bytes()
        self._begin_stream = _BEGIN_STREAM.format(journal, origin).as_bytes()

    async def select(
        self,
        filter: MemoryFilter,
        make: Callable[[Current], R],
        damaged: list[EntryDamaged] | None = None,
        after: Position | None = None,
    ) -> list[R]:
        """What the filter asks for; other tasks get their turn while many rows are made."""
        if filter.asks_for_content:
            async with aclosing(self._looked_at(filter, after, damaged)) as fit:
                return [make(current) async for current in fit]
        newest = _newest(filter) if after is None else None
        if newest is not None:
            rows = await self._calls.call(_NEWEST, (*self._named, *newest))
            return await self._made(rows, make, damaged)
        async with self._calls.transaction(self._begin_query) as connection:
            chosen = await self._chosen(connection, filter, after)
            if chosen is None:
                return []
            statement = for_psycopg(chosen.selection)
            found = await connection.execute(*statement, prepare=True, binary=True)
        made: list[R] = []
        while rows := await found.fetchmany(ROWS_AT_ONCE):
            made += await self._made(rows, make, damaged)
            if len(rows) == ROWS_AT_ONCE:
                await asyncio.sleep(0)
        return made

    def stream(
        self, filter: MemoryFilter, after: Position | None = None
    ) -> AsyncGenerator[Current, None]:
        """The same, as they are when the stream starts, a few at a time."""
        return self._looked_at(filter, after, None)

    async def _looked_at(
        self, filter: MemoryFilter, after: Position | None, damaged: list[EntryDamaged] | None
    ) -> AsyncGenerator[Current, None]:
        async with (
            aclosing(self._currents(filter, after, damaged)) as currents,
            aclosing(fitting(filter, currents)) as found,
        ):
            async for current in found:
                yield current

    async def _currents(
        self, filter: MemoryFilter, after: Position | None, damaged: list[EntryDamaged] | None
    ) -> AsyncGenerator[Current, None]:
        async with self._streams.transaction(self._begin_stream) as connection:
            chosen = await self._chosen(connection, filter, after)
            if chosen is None:
                return
            if chosen.is_small:
                found = _slices(await self._found(connection, chosen.selection))
            else:
                found = chunks(connection, "stream", *for_psycopg(chosen.selection))
            async with aclosing(found):
                async for rows in found:
                    for current in await self._made(rows, lambda current: current, damaged):
                        yield current

    async def _chosen(
        self, connection: Connection, filter: MemoryFilter, after: Position | None
    ) -> "_Chosen | None":
        """What SQL chooses; candidates that are few are looked for first, and then looked up.

        PostgreSQL knows nothing of what is in bodies and tags (no statistics are kept of that), so
        it can't tell whether to begin with them.
        """
        few = few_tagged(filter, self._journal, DIALECT)
        if few is not None:
            filter = by_id(filter, [id for id, _ in await self._found(connection, few)])
        among, is_small = None, False
        narrowed = narrowing(filter.conditions, DIALECT.search)
        if narrowed is not None:
            parameters = [self._journal, *narrowed.parameters, FEW + 1]
            searched = SelectStatement(_CONTAINING.format(narrowed.sql), parameters)
            found = await self._found(connection, searched)
            if not found:
                return None
            if len(found) <= FEW:
                among = Integers(seq for seq, _ in found)
                is_small = sum(size for _, size in found) <= _SMALL
                if not is_small:
                    await connection.execute(_READ_ALL)
        chosen = selection(filter, self._journal, DIALECT, after=after, among=among)
        return None if chosen is None else _Chosen(chosen, is_small)

    async def selected_ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what a filter asks for; no body is read unless the filter is about it."""
        if filter.asks_for_content:
            return await self.select(filter, attrgetter("id"))
        chosen = selection(filter, self._journal, DIALECT, columns="v.id")
        return [] if chosen is None else [str(id) for (id,) in await self._rows(chosen)]

    async def count(self, filter: MemoryFilter) -> int:
        """How many objects a filter asks for; likewise."""
        if filter.asks_for_content:
            return len(await self.selected_ids(filter))
        chosen = selection(filter, self._journal, DIALECT, columns="v.id")
        return 0 if chosen is None else int((await self._rows(counting(chosen)))[0][0])

    async def tag_counts(self, prefix: str) -> dict[str, int]:
        """The tags that begin so, each with how many active objects have it, in order."""
        chosen = tag_counts(prefix, self._journal, DIALECT)
        rows = [] if chosen is None else await self._rows(chosen)
        return {str(tag): int(count) for tag, count, _ in rows}

    # --------------------------------------------------------------------- statements

    async def _rows(self, chosen: SelectStatement) -> list[tuple[Any, ...]]:
        async with self._calls.transaction(self._begin_query) as connection:
            return await self._found(connection, chosen)

    async def _found(
        self, connection: Connection, chosen: SelectStatement
    ) -> list[tuple[Any, ...]]:
        found = await connection.execute(*for_psycopg(chosen), prepare=True, binary=True)
        return await found.fetchall()

    async def _made(
        self,
        rows: Sequence[tuple[Any, ...]],
        make: Callable[[Current], R],
        damaged: list[EntryDamaged] | None,
    ) -> list[R]:
        """Each row made into a value; where that takes long, off the event loop."""
        size = sum(len(row[-1] or b"") for row in rows)
        return await off_the_loop(
            size, lambda: [make(current) for current in self._compared.all_placed(rows, damaged)]
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


async def _slices(rows: list[tuple[Any, ...]]) -> AsyncGenerator[list[Any], None]:
    for start in range(0, len(rows), _LOOKED_AT):
        yield rows[start : start + _LOOKED_AT]


def _newest(filter: MemoryFilter) -> tuple[object, ...] | None:
    """What `memoranda.newest_active` is asked; None if the filter wants something else."""
    tags, limit = set(filter.tags or ()), filter.limit or 0
    if (
        (filter.ids, filter.order_by, filter.order) != (None, "createdAt", "desc")
        or filter.own_keys
        or not 0 < limit <= ROWS_AT_ONCE
        or len(tags) > 1
        or not all(storable(tag) for tag in tags)
    ):
        return None
    after = -MAX_INTEGER if filter.created_after is None else filter.created_after
    before = MAX_INTEGER if filter.created_before is None else filter.created_before
    tag = tags.pop() if tags else None
    return tag, Int8(after), Int8(before), Int8(limit), Int8(filter.offset)
