"""The record that is given, the record that is kept, and what may be done to one (D-MEM-REC).

Python attributes are snake_case; the wire has the seed's camelCase names. 'Absent' and 'null' are
the same for tags and meta, which are optional; for data they are not: null is a value.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    Literal,
    Protocol,
    TypeVar,
    get_args,
    runtime_checkable,
)

from pydantic import Field, InstanceOf

from memoranda.kernel.errors import InvalidOption, InvalidPatch
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.results import Result
from memoranda.kernel.wire import STORABLE, WireModel, tuple_of

T = TypeVar("T")

Milliseconds = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
"""Milliseconds since 1970, as on the wire (MEM-CRUD-5)."""

MemoryId = Annotated[str, Field(min_length=1, max_length=512), STORABLE]
Tag = Annotated[str, Field(min_length=1, max_length=256), STORABLE]
Tags = Annotated[Sequence[str], tuple_of(Tag)]
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Texts = Annotated[Sequence[str], tuple_of(str)]


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


# ------------------------------------------------------------------------------------------------
# Operations on memory that may need approval, and who says which do (D-MEM-5).
#
# How such an operation becomes a proposal is described in `journeys.govern`.

OperationType = Literal["create", "update", "delete", "promote", "demote"]
Risk = Literal["low", "medium", "high"]
RISKS: Final[tuple[Risk, ...]] = get_args(Risk)
"""From the least to the greatest."""


class MemoryOperation(WireModel):
    """Who wants to do what, to which record (EXT-TYPES).

    ``record`` is what would be there: the record as it becomes, or, where it is deleted or put
    away, as it is now.
    """

    type: OperationType
    record: InstanceOf[StoredMemoryRecord[Any]] | None = None
    before: InstanceOf[StoredMemoryRecord[Any]] | None = None
    """The version that is there now; None for a create, also under the id of a deleted record."""
    after: InstanceOf[StoredMemoryRecord[Any]] | None = None
    """The version that would follow; None where the record is deleted or put away."""
    actor_id: Annotated[str, Field(min_length=1, max_length=256), STORABLE]
    meta: dict[str, Any] | None = None

    def to_wire(self) -> dict[str, JsonValue]:
        """The operation under the seed's names; what is absent is left out."""
        wire: dict[str, JsonValue] = {"type": self.type, "actorId": self.actor_id}
        for name in ("record", "before", "after"):
            if (record := getattr(self, name)) is not None:
                wire[name] = record.to_wire()
        if self.meta is not None:
            wire["meta"] = dict(self.meta)
        return wire


class MemoryAuthorityPolicy(Protocol):
    """Says which operations need approval; optional, as is the risk (MEM-AUTH-1, MEM-AUTH-3)."""

    def requires_authority(self, operation: MemoryOperation, /) -> bool:
        """Whether somebody has to approve it; one that needs none makes no World (MEM-AUTH-4)."""
        ...


@runtime_checkable
class AssessesRisk(Protocol):
    """A policy that also says how risky an operation is."""

    def assess_risk(self, operation: MemoryOperation, /) -> Risk:
        """Low, medium or high."""
        ...


def risk_of(policy: MemoryAuthorityPolicy, operation: MemoryOperation) -> Risk | None:
    """How risky a policy calls an operation; None where it assesses no risks.

    InvalidOption where what it says is no risk: nobody could judge by it.
    """
    if not isinstance(policy, AssessesRisk):
        return None
    risk = policy.assess_risk(operation)
    if risk not in RISKS:
        known = ", ".join(RISKS)
        raise InvalidOption("memory_policy", f"it assesses a risk as {risk!r}; say one of {known}")
    return risk


# ------------------------------------------------------------------------------------------------
# Retention as a pure function: which records would go, and why (MEM-MAINT-2).

RetentionCause = Literal["ephemeral tag", "past max age", "beyond max records"]


class MemoryRetentionPolicy(WireModel):
    """How long records stay: the seed's maxAge (milliseconds), maxRecords, ephemeralTags."""

    max_age: Count | None = None
    max_records: Count | None = None
    ephemeral_tags: Texts = ()


class MemoryMaintenanceConfig(WireModel):
    """Whether a store takes part in maintenance, and what it keeps then (MEM-MAINT-1)."""

    enabled: bool
    retention: MemoryRetentionPolicy


@dataclass(frozen=True, slots=True)
class Expiry:
    """A record that the policy would let go, and the first cause that applies to it."""

    id: str
    cause: RetentionCause
    why: str


def expiries(
    policy: MemoryRetentionPolicy, records: Iterable[StoredMemoryRecord[Any]], *, now: int
) -> list[Expiry]:
    """What would go at this time, newest records last to be judged superfluous.

    1. a record with an ephemeral tag goes
    2. one whose last update is more than max_age ago goes
    3. of those that remain, the newest max_records stay: newest first by creation
    """
    ephemeral = set(policy.ephemeral_tags)
    gone: list[Expiry] = []
    kept: list[StoredMemoryRecord[Any]] = []
    for record in records:
        # 1.
        tags = sorted(ephemeral.intersection(record.tags or ()))
        age = now - record.updated_at
        if tags:
            gone.append(Expiry(record.id, "ephemeral tag", f"tagged {', '.join(tags)}"))
        # 2.
        elif policy.max_age is not None and age > policy.max_age:
            why = f"last updated {age} ms ago, the limit is {policy.max_age}"
            gone.append(Expiry(record.id, "past max age", why))
        else:
            kept.append(record)
    # 3.
    if policy.max_records is not None and len(kept) > policy.max_records:
        kept.sort(key=lambda record: (-record.created_at, record.id))
        why = f"more than {policy.max_records} records"
        gone += [Expiry(r.id, "beyond max records", why) for r in kept[policy.max_records :]]
    return gone
