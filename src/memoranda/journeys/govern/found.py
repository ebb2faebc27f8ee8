"""What filters find in a ledger: objects, and the same as records."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Final, Protocol, TypeVar

from memoranda.identity import decode
from memoranda.journeys.govern.drafts import content_of
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.unit import Current
from memoranda.records.filter import MemoryFilter
from memoranda.records.pages import Position
from memoranda.records.table import Row

R = TypeVar("R")


class FilteredReads(Protocol):
    """A ledger whose active objects are found by the filters of records."""

    async def select(
        self,
        filter: MemoryFilter,
        make: Callable[[Current], R],
        damaged: list[EntryDamaged] | None = None,
        after: Position | None = None,
    ) -> list[R]:
        """What the filter asks for, each made into a value where it was read.

        With `after`, only what stands after this position in the filter's order. What is damaged
        is raised, or left out and put into the list.
        """
        ...

    def stream(
        self, filter: MemoryFilter, after: Position | None = None
    ) -> AsyncGenerator[Current, None]:
        """The same, as it is when the stream starts, a few at a time."""
        ...

    async def selected_ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what the filter asks for; no body is read unless the filter is about it."""
        ...

    async def count(self, filter: MemoryFilter) -> int:
        """How many objects the filter asks for; likewise."""
        ...

    async def tag_counts(self, prefix: str) -> dict[str, int]:
        """The tags that begin so, in order, each with how many active objects have it."""
        ...


class FoundRecords:
    """The reading half of a table of records: what filters find."""

    def __init__(self, ledger: FilteredReads) -> None:
        self._found_in: Final = ledger
        self.opening: Callable[[], Awaitable[None]] | None = None
        """What is compared before anything is read or written; None once it was."""

    async def opened(self) -> None:
        """See that the scope is opened: it is there, and what memory rests on was compared."""
        if self.opening is not None:
            await self.opening()

    async def select(
        self, filter: MemoryFilter, make: Callable[[Row], R], after: Position | None = None
    ) -> list[R]:
        """What the filter asks for, each row made into a value where it was read."""
        await self.opened()
        return await self._found_in.select(filter, lambda found: make(row_of(found)), after=after)

    async def stream(self, filter: MemoryFilter) -> AsyncGenerator[Row, None]:
        """The same rows, as they are when the stream starts, a few at a time."""
        await self.opened()
        async with aclosing(self._found_in.stream(filter)) as found:
            async for current in found:
                yield row_of(current)

    async def ids(self, filter: MemoryFilter) -> list[str]:
        """The ids of what the filter asks for, in its order."""
        await self.opened()
        return await self._found_in.selected_ids(filter)

    async def count(self, filter: MemoryFilter) -> int:
        """How many rows the filter asks for."""
        await self.opened()
        return await self._found_in.count(filter)

    async def tags(self, prefix: str) -> dict[str, int]:
        """The tags that begin so, in order, each with how many rows have it."""
        await self.opened()
        return await self._found_in.tag_counts(prefix)


def row_of(current: Current) -> Row:
    """An object as a record."""
    return Row(
        current.id,
        current.number,
        current.created_at,
        current.updated_at,
        content_of(decode(current.body)),
        current.since,
    )


def still_fitting(
    found: Sequence[Current | None], fits: Callable[[Current], bool]
) -> list[Current]:
    """Those that are there, active, and still what is asked for."""
    return [one for one in found if one is not None and one.status == "active" and fits(one)]
