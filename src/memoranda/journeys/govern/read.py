"""Reading what is remembered: what is current, what was known then, what held then."""

from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from itertools import islice
from operator import attrgetter
from typing import Final, Generic, Literal, NamedTuple, TypeVar, Unpack, get_args

from memoranda.identity import decode
from memoranda.journeys.govern.find import Filters, as_asked, filter_of
from memoranda.journeys.govern.objects import Event, Remembered, event, remembered, sealed_object
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.govern.times import At, Moment, entry_or_time, milliseconds_of, size_of
from memoranda.journeys.intent import names
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.contents import check_findable, is_possible_id
from memoranda.kernel.ambient import check_reach, reached
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import InvalidFilter, RecordNotFound
from memoranda.kernel.given import check_kind
from memoranda.kernel.json import JsonValue
from memoranda.kernel.results import Rows
from memoranda.ledger.entry import read_entry
from memoranda.ledger.object import data_of
from memoranda.ledger.unit import Current, Past
from memoranda.recall.index import fits, judged
from memoranda.records.filter import (
    MemoryFilter,
    Page,
    Position,
    cut,
    position,
    position_in,
    select_by,
)
from memoranda.text import MAX_QUERY_WORDS, Query, matches, query, terms_of

T = TypeVar("T")

Include = Literal["expired", "false", "invalidated", "archived", "superseded"]
"""What is not current and may be asked for all the same."""

Order = Literal["created", "updated", "entry"]

AT_ONCE: Final = 1_000
"""Up to so many are read by one query; beyond, they are streamed."""
SPARE: Final = (2, 32)
"""So many more are read, for those that are active and not current: few first, for each has to be
found."""

_ORDERS: Final = {"created": "createdAt", "updated": "updatedAt", "entry": "entry"}


class Placed(NamedTuple, Generic[T]):
    """What was found, and where it stands in the order that was asked for."""

    found: Remembered[T]
    position: Position


# Inside the class, `list` is the verb.
Found = list[Remembered[T]]
Some = list[Placed[T]]
Make = Callable[[Current], Placed[T] | None]


class Reading(Generic[T]):
    """Reads the objects of one scope."""

    def __init__(self, table: GovernedTable, codec: DataCodec[T], clock: Clock) -> None:
        self._ledger = table.ledger
        self._rulebook = table.rulebook
        self._codec = codec
        self._clock = clock

    async def get(
        self,
        id: str,
        *,
        at: At | None = None,
        valid_at: Moment | None = None,
        include: Collection[Include] = (),
        factual: bool = False,
    ) -> Remembered[T] | None:
        """What is remembered under this id, as `Memory.get` says."""
        check_reach()
        is_factual = await self._factual(factual)
        _check_include(include)
        now = self._clock.now_ms()
        then = None if at is None else entry_or_time(at, now)
        is_wanted = self._wanted(milliseconds_of(valid_at, now), include, is_factual)
        if not is_possible_id(id):
            return None
        if then is None and not include:
            found = await self._ledger.current(id, self._shown)
        else:
            found = self._newest(await self._ledger.versions(id), *(then or (None, None)))
        if found is None or not is_wanted(found):
            return None
        return handed_out([found if at is not None else await self._seen(found)])[0]

    async def _seen(self, found: Remembered[T]) -> Remembered[T]:
        """The same, with how often it was said again, if it was."""
        newest = await self._ledger.marked(names.seen(found.id), limit=1, newest_first=True)
        if not newest or (body := newest[0].body) is None:
            return found
        at = read_entry(newest[0].entry).at
        return replace(found, seen_again=decode(body)["count"], last_seen_at=at)

    async def list(
        self,
        *,
        text: str | None = None,
        every: bool = True,
        limit: int | None = None,
        cursor: str | None = None,
        order_by: Order = "created",
        order: Literal["asc", "desc"] = "desc",
        at: At | None = None,
        valid_at: Moment | None = None,
        include: Collection[Include] = (),
        factual: bool = False,
        **filters: Unpack[Filters],
    ) -> Page[Remembered[T]]:
        """What fits the filters, page by page, as `Memory.list` says."""
        check_reach()
        is_factual = await self._factual(factual)
        now = self._clock.now_ms()
        wanted = filter_of(filters, now, order_by=_order(order_by), order=order, limit=limit)
        _check_include(include)
        is_wanted = self._wanted(milliseconds_of(valid_at, now), include, is_factual)
        asked = as_asked(wanted, filters) | _asked_otherwise(
            text=text, every=every, at=at, valid_at=valid_at, include=include, factual=factual
        )
        after = None if cursor is None else position_in(cursor, asked)

        def make(current: Current) -> Placed[T] | None:
            found = self._shown(current)
            if not is_wanted(found):
                return None
            where = position(wanted, current.created_at, current.updated_at, current.since)
            return Placed(found, where)

        words = None if text is None else _words(text)
        most = None if wanted.limit is None else wanted.limit + 1 if wanted.limit else 0
        if at is not None or _STATUSES & set(include):
            size = await self._size(at, now)
            found = await self._as_it_was(size, wanted.unpaged, words, every, make, most, after)
        elif words is not None:
            found = await self._by_words(words, every, wanted, make, most, after)
        else:
            found = await self._selected(wanted.unpaged, make, most, after)
        page = cut(found, wanted.limit, attrgetter("position"), asked)
        return Page(handed_out([placed.found for placed in page.found]), page.next)

    async def _selected(
        self, filter: MemoryFilter, make: Make[T], most: int | None, after: Position | None
    ) -> Some[T]:
        if most is not None and most <= AT_ONCE:
            for enough in (most + spare for spare in SPARE):
                # Nearly always so: most of what is active is current. Else all is gone through.
                page = filter.model_copy(update={"limit": enough})
                read = await self._ledger.select(page, make, after=after)
                found = [placed for placed in read if placed is not None]
                if len(found) >= most or len(read) < enough:
                    return found[:most]
        found = []
        async with aclosing(self._ledger.stream(filter, after)) as stream:
            async for current in stream:
                if most is not None and len(found) >= most:
                    break
                if (placed := make(current)) is not None:
                    found.append(placed)
        return found

    async def _by_words(
        self,
        words: Query,
        every: bool,
        filter: MemoryFilter,
        make: Make[T],
        most: int | None,
        after: Position | None,
    ) -> Some[T]:
        """What has the words of a text, now; newest first by the index, else by looking at all."""

        def fitting(current: Current) -> Placed[T] | None:
            return make(current) if fits(filter.unpaged, current) else None

        if (filter.order_by, filter.order) == ("createdAt", "desc"):
            return await self._ledger.find(words, fitting, every=every, limit=most, after=after)

        def having(current: Current) -> Placed[T] | None:
            return make(current) if _says(words, current, every=every) else None

        return await self._selected(filter.unpaged, having, most, after) if words.words else []

    async def _as_it_was(
        self,
        size: int,
        filter: MemoryFilter,
        words: Query | None,
        every: bool,
        make: Make[T],
        most: int | None,
        after: Position | None,
    ) -> Some[T]:
        """What a filter finds of all there was when the journal had this size, in any status."""
        async with aclosing(self._ledger.as_of(size)) as then:
            known = [
                current
                async for current in then
                if words is None or _says(words, current, every=every)
            ]
        fit = (make(current) for current in select_by(filter, known, judged, after))
        return list(islice((placed for placed in fit if placed is not None), most))

    async def _size(self, at: At | None, now: int) -> int:
        return (
            (await self._ledger.head()).size if at is None else await size_of(self._ledger, at, now)
        )

    async def history(self, id: str) -> Rows[Event[T]]:
        """Everything that happened to it, the first step first; RecordNotFound if nothing did."""
        check_reach()
        check_findable(id)
        versions = await self._ledger.versions(id)
        if not versions:
            raise RecordNotFound(id)
        if any(past.body is not None and past.version.status != "erased" for past in versions):
            reached((id,))
        before = [None, *versions]
        return Rows(event(*both, self._codec) for both in zip(versions, before, strict=False))

    async def memory_object(self, id: str, *, version: int | None = None) -> dict[str, JsonValue]:
        """A version as seed 003 has it, with its integrity hash; the newest, if none is named."""
        check_reach()
        check_findable(id)
        if version is not None:
            check_kind("version", version, int, "the number of a version")
        for past in reversed(await self._ledger.versions(id)):
            if past.body is not None and version in {None, past.version.number}:
                reached((id,))
                return sealed_object(past.body)
        raise RecordNotFound(id)

    async def _factual(self, factual: bool) -> Callable[[Remembered[T]], bool]:
        """Says of what is found whether it may be used, as a fact if that is asked for.

        What was damaged once, as a re-audit has it, is no fact any more.
        """
        if not factual:
            return lambda _: True
        damaged = (await self._rulebook.check_factual()).damaged_objects
        return lambda found: found.verdict == "Factual" and found.id not in damaged

    def _shown(self, current: Current) -> Remembered[T]:
        return remembered(current, self._codec)

    def _newest(
        self, versions: Sequence[Past], entry: int | None, ms: int | None
    ) -> Remembered[T] | None:
        known = [
            past
            for past in versions
            if (entry is None or past.seq <= entry)
            and (ms is None or read_entry(past.entry).at <= ms)
        ]
        if not known or known[-1].body is None or known[-1].version.status == "erased":
            return None
        return self._shown(Current(*known[-1].version, known[-1].body))

    def _wanted(
        self,
        valid_at: int | None,
        include: Collection[Include],
        is_factual: Callable[[Remembered[T]], bool],
    ) -> Callable[[Remembered[T]], bool]:
        now = self._clock.now_ms()

        def is_wanted(found: Remembered[T]) -> bool:
            if found.status != "active" and found.status not in include:
                return False
            if found.verdict == "False" and "false" not in include:
                return False
            if valid_at is not None:
                begins, ends = found.valid_from, found.valid_to
                holds = (begins is None or begins <= valid_at) and (
                    ends is None or valid_at <= ends
                )
            else:
                holds = "expired" in include or not found.is_expired(now)
            return holds and is_factual(found)

        return is_wanted


_STATUSES: Final = frozenset({"invalidated", "archived", "superseded"})


def handed_out(found: Found[T]) -> Found[T]:
    """What was found, noted where somebody observes what is read."""
    reached(item.id for item in found)
    return found


def _check_include(include: Collection[str]) -> None:
    known = get_args(Include)
    if isinstance(include, str) or not isinstance(include, Collection):
        raise InvalidFilter("include", f"it is not a list; name some of {', '.join(known)}")
    for text in include:
        if text not in known:
            why = f"it names something unknown; name some of {', '.join(known)}"
            raise InvalidFilter("include", why)


def _order(order_by: object) -> str:
    if not isinstance(order_by, str) or order_by not in _ORDERS:
        raise InvalidFilter("order_by", f"name one of {', '.join(_ORDERS)}")
    return _ORDERS[order_by]


def _words(text: object) -> Query:
    if not isinstance(text, str):
        raise InvalidFilter("text", "it is not a text")
    asked = query(text)
    if asked.is_cut:
        why = f"it has more than {MAX_QUERY_WORDS} different words; ask for fewer"
        raise InvalidFilter("text", why)
    return asked


def _says(words: Query, current: Current, *, every: bool) -> bool:
    """Whether an object says these words, in any status: by the definition, without an index."""
    said = terms_of(data_of(decode(current.body)))
    return bool(words.words) and matches(words, said.counts, every=every)


def _asked_otherwise(
    *, include: Collection[str], every: bool, **given: Moment | bool | None
) -> dict[str, JsonValue]:
    """What is asked besides the filter, as a part of the question that a cursor belongs to."""
    members: dict[str, JsonValue] = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in given.items()
        if value is not None and value is not False
    }
    return {**members, "every": bool(every), "include": sorted(include)}
