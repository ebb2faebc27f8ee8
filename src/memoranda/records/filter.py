"""What a filter means, defined once: every store must agree with `select` (MEM-FILTER).

- all tags must be present; time bounds are inclusive
- newest first unless said otherwise; ties in the order of writing, reversed where the order is, so
  that it is always total: of what was written in one millisecond the last is the newest
- limit 0 is an empty result; offset skips from the front of the order
- beyond the seed's keys: when a record was updated, how its id or one of its tags begins, and
  conditions on its data and meta (`records.where`); a governed store also knows its subject
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from operator import itemgetter
from typing import Annotated, Any, ClassVar, Final, Literal, TypeVar

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.alias_generators import to_camel

from memoranda.kernel.errors import InvalidFilter, UnknownFilterKey
from memoranda.kernel.json import MAX_INTEGER
from memoranda.kernel.wire import Refusal, WireModel, tuple_of
from memoranda.records.model import Milliseconds, StoredMemoryRecord
from memoranda.records.where import Where, conditions, holds

T = TypeVar("T")
V = TypeVar("V")

MAX_TAGS = 32
"""Tags of one filter: each is a look-up for every record that has the others."""

Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Texts = Annotated[Sequence[str], tuple_of(str)]


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
    order_by: Literal["createdAt", "updatedAt"] = "createdAt"
    order: Literal["asc", "desc"] = "desc"

    updated_after: Milliseconds | None = None
    updated_before: Milliseconds | None = None
    id_prefix: str | None = None
    tag_prefix: str | None = None
    where: Annotated[Mapping[str, Any], AfterValidator(_checked)] | None = None
    subject: str | None = None

    @model_serializer(mode="wrap")
    def _as_given(self, written: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """The seed's keys, and of all others those that are given."""
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
        return {**named, **(self.model_extra or {})}

    @cached_property
    def conditions(self) -> Where:
        """What must hold of data and meta."""
        return () if self.where is None else conditions(self.where)


_BEYOND_THE_SEED: Final = (
    "updated_after", "updated_before", "id_prefix", "tag_prefix", "where", "subject",
)  # fmt: skip

PLAIN_KEYS: Final = frozenset({"updatedAfter", "updatedBefore", "idPrefix", "tagPrefix", "where"})
"""The keys of our own that every store of ours knows."""
GOVERNED_KEYS: Final = PLAIN_KEYS | {"subject"}
"""Those of a store whose records name whom they are about."""


def refuse_unknown_keys(filter: MemoryFilter, known: frozenset[str]) -> None:
    """Refuse a filter with a key that the store does not declare (MEM-FILTER)."""
    unknown = sorted(filter.own_keys.keys() - known)
    if unknown:
        named = set(MemoryFilter.model_fields) - set(_BEYOND_THE_SEED)
        near = get_close_matches(unknown[0], [*sorted(named), *sorted(known)], n=1)
        why = f"Did you mean {near[0]}?" if near else "See the store's capabilities."
        raise UnknownFilterKey(", ".join(unknown), why)


def matches(
    filter: MemoryFilter, record: StoredMemoryRecord[Any], subject: str | None = None
) -> bool:
    """Whether the filter asks for this record, which is about this subject; paging aside."""
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
        and holds(filter.conditions, record.data, record.meta)
    )


def _has_tag(record: StoredMemoryRecord[Any], prefix: str) -> bool:
    return any(tag.startswith(prefix) for tag in record.tags or ())


def select(
    filter: MemoryFilter, records: Iterable[StoredMemoryRecord[T]]
) -> list[StoredMemoryRecord[T]]:
    """The records that the filter asks for, in its order, cut to its page.

    They are given in the order in which they were created; one that was deleted and is created
    again is created last.
    """
    return select_by(filter, records, lambda record: (record, None))


def select_by(
    filter: MemoryFilter,
    values: Iterable[V],
    judged: Callable[[V], tuple[StoredMemoryRecord[Any], str | None]],
) -> list[V]:
    """The same of any values, each judged by a record and a subject."""
    time = "created_at" if filter.order_by == "createdAt" else "updated_at"
    found = []
    for value in values:
        record, subject = judged(value)
        if matches(filter, record, subject):
            found.append((getattr(record, time), value))
    found.sort(key=itemgetter(0))  # which leaves ties as they are
    if filter.order == "desc":
        found.reverse()
    end = None if filter.limit is None else filter.offset + filter.limit
    return [value for _, value in found[filter.offset : end]]
