"""What a filter asks for in a PostgreSQL journal: the objects, their ids, how many, their tags."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from operator import attrgetter
from typing import Any, Final, TypeVar

from psycopg import sql
from psycopg.types.numeric import Int8

from memoranda.kernel.errors import EntryDamaged
from memoranda.kernel.json import MAX_INTEGER, storable
from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.unit import Current
from memoranda.records.filter import MemoryFilter
from memoranda.records.pages import Position
from memoranda.stores.postgres.beside import beside_the_loop
from memoranda.stores.postgres.dialect import DIALECT, for_psycopg
from memoranda.stores.postgres.pool import Pool
from memoranda.stores.postgres.snapshot import ROWS_AT_ONCE, chunks
from memoranda.stores.postgres.units import compared
from memoranda.stores.selection import (
    Selection,
    counting,
    cut,
    fitting,
    selection,
    tag_counts,
)

R = TypeVar("R")

_NEWEST: Final = "SELECT * FROM memoranda.newest_active(%s, %s, %s, %s, %s, %s, %s)"
# Both in one trip: two statements without parameters. The scope is quoted by psycopg.
_BEGIN_QUERY: Final = sql.SQL("BEGIN READ ONLY; SELECT memoranda.enter({}, {})")
_BEGIN_STREAM: Final = sql.SQL(
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT memoranda.enter({}, {})"
)


class PostgresSelecting:
    """The active objects of one journal, by filters."""

    def __init__(
        self, calls: Pool, streams: Pool, scope: str, journal: int, bodies: BodyCodec
    ) -> None:
        self._calls = calls
        self._streams = streams
        self._journal = journal
        self._numbered = Int8(journal)
        self._named = (scope, self._numbered)
        self._compared = compared(bodies)
        self._begin_query = _BEGIN_QUERY.format(scope, journal).as_bytes()
        self._begin_stream = _BEGIN_STREAM.format(scope, journal).as_bytes()

    async def select(
        self,
        filter: MemoryFilter,
        make: Callable[[Current], R],
        damaged: list[EntryDamaged] | None = None,
        after: Position | None = None,
    ) -> list[R]:
        """What the filter asks for; other tasks get their turn while many rows are made."""
        if filter.asks_for_content:
            if damaged is None:
                async with aclosing(self.stream(filter, after)) as fit:
                    return [make(current) async for current in fit]
            found = await self._selected(filter, lambda current: current, damaged, after)
            return [make(one) for one in cut(filter, found)]
        return await self._selected(filter, make, damaged, after)

    async def _selected(
        self,
        filter: MemoryFilter,
        make: Callable[[Current], R],
        damaged: list[EntryDamaged] | None,
        after: Position | None,
    ) -> list[R]:
        newest = _newest(filter) if after is None else None
        if newest is not None:
            async with self._calls.connection() as connection:
                values = (*self._named, *newest)
                found = await connection.execute(_NEWEST, values, prepare=True, binary=True)
        else:
            chosen = selection(filter, self._journal, DIALECT, after=after)
            if chosen is None:
                return []
            async with self._calls.transaction(self._begin_query) as connection:
                found = await connection.execute(*for_psycopg(chosen), prepare=True, binary=True)
        made: list[R] = []
        while rows := await found.fetchmany(ROWS_AT_ONCE):
            made += await self._made(rows, make, damaged)
            if len(rows) == ROWS_AT_ONCE:
                await asyncio.sleep(0)
        return made

    async def stream(
        self, filter: MemoryFilter, after: Position | None = None
    ) -> AsyncGenerator[Current, None]:
        """The same, as they are when the stream starts, a few at a time."""
        chosen = selection(filter, self._journal, DIALECT, after=after)
        if chosen is None:
            return
        async with aclosing(fitting(filter, self._currents(chosen))) as found:
            async for current in found:
                yield current

    async def _currents(self, chosen: Selection) -> AsyncGenerator[Current, None]:
        async with aclosing(self._streamed(*for_psycopg(chosen))) as found:
            async for rows in found:
                for row in rows:
                    yield self._compared.placed(row)

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

    async def _rows(self, chosen: Selection) -> list[tuple[Any, ...]]:
        async with self._calls.transaction(self._begin_query) as connection:
            found = await connection.execute(*for_psycopg(chosen), prepare=True, binary=True)
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
            size, lambda: [make(one) for one in self._compared.all_placed(rows, damaged)]
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
