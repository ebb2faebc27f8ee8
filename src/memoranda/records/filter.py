"""What a filter means, defined once: every store must agree with `select` (MEM-FILTER).

- all tags must be present; time bounds are inclusive
- newest first unless said otherwise; ties in the order of writing, reversed where the order is,
  so that it is always total: of what was written in one millisecond the last is the newest
- limit 0 is an empty result; offset skips from the front of the order
- beyond the seed's keys: when a record was updated, how its id or one of its tags begins, and
  conditions on its data and meta (`records.where`); a governed store also knows its subject, and
  the thread that it is a part of
- ordered by entry, records come as they were written, whatever time they say that they are of
- a page begins after a position in that order (`Position`)
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from operator import itemgetter
from typing import Annotated, Any, ClassVar, Final, Generic, Literal, NamedTuple, TypeVar

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.alias_generators import to_camel

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.identity.canonical import thread_digest
from memoranda.kernel.errors import InvalidFilter, InvalidJson, UnknownFilterKey
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.results import Result, Rows
from memoranda.kernel.wire import Refusal, WireModel
from memoranda.records.model import Count, Milliseconds, StoredMemoryRecord, Texts
from memoranda.records.where import Where, conditions, holds

# ------------------------------------------------------------------------------------------------
# Pages: some of what was asked for, and from where to go on.
#
# A cursor is a text that says where a page ended: the order key of its last record, and a digest of
# what was asked. It holds no content and no secret. The next page begins at the next record in the
# order, whatever was written, changed or forgotten meanwhile: a record that was there all the time
# comes exactly once. In the order of updates, a record that is changed moves, as it must.

R_co = TypeVar("R_co", bound=Result, covariant=True)
V = TypeVar("V")

_DIGEST: Final = 16
"""Hexadecimal digits of the digest of what was asked: against mistakes, not against anyone."""
_PARTS: Final = 3
_MOST: Final = 200
"""Characters that a cursor has at most."""


class Position(NamedTuple):
    """Where a record stands in an order: by time, and what is of one time as it was written.

    In the order of writing there is no time: it is 0.
    """

    time: int
    since: int


class Page(Rows[R_co]):
    """What was found, in its order. `next` is the cursor of what follows; None at the end."""

    __slots__ = ("next",)

    def __init__(self, found: Iterable[R_co], cursor: str | None = None) -> None:
        super().__init__(found)
        self.next: Final = cursor

    def __eq__(self, other: object) -> bool:
        """The same found, in the same order: another page, or a list or tuple of the same."""
        if isinstance(other, Page) and self.next != other.next:
            return False
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # it may hold what has none

    def to_wire(self) -> JsonValue:
        """What was found, as ``items``, and the cursor of what follows, as ``next``."""
        return {"items": super().to_wire(), "next": self.next}

    def _count(self) -> str:
        return f"{len(self)} and more" if self.next else str(len(self))


class Cut(NamedTuple, Generic[V]):
    """What fits on a page, and the cursor of what follows; None at the end."""

    found: Sequence[V]
    next: str | None


def cut(
    found: Sequence[V], limit: int | None, where: Callable[[V], Position], asked: JsonValue
) -> Cut[V]:
    """What was found, cut at the limit: one more than that shows that it is not the last page."""
    if limit is None or len(found) <= limit:
        return Cut(found, None)
    kept = found[:limit]
    return Cut(kept, cursor_at(where(kept[-1]), asked) if kept else None)


def cursor_at(position: Position, asked: JsonValue) -> str:
    """The cursor of a position in the answer to a question."""
    parts = [position.time, position.since, _digest(asked)]
    return base64.urlsafe_b64encode(canonical_bytes(parts)).decode().rstrip("=")


def position_in(cursor: object, asked: JsonValue) -> Position:
    """The position that a cursor holds; InvalidFilter unless it is one of this very question."""
    if not isinstance(cursor, str) or len(cursor) > _MOST:
        raise InvalidFilter("cursor", "a cursor is the text that a page before had as its `next`")
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        parts = decode(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, InvalidJson):
        parts = None
    if not isinstance(parts, list) or len(parts) != _PARTS or not all(map(_is_number, parts[:2])):
        raise InvalidFilter("cursor", "it is not the `next` of a page")
    if parts[2] != _digest(asked):
        raise InvalidFilter(
            "cursor", "it is of another question; ask the same again, but for the limit"
        )
    return Position(parts[0], parts[1])


def _digest(asked: JsonValue) -> str:
    return sha256_hex(canonical_bytes(asked))[:_DIGEST]


def _is_number(part: object) -> bool:
    return type(part) is int and -MAX_INTEGER <= part <= MAX_INTEGER


# ------------------------------------------------------------------------------------------------
# Filters.

T = TypeVar("T")

MAX_TAGS = 32
"""Tags of one filter: each is a look-up for every record that has the others."""


def _checked(given: Mapping[str, Any]) -> Mapping[str, Any]:
    conditions(given)
    return given


class MemoryFilter(WireModel):
    """Which records a query is about, and in which order they come.

    Keys beyond the seed's belong to a store, also those that have a name here; one that the store
    does not declare is refused with `UnknownFilterKey` when it is queried, never ignored
    (MEM-FILTER).
    """

    model_config = ConfigDict(extra="allow")

    refusal: ClassVar[Refusal] = InvalidFilter

    ids: Texts | None = None
    tags: Annotated[Texts | None, Field(max_length=MAX_TAGS)] = None
    created_after: Milliseconds | None = None
    created_before: Milliseconds | None = None
    limit: Count | None = None
    offset: Count = 0
    order_by: Literal["createdAt", "updatedAt", "entry"] = "createdAt"
    order: Literal["asc", "desc"] = "desc"

    updated_after: Milliseconds | None = None
    updated_before: Milliseconds | None = None
    id_prefix: str | None = None
    tag_prefix: str | None = None
    where: Annotated[Mapping[str, Any], AfterValidator(_checked)] | None = None
    subject: str | None = None
    thread: str | None = None

    @model_serializer(mode="wrap")
    def _as_given(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        beyond = {*_BEYOND_THE_SEED, *map(to_camel, _BEYOND_THE_SEED)}
        members: dict[str, Any] = written(self)
        return {
            name: value
            for name, value in members.items()
            if value is not None or name not in beyond
        }

    @property
    def own_keys(self) -> dict[str, Any]:
        """The keys beyond the seed's, which only some stores know."""
        named = {
            to_camel(name): value
            for name in _BEYOND_THE_SEED
            if (value := getattr(self, name)) is not None
        }
        if self.order_by == "entry":
            named["orderBy"] = self.order_by
        return {**named, **(self.model_extra or {})}

    @cached_property
    def conditions(self) -> Where:
        """What must hold of data and meta."""
        return () if self.where is None else conditions(self.where)

    @property
    def asks_for_content(self) -> bool:
        """Whether the content of a record must be looked at, to know if it is asked for."""
        return bool(self.conditions) or self.thread is not None

    @property
    def unpaged(self) -> "MemoryFilter":
        """The same, for all records that it asks for."""
        if self.limit is None and not self.offset:
            return self
        return self.model_copy(update={"limit": None, "offset": 0})


_BEYOND_THE_SEED: Final = (
    "updated_after", "updated_before", "id_prefix", "tag_prefix", "where", "subject", "thread",
)  # fmt: skip

PLAIN_KEYS: Final = frozenset(
    {"updatedAfter", "updatedBefore", "idPrefix", "tagPrefix", "where", "orderBy"}
)
"""The keys of our own that every store of ours knows; `orderBy` is for the order by entry."""
GOVERNED_KEYS: Final = PLAIN_KEYS | {"subject", "thread"}
"""Those of a store whose records name whom they are about, and what they are a part of."""


class Judged(NamedTuple):
    """A record as a filter judges it: with whom it is about, and its thread, by its digest.

    `since` is its place in the order of writing.
    """

    record: StoredMemoryRecord[Any]
    subject: str | None = None
    thread: str | None = None
    since: int = 0

    def position(self, filter: MemoryFilter) -> Position:
        """Where it stands in the order that a filter asks for."""
        return position(filter, self.record.created_at, self.record.updated_at, self.since)


def position(filter: MemoryFilter, created_at: int, updated_at: int, since: int) -> Position:
    """Where a record stands in the order that a filter asks for."""
    times = {"createdAt": created_at, "updatedAt": updated_at}
    return Position(times.get(filter.order_by, 0), since)


def refuse_unknown_keys(filter: MemoryFilter, known: frozenset[str]) -> None:
    """Refuse a filter with a key that the store does not declare (MEM-FILTER)."""
    unknown = sorted(filter.own_keys.keys() - known)
    if unknown:
        named = set(MemoryFilter.model_fields) - set(_BEYOND_THE_SEED)
        near = get_close_matches(unknown[0], [*sorted(named), *sorted(known)], n=1)
        why = f"Did you mean {near[0]}?" if near else "See the store's capabilities."
        raise UnknownFilterKey(", ".join(unknown), why)


def matches(
    filter: MemoryFilter,
    record: StoredMemoryRecord[Any],
    subject: str | None = None,
    thread: str | None = None,
) -> bool:
    """Whether the filter asks for this record, which is about a subject and of a thread.

    The thread is given by its digest. Paging aside.
    """
    return (
        (filter.ids is None or record.id in filter.ids)
        and (filter.tags is None or set(filter.tags) <= set(record.tags or ()))
        and (filter.created_after is None or record.created_at >= filter.created_after)
        and (filter.created_before is None or record.created_at <= filter.created_before)
        and (filter.updated_after is None or record.updated_at >= filter.updated_after)
        and (filter.updated_before is None or record.updated_at <= filter.updated_before)
        and (filter.id_prefix is None or record.id.startswith(filter.id_prefix))
        and (filter.tag_prefix is None or _has_tag(record, filter.tag_prefix))
        and (filter.subject is None or subject == filter.subject)
        and (filter.thread is None or thread == thread_digest(filter.thread))
        and holds(filter.conditions, record.data, record.meta)
    )


def _has_tag(record: StoredMemoryRecord[Any], prefix: str) -> bool:
    return any(tag.startswith(prefix) for tag in record.tags or ())


def select(
    filter: MemoryFilter,
    records: Iterable[StoredMemoryRecord[T]],
    after: Position | None = None,
) -> list[StoredMemoryRecord[T]]:
    """The records that the filter asks for, in its order, cut to its page.

    They are given in the order in which they were created; one that was deleted and is created
    again is created last.
    """
    numbered = [Judged(record, since=since) for since, record in enumerate(records)]
    return [item.record for item in select_by(filter, numbered, lambda judged: judged, after)]


def select_by(
    filter: MemoryFilter,
    values: Iterable[V],
    judge: Callable[[V], Judged],
    after: Position | None = None,
) -> list[V]:
    """The same of any values; only those that stand after a position, if one is given."""
    found = []
    for value in values:
        judged = judge(value)
        if matches(filter, judged.record, judged.subject, judged.thread):
            found.append((judged.position(filter), value))
    found.sort(key=itemgetter(0), reverse=filter.order == "desc")
    if after is not None:
        found = [(here, value) for here, value in found if is_after(filter, here, after)]
    end = None if filter.limit is None else filter.offset + filter.limit
    return [value for _, value in found[filter.offset : end]]


def is_after(filter: MemoryFilter, here: Position, there: Position) -> bool:
    """Whether a position comes after another in the order that a filter asks for."""
    return here < there if filter.order == "desc" else here > there
