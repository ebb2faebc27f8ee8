"""Changes of memory as operations: what a policy is asked about, and how a proposal holds them.

A change is the object's next version, whole: what somebody approves is exactly what is written.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.govern.drafts import content_of
from memoranda.kernel.errors import RecordExists, VersionConflict
from memoranda.kernel.json import JsonValue
from memoranda.ledger.derive import inputs_of, row_of, tags_of
from memoranda.ledger.trust import is_at_least
from memoranda.ledger.unit import Current, Draft
from memoranda.records.authority import MemoryOperation, OperationType
from memoranda.records.model import StoredMemoryRecord

_KINDS: Final[dict[str, OperationType]] = {"invalidate": "delete", "archive": "demote"}


def operation_of(draft: Draft, actor_id: str) -> MemoryOperation:
    """What a change is to a policy, with the record before and after it.

    A next version that raises trust, or makes active what was put away, is a promotion, unless it
    is created anew.
    """
    document = decode(draft.body)
    replaced = None if draft.is_new else draft.replaces
    type_ = _KINDS.get(draft.kind) or _type_of(document, replaced)
    before = None if replaced is None else _record(replaced.body)
    after = None if draft.kind in _KINDS else _record(draft.body)
    return MemoryOperation(
        type=type_,
        record=after or before,
        before=before,
        after=after,
        actor_id=actor_id,
        meta={"reason": document["reason"]} if "reason" in document else None,
    )


def _type_of(document: Mapping[str, Any], replaced: Current | None) -> OperationType:
    if replaced is None:
        return "create"
    is_raised = not is_at_least(decode(replaced.body)["trust"], document["trust"])
    return "promote" if is_raised or replaced.status != "active" else "update"


def to_wire(draft: Draft) -> dict[str, JsonValue]:
    """A change as a proposal holds it: the event, the object as it will be, and what it follows."""
    wire: dict[str, JsonValue] = {"event": draft.kind, "object": decode(draft.body)}
    if draft.replaces is not None:
        wire["follows"] = draft.replaces.number
        if draft.is_new:
            wire["new"] = True
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
            is_new=follows is None or change.get("new", False),
        )
        newest[id] = Current(*row_of(document), body)
        drafts.append(draft)
    return drafts


def _record(body: bytes) -> StoredMemoryRecord[Any]:
    row = row_of(decode(body))
    data, tags, meta = content_of(decode(body))
    return StoredMemoryRecord(row.id, data, row.created_at, row.updated_at, tags, meta)
