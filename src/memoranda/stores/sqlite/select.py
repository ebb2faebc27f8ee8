"""What a filter asks for in a SQLite journal: the objects, their ids, how many, their tags."""

from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from operator import attrgetter, itemgetter
from typing import Any, Final, TypeVar

import apsw
import orjson

from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.unit import Current
from memoranda.records.filter import MemoryFilter, Position
from memoranda.stores.narrowing import NUMBER_BYTES, PLACES, Search
from memoranda.stores.selection import (
    Dialect,
    SelectStatement,
    by_id,
    counting,
    few_tagged,
    fitting,
    page_of,
    selection,
    tag_counts,
)
from memoranda.stores.sqlite.file import SqliteFile
from memoranda.stores.sqlite.units import JOINED

# ------------------------------------------------------------------------------------------------
# How a filter is written for SQLite.

DIALECT: Final = Dialect(
    id_in_list="v.id IN (SELECT value FROM json_each(?))",
    list_parameter=lambda ids: orjson.dumps(ids).decode(),  # noqa: TID251 - a parameter
    no_limit=-1,
    joined=JOINED,
    search=Search(
        places=PLACES,
        unseen="substr({column}, 1, 1) > x'1f' AND substr({column}, 1, 1) <> x'7b'",
        position="instr({bytes}, ?)",
        rest="substr({bytes}, {position} + ?)",
        start="substr({bytes}, 1, ?)",
        number=f"CAST(substr(n.rest, 1, {NUMBER_BYTES}) AS REAL)",
        if_number="{tests}",
    ),
)


R = TypeVar("R")


class SqliteSelecting:
    """The active objects of one journal, by filters."""

    def __init__(self, database: SqliteFile, journal: int) -> None:
        self._selected_from = database
        self._journal = journal
        self._compared = database.compared

    async def select(
        self,
        filter: MemoryFilter,
        make: Callable[[Current], R],
        damaged: list[EntryDamaged] | None = None,
        after: Position | None = None,
    ) -> list[R]:
        """The active objects that a filter asks for, each made into a value where it was read."""
        if filter.asks_for_content or filter.tag_prefix is not None:

            def looked_at(connection: apsw.Connection) -> list[R]:
                rows = self._chosen(connection.cursor(), filter, after)
                found = self._compared.all_placed(rows, damaged)
                return [make(current) for current in page_of(filter, found)]

            return await self._selected_from.read(looked_at)
        chosen = selection(filter, self._journal, DIALECT, after=after)
        if chosen is None:
            return []
        if damaged is None:
            placed = self._compared.placed
            return await self._rows(chosen, lambda row: make(placed(row)))

        def made(row: Any) -> list[R]:
            return [make(current) for current in self._compared.all_placed([row], damaged)]

        return [one for some in await self._rows(chosen, made) for one in some]

    def _chosen(
        self, cursor: apsw.Cursor, filter: MemoryFilter, after: Position | None
    ) -> Iterable[Any]:
        """The rows of what SQL chooses; of few that have a tag, without looking at others."""
        few = few_tagged(filter, self._journal, DIALECT)
        if few is not None:
            rows: Any = cursor.execute(few.sql, few.parameters)
            filter = by_id(filter, [id for id, _ in rows])
        chosen = selection(filter, self._journal, DIALECT, after=after)
        return () if chosen is None else cursor.execute(chosen.sql, chosen.parameters)

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

    async def _currents(self, chosen: SelectStatement) -> AsyncGenerator[Current, None]:
        async with aclosing(self._selected_from.stream(chosen.sql, chosen.parameters)) as rows:
            async for row in rows:
                yield self._compared.placed(row)

    async def selected_ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what a filter asks for; no body is read unless the filter is about it."""
        if filter.asks_for_content:
            return await self.select(filter, attrgetter("id"))
        chosen = selection(filter, self._journal, DIALECT, columns="v.id, ''")
        return [] if chosen is None else await self._rows(chosen, itemgetter(0))

    async def count(self, filter: MemoryFilter) -> int:
        """How many objects a filter asks for; likewise."""
        if filter.asks_for_content:
            return len(await self.selected_ids(filter))
        chosen = selection(filter, self._journal, DIALECT, columns="v.id")
        return 0 if chosen is None else (await self._rows(counting(chosen), itemgetter(0)))[0]

    async def tag_counts(self, prefix: str) -> dict[str, int]:
        """The tags that begin so, each with how many active objects have it, in order."""
        chosen = tag_counts(prefix, self._journal, DIALECT)
        return {} if chosen is None else dict(await self._rows(chosen, itemgetter(0, 1)))

    async def _rows(self, chosen: SelectStatement, make: Callable[[Any], R]) -> list[R]:
        return await self._selected_from.rows(chosen.sql, chosen.parameters, make)
