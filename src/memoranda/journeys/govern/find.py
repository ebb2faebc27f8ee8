"""What filters find in a ledger: objects, and the same as records."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from difflib import get_close_matches
from typing import Any, Final, Protocol, TypedDict, TypeVar

from pydantic.alias_generators import to_camel

from memoranda.identity import decode
from memoranda.journeys.govern.drafts import content_of
from memoranda.journeys.govern.times import Moment, is_relative, milliseconds_of
from memoranda.kernel.errors import EntryDamaged, UnknownFilterKey
from memoranda.kernel.json import JsonValue
from memoranda.ledger.unit import Current
from memoranda.records.filter import GOVERNED_KEYS, MemoryFilter, Position, refuse_unknown_keys
from memoranda.records.table import Row, new_row_of

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

        With `after`, only what comes after this position in the filter's order. What is damaged
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
        if self.opening is not None:
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
        await self.opened()
        return await self._found_in.count(filter)

    async def tags(self, prefix: str) -> dict[str, int]:
        """The tags that begin so, in order, each with how many rows have it."""
        await self.opened()
        return await self._found_in.tag_counts(prefix)


def row_of(current: Current) -> Row:
    id, number, _, created_at, updated_at = current[:5]
    content = content_of(decode(current.body))
    return new_row_of((id, created_at, updated_at, content, number, current.since, False))


def still_fitting(
    found: Sequence[Current | None], fits: Callable[[Current], bool]
) -> list[Current]:
    """Those that are there, active, and still what is asked for."""
    return [
        current
        for current in found
        if current is not None and current.status == "active" and fits(current)
    ]


# ------------------------------------------------------------------------------------------------
# Filters as callers name them: members of a `MemoryFilter`, with times as people write them.


class Filters(TypedDict, total=False):
    """Which records are asked for; all that is given must hold (docs/filters.md).

    Both ends of a span of time are included. None is the same as nothing.
    """

    ids: Sequence[str] | None
    tags: Sequence[str] | None
    """All of them."""
    where: Mapping[str, Any] | None
    """Conditions on data and meta (docs/filters.md)."""
    subject: str | None
    """Whom it is about."""
    thread: str | None
    """What it is a part of, such as a conversation: its first source, or what was said."""
    tag_prefix: str | None
    id_prefix: str | None
    created_after: Moment | None
    created_before: Moment | None
    updated_after: Moment | None
    updated_before: Moment | None


NAMES: Final = frozenset(Filters.__annotations__)
_STARTS: Final = ("created_after", "updated_after")
_ENDS: Final = ("created_before", "updated_before")


def filter_of(given: Mapping[str, Any], now: int, **page: Any) -> MemoryFilter:
    """The filter that was asked for; UnknownFilterKey for a member that there is not."""
    for name in given:
        if name not in NAMES:
            near = get_close_matches(name, sorted(NAMES), n=1)
            hint = (
                f"Did you mean {near[0]}?" if near else f"Name some of {', '.join(sorted(NAMES))}."
            )
            raise UnknownFilterKey(name[:80], hint)
    times = {
        name: milliseconds_of(given.get(name), now, is_end=name in _ENDS)
        for name in (*_STARTS, *_ENDS)
    }
    found = MemoryFilter.model_validate({**given, **times, **page})
    refuse_unknown_keys(found, GOVERNED_KEYS)
    return found


def as_asked(filter: MemoryFilter, given: Mapping[str, Any]) -> dict[str, JsonValue]:
    """What a filter asks for, without its page: the same for the same question.

    A time that is relative to now stands there as it was written.
    """
    asked: dict[str, JsonValue] = filter.unpaged.model_dump(mode="json", exclude_defaults=True)
    relative = {to_camel(name): value for name, value in given.items() if is_relative(value)}
    return {**asked, **{name: value for name, value in relative.items() if name in asked}}
