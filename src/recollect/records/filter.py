"""What a filter means, defined once: every store must agree with `select` (MEM-FILTER).

- all tags must be present; time bounds are inclusive
- newest first unless said otherwise; ties by id, ascending, so that the order is always total
- limit 0 is an empty result; offset skips from the front of the order
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import ConfigDict, Field

from recollect.kernel.errors import InvalidFilter, UnknownFilterKey
from recollect.kernel.json import MAX_INTEGER
from recollect.kernel.wire import Refusal, WireModel, tuple_of
from recollect.records.model import Milliseconds, StoredMemoryRecord

T = TypeVar("T")

MAX_TAGS = 32
"""Tags of one filter: each is a look-up for every record that has the others."""

Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Texts = Annotated[Sequence[str], tuple_of(str)]


class MemoryFilter(WireModel):
    """Which records a query is about, and in which order they come.

    Keys beyond the seed's belong to a store; one that the store does not declare is refused
    with `UnknownFilterKey` when it is queried, never ignored (MEM-FILTER).
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

    @property
    def own_keys(self) -> dict[str, Any]:
        """The keys beyond the seed's, which only some stores know."""
        return self.model_extra or {}


def refuse_unknown_keys(filter: MemoryFilter, known: frozenset[str]) -> None:
    """Refuse a filter with a key that the store does not declare (MEM-FILTER)."""
    unknown = sorted(filter.own_keys.keys() - known)
    if unknown:
        near = get_close_matches(unknown[0], [*MemoryFilter.model_fields, *known], n=1)
        why = f"Did you mean {near[0]}?" if near else "See the store's capabilities."
        raise UnknownFilterKey(", ".join(unknown), why)


def matches(filter: MemoryFilter, record: StoredMemoryRecord[Any]) -> bool:
    """Whether the filter asks for this record; paging aside."""
    return (
        (filter.ids is None or record.id in filter.ids)
        and (filter.tags is None or set(filter.tags) <= set(record.tags or ()))
        and (filter.created_after is None or record.created_at >= filter.created_after)
        and (filter.created_before is None or record.created_at <= filter.created_before)
    )


def select(
    filter: MemoryFilter, records: Iterable[StoredMemoryRecord[T]]
) -> list[StoredMemoryRecord[T]]:
    """The records that the filter asks for, in its order, cut to its page."""
    found = [record for record in records if matches(filter, record)]
    sign = 1 if filter.order == "asc" else -1
    if filter.order_by == "createdAt":
        found.sort(key=lambda record: (sign * record.created_at, record.id))
    else:
        found.sort(key=lambda record: (sign * record.updated_at, record.id))
    end = None if filter.limit is None else filter.offset + filter.limit
    return found[filter.offset : end]
