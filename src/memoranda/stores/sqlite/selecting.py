"""What a filter asks for in a SQLite journal: the objects, their ids, how many, their tags."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from operator import attrgetter, itemgetter
from typing import Any, Protocol, TypeVar

from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.unit import Current
from memoranda.records.filter import MemoryFilter
from memoranda.records.pages import Position
from memoranda.stores.compared import Compared
from memoranda.stores.selection import (
    Selection,
    counting,
    cut,
    fitting,
    selection,
    tag_counts,
)
from memoranda.stores.sqlite.dialect import DIALECT
from memoranda.stores.sqlite.reader import Parameters

R = TypeVar("R")


class Rows(Protocol):
    """What is needed of a database to select from it."""

    @property
    def compared(self) -> Compared:
        """What makes its rows into values."""
        ...

    async def rows(self, sql: str, parameters: Parameters, make: Callable[[Any], R]) -> list[R]:
        """The rows of a SELECT, each made into a value."""
        ...

    def stream(self, sql: str, parameters: Parameters) -> AsyncGenerator[Any, None]:
        """The rows of a SELECT as they are now, a few at a time."""
        ...


class SqliteSelecting:
    """The active objects of one journal, by filters."""

    def __init__(self, database: Rows, journal: int) -> None:
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
        if filter.asks_for_content and damaged is None:
            async with aclosing(self.stream(filter, after)) as fit:
                return [make(current) async for current in fit]
        chosen = selection(filter, self._journal, DIALECT, after=after)
        if chosen is None:
            return []
        placed = self._compared.placed
        if damaged is None:
            return await self._rows(chosen, lambda row: make(placed(row)))

        def each(row: Any) -> list[Current]:
            return list(self._compared.all_placed([row], damaged))

        found = [one for some in await self._rows(chosen, each) for one in some]
        return [make(one) for one in cut(filter, found)]

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

    async def _rows(self, chosen: Selection, make: Callable[[Any], R]) -> list[R]:
        """Each row has a body, or what stands for one, as its last column."""
        return await self._selected_from.rows(chosen.sql, chosen.parameters, make)
