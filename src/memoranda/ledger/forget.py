"""Forgetting is governed: a verb, a reason, a cause, a new version; never silent (GOV-FORGET).

::

    active ──────► invalidated   it is not to be used any more
       │  ╲──────► archived      put away, references kept
       │   ╲─────► superseded    another object stands in its place
       ▼
    erased                       content gone, the proof kept; from every status, and final

An archived object may be invalidated and the other way round, a superseded one may be archived.
`reinstate` makes an archived or invalidated object active again, and is logged as its next version.
Prior versions are preserved by all verbs but `erase`, whose tombstone holds nothing of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from memoranda.identity import Frozen, canonical_bytes
from memoranda.kernel.errors import IllegalTransition, ReasonMissing
from memoranda.kernel.given import is_blank
from memoranda.kernel.json import JsonValue
from memoranda.ledger.event import EventType, members_of
from memoranda.ledger.object import (
    CAUSES,
    TYPE,
    Cause,
    Status,
    hash_name,
    next_version,
    status_of,
    version_of,
)
from memoranda.ledger.time import format_time

LEGAL: Final[Mapping[Status, frozenset[Status]]] = {
    "active": frozenset({"invalidated", "archived", "superseded", "erased"}),
    "invalidated": frozenset({"active", "archived", "erased"}),
    "archived": frozenset({"active", "invalidated", "erased"}),
    "superseded": frozenset({"archived", "erased"}),
    "erased": frozenset(),
}
"""Which status may follow which, by the verbs of this file."""

ERASED: Final = "[erased]"
"""The statement of every tombstone."""


@dataclass(frozen=True, slots=True)
class StatusChange:
    """The next version of an object, and what the log says of it."""

    object: Frozen
    event_type: EventType
    members: dict[str, JsonValue]
    """The event's members besides its id, time and actor."""


def changed(event_type: EventType, object: Frozen) -> StatusChange:  # noqa: A002 - it is one
    """A version that was made, with the members of the event that led to it."""
    return StatusChange(object, event_type, members_of(event_type, object.thaw(), object.digest))


# ---------------------------------------------------------------------------- verbs


def invalidate(current: Frozen, *, reason: str, cause: Cause, at: int, nonce: str) -> StatusChange:
    """Say that an object is not to be used any more (GOV-FORGET)."""
    return _put_away(
        current, "invalidated", "invalidate", reason=reason, cause=cause, at=at, nonce=nonce
    )


def archive(current: Frozen, *, reason: str, cause: Cause, at: int, nonce: str) -> StatusChange:
    """Put an object away; what refers to it still finds it (GOV-FORGET)."""
    return _put_away(current, "archived", "archive", reason=reason, cause=cause, at=at, nonce=nonce)


def reinstate(current: Frozen, *, reason: str, at: int, nonce: str) -> StatusChange:
    """Make an archived or invalidated object active again: its next version, as it was."""
    _legal(current.thaw(), "active", "reinstated")
    _refuse_blank(reason, "reinstate")
    return changed("create", next_version(current, at=at, nonce=nonce, reason=reason))


def supersede(
    current: Frozen, replacement: Frozen, *, reason: str, cause: Cause, at: int, nonce: str
) -> tuple[StatusChange, StatusChange]:
    """Let another object stand in the place of this one: two changes, to be made together.

    The replacement is a first version; it gets the hash of what it replaces.
    """
    new = replacement.thaw()
    if new["id"] == current.thaw()["id"]:
        raise IllegalTransition(new["id"], status_of(new), "superseded by itself: update it")
    old = _put_away(
        current,
        "superseded",
        "invalidate",
        reason=reason,
        cause=cause,
        at=at,
        nonce=nonce,
        superseded_by=new["id"],
    )
    new["supersedes"] = hash_name(current.digest)
    return old, changed("create", Frozen(canonical_bytes(new)))


def erase(
    current: Frozen,
    *,
    reason: str,
    cause: Cause,
    at: int,
    nonce: str,
    digests: Sequence[tuple[int, str]] = (),
) -> StatusChange:
    """Leave a tombstone: no statement, source, subject, tag, meta or time of the object's own.

    What stays is its id, its scope, its version and the hashes of the versions before, which the
    nonces within those made unguessable; of a consolidation also its inputs, by id and hash: so
    the log still has them. The tombstone is a statement of the system's. `digests` are those of
    all versions that go, by number, this one's last.
    """
    document = current.thaw()
    _legal(document, "erased", "erased")
    check_reason(reason, cause, "erase")
    tombstone = {
        "id": document["id"],
        "type": TYPE,
        "statement": ERASED,
        "statement_type": "SystemGeneratedStatement",
        "verdict_type": "Unanswered",
        "source_refs": [],
        "timestamp": format_time(at),
        "valid_from": None,
        "valid_to": None,
        "temporal_scope": "unknown",
        "applicability_scope": document["applicability_scope"],
        "version": str(version_of(document) + 1),
        "nonce": nonce,
        "trust": "unreviewed",
        "status": "erased",
        "reason": reason,
        "cause": cause,
        "supersedes": hash_name(digests[-1][1] if digests else current.digest),
    }
    if "inputs" in document:
        tombstone["inputs"] = document["inputs"]
    if digests:
        tombstone["erased"] = {str(number): hash_name(digest) for number, digest in digests}
    return changed("archive", Frozen(canonical_bytes(tombstone)))


# ---------------------------------------------------------------------------- rules


def _put_away(
    current: Frozen,
    status: Literal["invalidated", "archived", "superseded"],
    event_type: EventType,
    *,
    reason: str,
    cause: Cause,
    at: int,
    nonce: str,
    superseded_by: str | None = None,
) -> StatusChange:
    document = current.thaw()
    _legal(document, status, status)
    check_reason(reason, cause, event_type)
    version = next_version(
        current,
        at=at,
        nonce=nonce,
        status=status,
        reason=reason,
        cause=cause,
        superseded_by=superseded_by or document.get("superseded_by"),
    )
    return changed(event_type, version)


def _legal(document: Mapping[str, JsonValue], after: Status, verb: str) -> None:
    before = status_of(document)
    if after not in LEGAL[before]:
        raise IllegalTransition(document["id"], before, verb)


def check_reason(reason: str | None, cause: str, verb: str) -> None:
    """Refuse to forget without a reason in words, or for an unknown cause (GOV-FORGET)."""
    _refuse_blank(reason, verb)
    if cause not in CAUSES:
        named = repr(cause) if isinstance(cause, str) else f"of the type {type(cause).__name__}"
        raise ReasonMissing(verb, f"the cause {named} is not one of {', '.join(CAUSES)}")


def _refuse_blank(reason: str | None, verb: str) -> None:
    if not isinstance(reason, str) or is_blank(reason):
        raise ReasonMissing(verb, "a reason in words is needed")
