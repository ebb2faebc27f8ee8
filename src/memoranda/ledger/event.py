"""The MemoryLog event: the seed's six types and its fields, and no others (GOV-LOG).

`prev_hash` and `new_hash` are hashes of the state of an object (or a policy) before and after. The
seed has no type for an update, a supersession, an erasure or a re-audit; they are logged so:

=====================  ==================  ====================================================
what happened          event_type          beside the seed's fields
=====================  ==================  ====================================================
created                create              prev_hash null
updated, reinstated    create              prev_hash null, `supersedes`: the hash before
superseded by another  invalidate          `superseded_by`: the id of the other one
the other one          create              `supersedes`: the hash that it replaces
erased                 archive             `erasure`: true, new_hash of the tombstone
consolidated           consolidate         `input_ids output_id justification reconstruction`
re-audited             policy_change       `audit_ref`
=====================  ==================  ====================================================

An object's event is derived from the object, so a journal that keeps its objects keeps its log.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal

from memoranda.kernel.actors import ActorKind
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import InvalidEvent
from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import ClosedModel, Refusal, tuple_of
from memoranda.ledger.entry import MEMORY_LOG_KINDS, MemoryLogKind
from memoranda.ledger.model import Hash, JsonObject, Text, Time
from memoranda.ledger.object import hash_name, status_of

EventType = MemoryLogKind
EVENT_TYPES: Final = MEMORY_LOG_KINDS

LogActor = Literal["system", "human", "policy-engine"]

LOG_ACTORS: Final[Mapping[ActorKind, LogActor]] = {
    "human": "human",
    "agent": "system",
    "system": "system",
    "policy": "policy-engine",
}
"""Who acted, in the three words of the log; the ActorRef itself is kept in an erasable body."""

NEEDS_REASON: Final = frozenset({"invalidate", "archive", "conformance_break"})
STARTS: Final = frozenset({"create", "consolidate"})
"""Events before which there is no state: prev_hash is null, new_hash is set."""
CHANGES: Final = frozenset({"invalidate", "archive", "policy_change"})
"""Events that lead from one state to another: both hashes are set."""

FIELDS: Final = (
    *("event_id", "event_type", "memory_object_id", "timestamp"),
    *("actor", "reason", "prev_hash", "new_hash"),
)
"""The fields that each event has, in the order of the seed's examples; nulls are written."""

OPTIONAL: Final = (
    *("supersedes", "superseded_by", "erasure", "audit_ref"),
    *("input_ids", "output_id", "justification", "diff", "reconstruction"),
)
"""Our members beside them, written only where they say something."""

METHOD: Final = "memoranda/consolidate/1"
"""How a consolidated object is rebuilt; a change of any step is another method."""

GIVEN: Final = (
    *("id", "timestamp", "nonce", "verdict_type", "trust", "origin"),
    *("valid_from", "valid_to", "temporal_scope", "tags", "meta", "expires"),
    *("derived_fragments", "conflicts"),
)
"""The members of a consolidated object that its inputs don't determine."""


def event_document(
    *,
    event_id: str,
    event_type: EventType,
    memory_object_id: str,
    at: int,
    actor: LogActor,
    reason: str | None = None,
    prev_hash: str | None = None,
    new_hash: str | None = None,
    **members: JsonValue,
) -> dict[str, JsonValue]:
    """An event as it is exported; members that are None are left out (GOV-LOG)."""
    document: dict[str, JsonValue] = {
        "event_id": event_id,
        "event_type": event_type,
        "memory_object_id": memory_object_id,
        "timestamp": format_time(at),
        "actor": actor,
        "reason": reason,
        "prev_hash": prev_hash,
        "new_hash": new_hash,
    }
    for name in OPTIONAL:
        if members.get(name) is not None:
            document[name] = members[name]
    return document


def members_of(
    event_type: EventType, document: Mapping[str, JsonValue], digest: str
) -> dict[str, JsonValue]:
    """What an event says of the object that it led to, from that object alone.

    An erased body leaves an event without these; it still has its type, time, id and actor.
    """
    before = document.get("supersedes")
    members: dict[str, JsonValue] = {
        "memory_object_id": document["id"],
        "reason": document.get("reason"),
        "new_hash": hash_name(digest),
    }
    if event_type in CHANGES:
        members["prev_hash"] = before
        members["superseded_by"] = document.get("superseded_by")
        if status_of(document) == "erased":
            members["erasure"] = True
    elif before is not None:
        members["supersedes"] = before
    if event_type == "consolidate":
        members["input_ids"] = [value["id"] for value in document["inputs"]]
        members["output_id"] = document["id"]
        members["justification"] = document["justification"]
        members["reconstruction"] = {
            **document["reconstruction"],
            "inputs": document["inputs"],
            "justification": document["justification"],
            "given": {name: document[name] for name in GIVEN if name in document},
        }
    return members


def event_of(
    event_type: EventType,
    document: Mapping[str, JsonValue],
    *,
    digest: str,
    event_id: str,
    at: int,
    actor: LogActor,
) -> dict[str, JsonValue]:
    """The event that led to an object, as it is exported (GOV-LOG)."""
    return event_document(
        event_id=event_id,
        event_type=event_type,
        at=at,
        actor=actor,
        **members_of(event_type, document, digest),
    )


class LogEvent(ClosedModel):
    """An event of a MemoryLog, checked member by member (GOV-LOG).

    What a type demands of its members is `validate_log`'s to say: it names every violation.
    """

    refusal: ClassVar[Refusal] = InvalidEvent

    event_id: Text
    event_type: EventType
    memory_object_id: Text
    timestamp: Time
    actor: LogActor
    reason: str | None = None
    prev_hash: Hash | None = None
    new_hash: Hash | None = None

    supersedes: Hash | None = None
    superseded_by: Text | None = None
    erasure: Literal[True] | None = None
    audit_ref: Text | None = None
    input_ids: Annotated[Sequence[str], tuple_of(Text)] | None = None
    output_id: Text | None = None
    justification: Text | None = None
    diff: Any = None
    reconstruction: JsonObject | None = None

    @property
    def document(self) -> dict[str, JsonValue]:
        """The event as it is exported: the seed's fields, and of ours what was given."""
        given = self.model_dump(mode="json", exclude_unset=True)
        return {**{name: getattr(self, name) for name in FIELDS}, **given}
