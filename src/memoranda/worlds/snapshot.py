"""What the values of the world protocol have in common: frozen, strict, closed, by value.

Python attributes are snake_case, the wire has the documents' camelCase names. A member that the
documents call optional is left out when it is absent; one that may be null as well is marked
`NULLABLE`, and then absent and null differ, in every hash too. JSON inside a value is taken by
value when the value is made: what its giver does to it later never reaches it.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, Field

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidJson, InvalidWorld
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.results import short_repr
from memoranda.kernel.wire import STORABLE, Refusal, WireModel, tuple_of

_PLAIN: Final = frozenset({str, int, bool})
NULLABLE: Final = "absent and null differ"
"""Marks an optional member that may be null as well."""


def by_value(value: JsonValue) -> JsonValue:
    """A copy as it would come back from a store; a ValueError where it is not our JSON."""
    if value is None:
        return None
    try:
        return decode(canonical_bytes(value))
    except InvalidJson as refused:
        raise ValueError(f"{refused.why}, at {refused.where}") from None


Json = Annotated[Any, AfterValidator(by_value)]
JsonObject = Annotated[dict[str, Any], AfterValidator(by_value)]
Text = Annotated[str, STORABLE]
Name = Annotated[str, Field(min_length=1), STORABLE]
Id = Annotated[str, Field(min_length=1, max_length=512), STORABLE]
"""An id of the world protocol: opaque, never parsed."""
Count = Annotated[int, Field(ge=0, le=MAX_INTEGER)]
Milliseconds = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]
Names = Annotated[Sequence[str], tuple_of(Text)]
Outcome = Literal["completed", "failed"]


class WorldModel(WireModel):
    """A value of the world protocol; two are equal when their canonical bytes are."""

    refusal: ClassVar[Refusal] = InvalidWorld

    @classmethod
    def from_wire(cls, given: Mapping[str, JsonValue]) -> Self:
        """The value of a document with the wire's names, or InvalidWorld with where and why."""
        whole = dict(given) if isinstance(given, Mapping) else given
        return cls.model_validate(whole, by_alias=True, by_name=False)

    def to_wire(self) -> dict[str, JsonValue]:
        """The value under the wire's names; what is absent is left out, what is null stays.

        The objects are fresh, the JSON inside them is the value's own: don't change it.
        """
        return wire_of(self)

    def canonical(self) -> bytes:
        """The bytes that are stored and hashed: RFC 8785 of the wire form."""
        return canonical_bytes(self.to_wire())

    def __repr__(self) -> str:
        return short_repr(self, self.to_wire())

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, WorldModel):
            return NotImplemented
        return self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash(self.canonical())


def same_actor(actor: ActorRef, other: ActorRef) -> bool:
    """Whether both are the same: by id and kind; a name or meta makes nobody else."""
    return (actor.actor_id, actor.kind) == (other.actor_id, other.kind)


def wire_of(model: BaseModel) -> dict[str, JsonValue]:
    """A model under the wire's names: the one place that knows what is left out."""
    members, wire = model.__dict__, {}
    for name, alias, leaves_out in _members(type(model)):
        value = members[name]
        if value is not None:
            wire[alias] = value if type(value) in _PLAIN else _wire(value)
        elif leaves_out == "never" or (leaves_out == "unset" and name in model.model_fields_set):
            wire[alias] = None
    if model.model_extra:
        wire.update(model.model_extra)
    return wire


def _wire(value: object) -> JsonValue:
    if isinstance(value, BaseModel):
        return wire_of(value)
    if isinstance(value, tuple):
        return [_wire(item) for item in value]
    if isinstance(value, dict) and isinstance(next(iter(value.values()), None), BaseModel):
        return {name: _wire(member) for name, member in value.items()}
    return value


@cache
def _members(kind: type[BaseModel]) -> tuple[tuple[str, str, str], ...]:
    members = []
    for name, field in kind.model_fields.items():
        if field.is_required() or field.default is not None:
            leaves_out = "never"
        else:
            leaves_out = "unset" if NULLABLE in field.metadata else "null"
        members.append((name, field.serialization_alias or field.alias or name, leaves_out))
    return tuple(members)


# ------------------------------------------------------------------------------------------------
# The snapshot: a whole state at one moment, as the core protocol has it.
#
# ``meta`` has exactly four members (APP-INPUT-3); what an app adds stands at ``input.$app``
# (APP-INPUT-1). A snapshot is checked at the edges; inside, plain mappings of the same shape do.

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
        system = wire["system"]
        members: dict[str, Any] = {
            "data": wire["data"],
            "computed": wire["computed"],
            "system": IDLE if system == _IDLE else SystemState.from_wire(system),
            "meta": SnapshotMeta.from_wire(wire["meta"]),
        }
        if "input" in wire:
            members["input"] = wire["input"]
        return cls.model_construct(**members)


IDLE: Final = SystemState(
    status="idle", last_error=None, errors=(), pending_requirements=(), current_action=None
)
"""The state of a system that has nothing to do and no errors."""
_IDLE: Final = IDLE.to_wire()


def initial_snapshot(data: JsonValue, schema_hash: str, *, now: int, random_seed: str) -> Snapshot:
    """The first snapshot of a domain: version 0, nothing computed, no input."""
    meta = SnapshotMeta(version=0, timestamp=now, random_seed=random_seed, schema_hash=schema_hash)
    return Snapshot(data=data, computed={}, system=IDLE, meta=meta)


# -------------------------------------------------------------------------- hashes

# What makes a world the same world: hash inputs and ids (WORLD-ID).
#
# Only what a run led to counts: ``data`` without the platform's own top-level members (those that
# begin with ``$``), how it ended, the signatures of its errors, what it still waited for. Input,
# meta, computed, messages and times don't: memory never changes a world's identity.


PLATFORM: Final = "$"
"""Top-level members of data that begin so are the platform's, and no part of its identity."""

NOTHING_PENDING: Final = "empty"


def snapshot_hash(snapshot: Snapshot | Mapping[str, JsonValue]) -> str:
    """The hash of what a run led to: 64 hexadecimal digits (WORLD-ID)."""
    return sha256_hex(canonical_bytes(hash_input(snapshot)))


def world_id(schema_hash: str, snapshot_hash: str) -> str:
    """The worldId: hash(schemaHash + ':' + snapshotHash); opaque to everyone else (WORLD-ID)."""
    return sha256_hex(f"{schema_hash}:{snapshot_hash}".encode())


def hash_input(snapshot: Snapshot | Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """What is hashed, as a value, or InvalidWorld where a mapping is no snapshot.

    1. data without the platform's members; null and absent data are {}
    2. the terminal status: failed where there is an error or something pending
    3. the errors' signatures, duplicates kept, in the order of their hashes
    4. the digest of what is pending
    """
    whole = snapshot.to_wire() if isinstance(snapshot, Snapshot) else snapshot
    if not isinstance(whole, Mapping):
        raise InvalidWorld("$", "a snapshot is an object")
    system = whole.get("system")
    if not isinstance(system, Mapping):
        raise InvalidWorld("$.system", "a snapshot has a system state")
    return {
        "data": _own_data(whole.get("data")),  # 1.
        "system": {
            "terminalStatus": terminal_status(system),  # 2.
            "errors": _signatures(_array(system, "errors")),  # 3.
            "pendingDigest": _pending_digest(_array(system, "pendingRequirements")),  # 4.
        },
    }


def terminal_status(system: Mapping[str, JsonValue]) -> Outcome:
    """How a run ended, by its errors and what it waits for; its status string doesn't count."""
    if "lastError" not in system:
        raise InvalidWorld(
            "$.system.lastError", "it is missing; write null where there was no error"
        )
    failed = system["lastError"] is not None or _array(system, "pendingRequirements")
    return "failed" if failed else "completed"


def _own_data(data: JsonValue) -> JsonValue:
    if data is None:
        return {}
    if not isinstance(data, dict):
        return data
    return {name: value for name, value in data.items() if not _is_platform(name)}


def _is_platform(name: object) -> bool:
    return isinstance(name, str) and name.startswith(PLATFORM)


def _array(system: Mapping[str, JsonValue], name: str) -> Sequence[JsonValue]:
    found = system.get(name)
    if not isinstance(found, list | tuple):
        raise InvalidWorld(f"$.system.{name}", "it is no list")
    return found


def _signatures(errors: Sequence[JsonValue]) -> list[JsonValue]:
    signatures = [_signature(error, f"$.system.errors[{n}]") for n, error in enumerate(errors)]
    return sorted(signatures, key=lambda found: sha256_hex(canonical_bytes(found)))


def _signature(error: JsonValue, where: str) -> dict[str, JsonValue]:
    """What of an error is the same whenever it happens: no message, time or context."""
    try:
        source = error["source"]
        place = {"actionId": source["actionId"], "nodePath": source["nodePath"]}
        return {"code": error["code"], "source": place}
    except (KeyError, TypeError, IndexError):
        raise InvalidWorld(
            where, "an error has a code, and a source with actionId and nodePath"
        ) from None


def _pending_digest(pending: Sequence[JsonValue]) -> str:
    if not pending:
        return NOTHING_PENDING
    ids = [
        _id(requirement, f"$.system.pendingRequirements[{n}]")
        for n, requirement in enumerate(pending)
    ]
    ids.sort(key=lambda name: name.encode("utf-16-be", "surrogatepass"))  # as keys are in RFC 8785
    return sha256_hex(canonical_bytes({"pendingIds": ids}))


def _id(requirement: JsonValue, where: str) -> str:
    if isinstance(requirement, Mapping) and isinstance(found := requirement.get("id"), str):
        return found
    raise InvalidWorld(where, "a requirement has an id")
