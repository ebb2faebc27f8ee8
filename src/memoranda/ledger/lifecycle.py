"""How an object changes from version to version: it is forgotten, reinstated, approved.

Forgetting is governed: a verb, a reason, a cause, a new version; never silent (GOV-FORGET).

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

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from memoranda.identity import Frozen, canonical_bytes, decode
from memoranda.kernel.clock import format_time
from memoranda.kernel.errors import ApprovalRefused, IllegalTransition, ReasonMissing
from memoranda.kernel.given import is_blank
from memoranda.kernel.json import JsonValue
from memoranda.ledger.entry import read_entry
from memoranda.ledger.event import EventType, members_of
from memoranda.ledger.object import (
    CAUSES,
    TYPE,
    Cause,
    Status,
    Trust,
    VerdictType,
    data_of,
    hash_name,
    next_version,
    status_of,
    version_of,
)
from memoranda.ledger.unit import Past

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


class StatusChange(NamedTuple):
    """The next version of an object, and what the log calls the change."""

    event_type: EventType
    object: Frozen

    @property
    def members(self) -> dict[str, JsonValue]:
        """The members of its event besides its id, time and actor."""
        return members_of(self.event_type, self.object.thaw(), self.object.digest)


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
    return StatusChange("create", next_version(current, at=at, nonce=nonce, reason=reason))


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
    return old, StatusChange("create", Frozen(canonical_bytes(new)))


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
    return StatusChange("archive", Frozen(canonical_bytes(tombstone)))


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
    return StatusChange(event_type, version)


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


# ------------------------------------------------------------------------------------------------
# How far a statement is trusted: untrusted < unreviewed < approved.
#
# Trust is set by the door through which a statement came, never by its text. What is made of others
# has the lowest trust of them; only an approval raises it, by somebody who took no part.

TRUST: Final[tuple[Trust, ...]] = get_args(Trust)
"""From the least trusted to the most."""


def trust_of(trust: object) -> Trust:
    """The trust that an object states; one that states none, or another, is not trusted."""
    return next((known for known in TRUST if known == trust), "untrusted")


def lowest(trusts: Iterable[Trust]) -> Trust:
    """The lowest of several; of none, untrusted: what came from nowhere vouches for nothing."""
    return min(trusts, key=TRUST.index, default="untrusted")


def is_at_least(trust: Trust, wanted: Trust) -> bool:
    """Whether something is trusted as far as is wanted, or further."""
    return TRUST.index(trust) >= TRUST.index(wanted)


def approve(
    current: Frozen,
    *,
    by: str,
    contributors: Collection[str],
    at: int,
    nonce: str,
    reason: str,
    verdict: VerdictType | None = None,
) -> StatusChange:
    """The next version, approved; ApprovalRefused to whoever contributed to the object.

    With a verdict it is judged as well: who approves took no part, and so may say that it is
    Factual, if it has a source.

    `by` and `contributors` are actor ids. Contributors are the actors of every version of the
    object and of everything that went into it, as the journal has them: a caller that can't
    name any has not looked.
    """
    document = current.thaw()
    id, status = document["id"], status_of(document)
    if status != "active":
        raise ApprovalRefused(id, f"it is {status}")
    if not contributors:
        raise ApprovalRefused(id, "nobody is named who contributed to it")
    if by in contributors:
        raise ApprovalRefused(id, f"{by!r} contributed to it")
    if is_blank(reason):
        raise ApprovalRefused(id, "an approval needs a reason")
    if verdict == "Factual" and not document["source_refs"]:
        raise ApprovalRefused(id, "what is Factual needs a source, and it has none")
    approved = next_version(
        current,
        at=at,
        nonce=nonce,
        trust="approved",
        verdict_type=verdict or document["verdict_type"],
        reason=reason,
    )
    return StatusChange("create", approved)


# ------------------------------------------------------------------------------------------------
# What was done to an object, in the words of the verbs.
#
# The MemoryLog has six types of events: a next version is a ``create`` there, whatever led to it,
# and an erasure is an ``archive``. People who read a history want to know which.

Act = Literal[
    "create", "update", "revise", "approve", "reinstate", "consolidate",
    "invalidate", "archive", "supersede", "erase",
]  # fmt: skip


def act_of(past: Past, before: Past | None) -> Act:
    """What led to a version; `before` is the version that it followed.

    Where what it said is erased, a revision or an approval looks like an update.
    """
    if past.version.status == "erased":
        return "erase"
    kind = read_entry(past.entry).kind
    if kind != "create" or before is None:
        return cast("Act", kind)
    was_active = before.version.status == "active"
    if past.body is None or before.body is None:
        return "update" if was_active else "reinstate"
    now: Any = decode(past.body)
    then: Any = decode(before.body)
    is_same = data_of(now) == data_of(then)
    if not was_active:
        return "reinstate" if is_same else "create"
    if not is_same:
        return "update"
    return "approve" if now["trust"] == "approved" != then["trust"] else "revise"
