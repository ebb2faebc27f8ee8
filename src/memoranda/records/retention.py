"""Retention as a pure function: which records would go, and why (MEM-MAINT-2)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from memoranda.kernel.wire import WireModel
from memoranda.records.filter import Count, Texts
from memoranda.records.model import StoredMemoryRecord

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
