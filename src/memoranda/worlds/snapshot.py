"""The snapshot: a whole state at one moment, as the core protocol has it.

``meta`` has exactly four members (APP-INPUT-3); what an app adds stands at ``input.$app``
(APP-INPUT-1). A snapshot is checked at the edges; inside, plain mappings of the same shape do.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import tuple_of
from memoranda.worlds.values import (
    NULLABLE,
    Count,
    Id,
    Json,
    JsonObject,
    Milliseconds,
    Name,
    Text,
    WorldModel,
)

SystemStatus = Literal["idle", "computing", "pending", "error"]


class SnapshotMeta(WorldModel):
    """Exactly these four members: nobody adds one (APP-INPUT-3)."""

    version: Count
    timestamp: Milliseconds
    random_seed: Text
    schema_hash: Id


class ErrorSource(WorldModel):
    """Which action failed, and where in it."""

    action_id: Text
    node_path: Text


class ErrorValue(WorldModel):
    """An error as a value: failures are results, not exceptions."""

    code: Name
    message: Text
    source: ErrorSource
    timestamp: Milliseconds
    context: JsonObject | None = None


class FlowPosition(WorldModel):
    """Where a computation waits."""

    node_path: Text
    snapshot_version: Count


class Requirement(WorldModel):
    """What a computation still waits for; a terminal snapshot has none, or it failed."""

    id: Id
    type: Name
    params: JsonObject
    action_id: Text
    flow_position: FlowPosition
    created_at: Milliseconds


class SystemState(WorldModel):
    """How the computation stands: its errors as values, and what it waits for."""

    status: SystemStatus
    last_error: ErrorValue | None
    errors: Annotated[Sequence[ErrorValue], tuple_of(ErrorValue)]
    pending_requirements: Annotated[Sequence[Requirement], tuple_of(Requirement)]
    current_action: Text | None


class Snapshot(WorldModel):
    """A state, what is computed from it, how it stands, what went in, and its four meta members.

    ``input`` that is absent and ``input`` that is null are two snapshots.
    """

    data: Json
    computed: JsonObject
    system: SystemState
    input: Annotated[Json, NULLABLE] = None
    meta: SnapshotMeta

    @classmethod
    def known(cls, wire: Mapping[str, JsonValue]) -> "Snapshot":
        """The snapshot of a document that was one before, say one from a journal.

        Its data is neither checked nor copied: whoever has it must not change it.
        """
        members: dict[str, Any] = {
            "data": wire["data"],
            "computed": wire["computed"],
            "system": SystemState.from_wire(wire["system"]),
            "meta": SnapshotMeta.from_wire(wire["meta"]),
        }
        if "input" in wire:
            members["input"] = wire["input"]
        return cls.model_construct(**members)


def idle() -> SystemState:
    """The state of a system that has nothing to do and no errors."""
    return SystemState(
        status="idle", last_error=None, errors=(), pending_requirements=(), current_action=None
    )


def initial_snapshot(data: JsonValue, schema_hash: str, *, now: int, random_seed: str) -> Snapshot:
    """The first snapshot of a domain: version 0, nothing computed, no input."""
    meta = SnapshotMeta(version=0, timestamp=now, random_seed=random_seed, schema_hash=schema_hash)
    return Snapshot(data=data, computed={}, system=idle(), meta=meta)
