"""The record that is given and the record that is kept: two types (D-MEM-REC).

Python attributes are snake_case; the wire has the seed's camelCase names. 'Absent' and 'null'
are the same for tags and meta, which are optional; for data they are not: null is a value.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Field

from memoranda.kernel.errors import InvalidPatch
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.results import Result
from memoranda.kernel.wire import STORABLE, WireModel, tuple_of

T = TypeVar("T")

Milliseconds = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
"""Milliseconds since 1970, as on the wire (MEM-CRUD-5)."""

MemoryId = Annotated[str, Field(min_length=1, max_length=512), STORABLE]
Tag = Annotated[str, Field(min_length=1, max_length=256), STORABLE]
Tags = Annotated[Sequence[str], tuple_of(Tag)]


class MemoryRecordInput(WireModel, Generic[T]):
    """A record as it is given: id and timestamps may be left to the store (D-MEM-REC)."""

    id: MemoryId | None = None
    data: T
    created_at: Milliseconds | None = None
    updated_at: Milliseconds | None = None
    tags: Tags | None = None
    meta: dict[str, Any] | None = None


@dataclass(frozen=True, init=False, repr=False)
class StoredMemoryRecord(Result, Generic[T]):
    """A record as it is kept: id and both timestamps are always there (MEM-REC-1, MEM-REC-2)."""

    id: str
    data: T
    created_at: int
    updated_at: int
    tags: tuple[str, ...] | None = None
    meta: Mapping[str, JsonValue] | None = None

    def __init__(
        self,
        id: str,
        data: T,
        created_at: int,
        updated_at: int,
        tags: tuple[str, ...] | None = None,
        meta: Mapping[str, JsonValue] | None = None,
    ) -> None:
        # All at once: a frozen dataclass sets each by a call, and every read makes one of these.
        self.__dict__.update(
            id=id,
            data=data,
            created_at=created_at,
            updated_at=updated_at,
            tags=tags,
            meta=meta,
        )


# ------------------------------------------------------------------------------------------------
# How a patch changes data: shallowly when data is an object (MEM-PATCH-1).


def merged(id: str, data: JsonValue, patch: JsonValue) -> JsonValue:
    """The data after the patch.

    An object takes the patch's members over its own, one level deep; null is a value like any
    other and sets null. Data that is no object is replaced. A patch that is no object can't be
    merged into one, and replacing it whole would lose members in silence: it is refused.
    """
    if not isinstance(data, dict):
        return patch
    if not isinstance(patch, dict):
        kind = type(patch).__name__
        raise InvalidPatch(id, f"its data is an object, and the patch is of type {kind}")
    return {**data, **patch}
