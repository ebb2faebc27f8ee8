"""Reading what is remembered: what is current, what was known then, what held then."""

from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import aclosing
from typing import Final, Literal, TypeVar, get_args

from memoranda.journeys.govern.handle import Handle, noted
from memoranda.journeys.govern.moments import Moment, milliseconds
from memoranda.journeys.govern.remembered import Event, Remembered, event, sealed_object
from memoranda.journeys.govern.sizes import size_at
from memoranda.journeys.records.contents import check_findable, is_possible_id
from memoranda.kernel.errors import InvalidFilter, RecordNotFound
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.reach import check_reach, reached
from memoranda.ledger.entry import read_entry
from memoranda.ledger.unit import Current, Past
from memoranda.records.filter import (
    GOVERNED_KEYS,
    MemoryFilter,
    refuse_unknown_keys,
    select_by,
)
from memoranda.records.model import StoredMemoryRecord
from memoranda.text import MAX_QUERY_WORDS, query

T = TypeVar("T")

Include = Literal["expired", "false", "invalidated", "archived", "superseded"]
"""What is not current and may be asked for all the same."""

AT_ONCE: Final = 1_000
"""Up to so many are read by one query; beyond, they are streamed."""
SPARE: Final = 32
"""So many more are read, for those that are active and not current."""
SEARCH_LIMIT: Final = 10

# Inside the class, `list` is the verb.
Found = list[Remembered[T]]


class Reading(Handle[T]):
    """The verbs get, list, search and history."""

    @noted
    async def get(
        self,
        id: str,
        *,
        as_of: Moment | None = None,
        at_size: int | None = None,
        valid_at: Moment | None = None,
        include: Collection[Include] = (),
        factual: bool = False,
    ) -> Remembered[T] | None:
        """What is remembered under this id, if it is current; `include` widens it.

        `as_of` asks what we knew then, by a time, or by the journal's size; `valid_at` asks for
        what held then: both times, always. `factual` asks for what may be used as a fact: judged
        Factual, and ConformanceBroken while a break stands.
        """
        check_reach()
        is_factual = await self._factual(factual)
        _check_include(include)
        _check_size(at_size)
        if not is_possible_id(id):
            return None
        if as_of is None and at_size is None and not include:
            found = await self._ledger.current(id, self._shown)
        else:
            versions = await self._ledger.versions(id)
            found = self._newest(versions, as_of, at_size)
        if found is None or not is_factual(found):
            return None
        return handed_out([found])[0] if self._is_wanted(found, valid_at, include) else None

    @noted
    async def list(
        self,
        filter: MemoryFilter | None = None,
        *,
        as_of: Moment | None = None,
        at_size: int | None = None,
        valid_at: Moment | None = None,
        include: Collection[Include] = (),
        factual: bool = False,
    ) -> Sequence[Remembered[T]]:
        """What is current, newest first, as the filter asks; without a limit, all of it.

        UnknownFilterKey for a filter that asks for more than can be answered. The rest is as in
        `get`.
        """
        check_reach()
        is_factual = await self._factual(factual)
        wanted = MemoryFilter() if filter is None else filter
        refuse_unknown_keys(wanted, GOVERNED_KEYS)
        _check_include(include)
        _check_size(at_size)

        def is_wanted(candidate: Remembered[T]) -> bool:
            return is_factual(candidate) and self._is_wanted(candidate, valid_at, include)

        start, end = wanted.offset, None if wanted.limit is None else wanted.offset + wanted.limit
        is_now = as_of is None and at_size is None and not _STATUSES & set(include)
        if is_now and end is not None and end <= AT_ONCE:
            # Nearly always enough: most of what is active is current. Else all is gone through.
            page = wanted.model_copy(update={"limit": end + SPARE, "offset": 0})
            read = await self._ledger.select(page, self._shown)
            found = [candidate for candidate in read if is_wanted(candidate)]
            if len(found) >= end or len(read) < end + SPARE:
                return handed_out(found[start:end])
        everything = wanted.model_copy(update={"limit": None, "offset": 0})
        found = []
        async with aclosing(self._candidates(everything, as_of, at_size, include)) as candidates:
            async for candidate in candidates:
                if end is not None and len(found) >= end:
                    break
                if is_wanted(candidate):
                    found.append(candidate)
        return handed_out(found[start:])

    @noted
    async def search(
        self,
        text: str,
        *,
        every: bool = True,
        limit: int | None = SEARCH_LIMIT,
        valid_at: Moment | None = None,
        include: Collection[Literal["expired", "false"]] = (),
        factual: bool = False,
    ) -> Sequence[Remembered[T]]:
        """What is current and says every word of a text, or any of them, newest first.

        What was just written is found. Words are those of `memoranda.text`; a text without any
        finds nothing. It is a look-up, not a recall: nothing is ranked, and nothing is traced. Of
        what was forgotten there is no index: `list` has it. The rest is as in `get`.
        """
        check_reach()
        if not isinstance(text, str):
            raise InvalidFilter("text", "it is not a text")
        _check_include(include)
        if _STATUSES & set(include):
            raise InvalidFilter("include", "what was forgotten is not searched; `list` has it")
        asked = query(text)
        if asked.is_cut:
            why = f"it has more than {MAX_QUERY_WORDS} different words; ask for fewer"
            raise InvalidFilter("text", why)
        wanted = MemoryFilter(limit=limit)
        is_factual = await self._factual(factual)

        def shown(current: Current) -> Remembered[T] | None:
            found = self._shown(current)
            is_wanted = is_factual(found) and self._is_wanted(found, valid_at, include)
            return found if is_wanted else None

        return handed_out(await self._ledger.find(asked, shown, every=every, limit=wanted.limit))

    @noted
    async def history(self, id: str) -> Sequence[Event[T]]:
        """Everything that happened to it, the first step first; RecordNotFound if nothing did."""
        check_reach()
        check_findable(id)
        versions = await self._ledger.versions(id)
        if not versions:
            raise RecordNotFound(id)
        if any(past.body is not None and past.version.status != "erased" for past in versions):
            reached((id,))
        return [event(past, self._codec) for past in versions]

    @noted
    async def memory_object(self, id: str, *, version: int | None = None) -> dict[str, JsonValue]:
        """A version as seed 003 has it, with its integrity hash; the newest, if none is named."""
        check_reach()
        check_findable(id)
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

    async def _candidates(
        self,
        filter: MemoryFilter,
        as_of: Moment | None,
        at_size: int | None,
        include: Collection[Include],
    ) -> AsyncGenerator[Remembered[T], None]:
        """In the filter's order, whatever their status where more than what is active is asked."""
        if as_of is None and at_size is None and not _STATUSES & set(include):
            async with aclosing(self._ledger.stream(filter)) as stream:
                async for current in stream:
                    yield self._shown(current)
            return
        size = (await self._ledger.head()).size if at_size is None else at_size
        if as_of is not None:
            size = await size_at(self._ledger, milliseconds(as_of), size)
        async with aclosing(self._ledger.as_of(size)) as then:
            known = [self._shown(current) async for current in then]
        for one in select_by(filter, known, self._judged):
            yield one

    def _judged(self, found: Remembered[T]) -> tuple[StoredMemoryRecord[JsonValue], str | None]:
        """What is remembered as a record, so that the filter's own definition can judge it."""
        data = self._codec.encode(found.data)
        times = found.created_at, found.updated_at
        return StoredMemoryRecord(found.id, data, *times, found.tags, found.meta), found.subject

    def _newest(
        self, versions: Sequence[Past], as_of: Moment | None, at_size: int | None
    ) -> Remembered[T] | None:
        then = None if as_of is None else milliseconds(as_of)
        known = [
            past
            for past in versions
            if (at_size is None or past.seq < at_size)
            and (then is None or read_entry(past.entry).at <= then)
        ]
        if not known or known[-1].body is None or known[-1].version.status == "erased":
            return None
        return self._shown(Current(*known[-1].version, known[-1].body))

    def _is_wanted(
        self, found: Remembered[T], valid_at: Moment | None, include: Collection[Include]
    ) -> bool:
        if found.status != "active" and found.status not in include:
            return False
        if found.verdict == "False" and "false" not in include:
            return False
        if valid_at is not None:
            at = milliseconds(valid_at)
            return (found.valid_from is None or found.valid_from <= at) and (
                found.valid_to is None or at <= found.valid_to
            )
        return "expired" in include or not found.is_expired(self._clock.now_ms())


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


def _check_size(at_size: object) -> None:
    if at_size is not None and (type(at_size) is not int or not 0 <= at_size <= MAX_INTEGER):
        raise InvalidFilter("at_size", "the size of a journal is a whole number from 0")
