"""Reading what is remembered: what is current, what was known then, what held then."""

from collections.abc import Callable, Collection, Sequence
from contextlib import aclosing
from datetime import datetime
from itertools import islice
from operator import attrgetter
from typing import Final, Generic, Literal, NamedTuple, TypeVar, Unpack, get_args

from memoranda.identity import decode
from memoranda.journeys.govern.filters import Filters, as_asked, filter_of
from memoranda.journeys.govern.handle import Handle, noted
from memoranda.journeys.govern.moments import Moment, milliseconds_of
from memoranda.journeys.govern.remembered import Event, Remembered, event, sealed_object
from memoranda.journeys.govern.sizes import At, entry_or_time, size_of
from memoranda.journeys.records.contents import check_findable, is_possible_id
from memoranda.kernel.errors import InvalidFilter, RecordNotFound
from memoranda.kernel.given import check_kind
from memoranda.kernel.json import JsonValue
from memoranda.kernel.reach import check_reach, reached
from memoranda.kernel.results import Rows
from memoranda.ledger.entry import read_entry
from memoranda.ledger.object import data_of
from memoranda.ledger.unit import Current, Past
from memoranda.recall.fitting import fits, judged
from memoranda.records.filter import MemoryFilter, position, select_by
from memoranda.records.pages import Page, Position, cut, position_in
from memoranda.text import MAX_QUERY_WORDS, Query, matches, query, terms_of

T = TypeVar("T")

Include = Literal["expired", "false", "invalidated", "archived", "superseded"]
"""What is not current and may be asked for all the same."""

Order = Literal["created", "updated", "entry"]

AT_ONCE: Final = 1_000
"""Up to so many are read by one query; beyond, they are streamed."""
SPARE: Final = 32
"""So many more are read, for those that are active and not current."""

_ORDERS: Final = {"created": "createdAt", "updated": "updatedAt", "entry": "entry"}


class Placed(NamedTuple, Generic[T]):
    """What was found, and where it stands in the order that was asked for."""

    found: Remembered[T]
    position: Position


# Inside the class, `list` is the verb.
Found = list[Remembered[T]]
Some = list[Placed[T]]
Make = Callable[[Current], Placed[T] | None]


class Reading(Handle[T]):
    """The verbs get, list and history."""

    @noted
    async def get(
        self,
        id: str,
        *,
        at: At | None = None,
        valid_at: Moment | None = None,
        include: Collection[Include] = (),
        factual: bool = False,
    ) -> Remembered[T] | None:
        """What is remembered under this id, if it is current; `include` widens it.

        `at` asks what we knew then: by a time, or by an entry's number, with which everything up
        to that entry is meant. `valid_at` asks for what held then: both times, always. `factual`
        asks for what may be used as a fact: judged Factual, and ConformanceBroken while a break
        stands.
        """
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
        return None if found is None or not is_wanted(found) else handed_out([found])[0]

    @noted
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
        """What is current, newest first, as the filters ask; without a limit, all of it.

        With `text`, what says every word of it, or any of them; what was just written is found.
        It is a look-up, not a recall: nothing is ranked, and nothing is traced.
        A page that is not the last has a cursor as its `next`: with it and the same question the
        next page begins, whatever was written meanwhile; InvalidFilter for one of another question.
        `order_by` entry is as things were written, whatever time they are of.
        UnknownFilterKey for a filter that there is not. The rest is as in `get`.
        """
        check_reach()
        is_factual = await self._factual(factual)
        now = self._clock.now_ms()
        wanted = filter_of(filters, now, order_by=_order(order_by), order=order, limit=limit)
        _check_include(include)
        is_wanted = self._wanted(milliseconds_of(valid_at, now), include, is_factual)
        asked = as_asked(wanted, filters) | _asked_beside(
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
        return Page(handed_out([one.found for one in page.found]), page.next)

    async def _selected(
        self, filter: MemoryFilter, make: Make[T], most: int | None, after: Position | None
    ) -> Some[T]:
        """What a filter finds of what is active now."""
        if most is not None and most <= AT_ONCE:
            # Nearly always enough: most of what is active is current. Else all is gone through.
            page = filter.model_copy(update={"limit": most + SPARE})
            read = await self._ledger.select(page, make, after=after)
            found = [one for one in read if one is not None]
            if len(found) >= most or len(read) < most + SPARE:
                return found[:most]
        found = []
        async with aclosing(self._ledger.stream(filter, after)) as stream:
            async for current in stream:
                if most is not None and len(found) >= most:
                    break
                if (one := make(current)) is not None:
                    found.append(one)
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
            known = [one async for one in then if words is None or _says(words, one, every=every)]
        fit = (make(one) for one in select_by(filter, known, judged, after))
        return list(islice((one for one in fit if one is not None), most))

    async def _size(self, at: At | None, now: int) -> int:
        return (
            (await self._ledger.head()).size if at is None else await size_of(self._ledger, at, now)
        )

    @noted
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

    @noted
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
        """Says of what is found whether it is asked for."""
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
    reached(one.id for one in found)
    return found


def _check_include(include: Collection[str]) -> None:
    known = get_args(Include)
    if isinstance(include, str) or not isinstance(include, Collection):
        raise InvalidFilter("include", f"it is no list; name some of {', '.join(known)}")
    for one in include:
        if one not in known:
            why = f"it has something that there is not; name some of {', '.join(known)}"
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


def _asked_beside(
    *, include: Collection[str], every: bool, **given: Moment | bool | None
) -> dict[str, JsonValue]:
    """What is asked beside the filter, as a part of the question that a cursor belongs to."""
    told: dict[str, JsonValue] = {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in given.items()
        if value is not None and value is not False
    }
    return {**told, "every": bool(every), "include": sorted(include)}
