"""Changes of memory as operations: what a policy is asked about, and how a proposal holds them.

A change is the object's next version, whole: what somebody approves is exactly what is written.
"""

from collections.abc import Sequence
from typing import Any, Final

from recollect.identity import canonical_bytes, decode
from recollect.journeys.govern.drafts import content_of
from recollect.kernel.errors import RecordExists, VersionConflict
from recollect.kernel.json import JsonValue
from recollect.ledger.derive import inputs_of, row_of, tags_of
from recollect.ledger.unit import Current, Draft
from recollect.records.authority import MemoryOperation, OperationType
from recollect.records.model import StoredMemoryRecord

_KINDS: Final[dict[str, OperationType]] = {"invalidate": "delete", "archive": "demote"}


def operation_of(draft: Draft, actor_id: str) -> MemoryOperation:
    """What a change is to a policy, with the record that it concerns.

    A next version that raises trust, or makes active what was put away, is a promotion.
    """
    document = decode(draft.body)
    before = None if draft.replaces is None else decode(draft.replaces.body)
    type_ = _KINDS.get(draft.kind)
    if type_ is None:
        if before is None or draft.replaces is None:
            type_ = "create"
        elif draft.replaces.status != "active" or before["trust"] != document["trust"]:
            type_ = "promote"
        else:
            type_ = "update"
    meta = {"reason": document["reason"]} if "reason" in document else None
    return MemoryOperation(type=type_, record=_record(draft), actor_id=actor_id, meta=meta)


def to_wire(draft: Draft) -> dict[str, JsonValue]:
    """A change as a proposal holds it: the event, the object as it will be, and what it follows."""
    wire: dict[str, JsonValue] = {"event": draft.kind, "object": decode(draft.body)}
    if draft.replaces is not None:
        wire["follows"] = draft.replaces.number
    return wire


def id_of(change: JsonValue) -> str:
    """The id of the object that a change is about."""
    return str(change["object"]["id"])


def from_wire(
    changes: Sequence[JsonValue], found: Sequence[Current | None], *, salts: Sequence[bytes]
) -> list[Draft]:
    """The changes of a proposal on the objects as they are now.

    VersionConflict, or RecordExists, if somebody else changed one of them meanwhile.
    """
    newest = {id_of(one): current for one, current in zip(changes, found, strict=True)}
    drafts = []
    for change, salt in zip(changes, salts, strict=True):
        id, document = id_of(change), change["object"]
        current, follows = newest[id], change.get("follows")
        if follows is None and current is not None:
            raise RecordExists(id)
        if follows is not None and (current is None or current.number != follows):
            raise VersionConflict(id, follows, 0 if current is None else current.number)
        body = canonical_bytes(document)
        draft = Draft(
            change["event"],
            body,
            salt,
            row_of(document),
            tags_of(document),
            current,
            () if current is None else tags_of(decode(current.body)),
            inputs_of(body),
        )
        newest[id] = Current(*row_of(document), body)
        drafts.append(draft)
    return drafts


def _record(draft: Draft) -> StoredMemoryRecord[Any]:
    """The record as it is before the change, or as it will be where there is none."""
    source = draft.replaces
    body = draft.body if source is None else source.body
    row = row_of(decode(body))
    data, tags, meta = content_of(decode(body))
    return StoredMemoryRecord(row.id, data, row.created_at, row.updated_at, tags, meta)
