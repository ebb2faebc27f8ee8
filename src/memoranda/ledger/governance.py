"""The state of a memory as a whole: its policies, the breaks that stand, what it rests on.

It is a fold over the few entries that are about the memory as a whole (`entry.NOTICES`), each
compared with the digest that its entry names, so that it can't be changed without a trace. The
bodies of these entries have a type each:

=================  ==================  ========================================================
type               kind                what it says
=================  ==================  ========================================================
Fingerprint        maintenance         what memory rests on from here on
Maintenance        maintenance         work that was done, such as a rebuild of the index
PolicyChange       policy_change       a policy's new version
ReAudit            policy_change       an audit: the report that it rests on, the breaks that it
                                       lifts, the damage that it accepts
ConformanceBreak   conformance_break   something changed without a trail or a re-audit
=================  ==================  ========================================================
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.kernel.errors import InvalidInput, InvalidProof
from memoranda.kernel.json import JsonValue
from memoranda.ledger.breaks import NEVER, Break, Fingerprint, LogHead
from memoranda.ledger.codec import Unreadable
from memoranda.ledger.damage import Damage
from memoranda.ledger.entry import NOTICES, body_digest, read_entry
from memoranda.ledger.object import hash_name
from memoranda.ledger.policy import DEFAULTS, Policy, PolicyKind, change_policy, policy_of
from memoranda.ledger.unit import StoredEntry

Document = Mapping[str, JsonValue]

_GONE: Final = "a break is on record here, and what it said can't be read"


@dataclass(frozen=True, slots=True)
class StandingBreak:
    """A break that stands: why, and the entry that it was logged with."""

    why: str
    seq: int
    damages: frozenset[str] = frozenset()
    """The names of the damage that it is, if it is some."""
    role: str | None = None
    identity: str | None = None
    """The model that was used, and for what, if it is about one."""


def standing(found: Break) -> StandingBreak:
    """A break that was found and is on no record, as it would stand if it were."""
    return StandingBreak(found.reason, NEVER, frozenset(damage.name for damage in found.damages))


@dataclass(slots=True)
class Governance:
    """What the entries so far say; made by `folded`, and only read then."""

    policies: dict[PolicyKind, Policy] = field(default_factory=lambda: dict(DEFAULTS))
    fingerprint: Fingerprint | None = None
    fingerprint_at: int = NEVER
    """The entry of the fingerprint."""
    standing: dict[str, StandingBreak] = field(default_factory=dict)
    """The breaks that stand, by their ids."""
    recorded: set[str] = field(default_factory=set)
    """What was changed since the fingerprint: digests of policies, and how indexes were built."""
    audited: int = NEVER
    """The entry of the newest re-audit."""
    audit: str | None = None
    """What that re-audit was called."""
    accepted_of_entries: set[str] = field(default_factory=set)
    """The names of damage of entries that any re-audit accepted."""
    accepted_otherwise: set[str] = field(default_factory=set)
    """The names of other damage, which can be mended and come again: that of the newest one."""
    damaged: set[int] = field(default_factory=set)
    """The entries whose damage was accepted: what they hold is never verified again."""
    damaged_objects: set[str] = field(default_factory=set)
    """The ids of the objects that these entries are about: none is factual ever again."""
    unreadable: list[Damage] = field(default_factory=list)
    """The notices that are not what was written."""

    @property
    def accepted(self) -> set[str]:
        """The names of all damage that re-audits accepted."""
        return self.accepted_of_entries | self.accepted_otherwise

    @property
    def breaks(self) -> dict[str, str]:
        return {id: standing_break.why for id, standing_break in self.standing.items()}

    @property
    def digest(self) -> str:
        """The state that a re-audit leads from, or to."""
        return _digest(self, self.standing, self.accepted, self.audit)


def folded(notices: Iterable[StoredEntry]) -> Governance:
    """The state that these entries lead to, the first one first.

    A body that is gone, or is not the one that its entry names, is damage; what it said counts
    for nothing, but a break stands all the same: whoever damages it lifts nothing.
    """
    state = Governance()
    for seq, raw, salt, body in notices:
        try:
            entry = read_entry(raw)
        except InvalidProof as refused:
            state.unreadable.append(Damage("form", seq, refused.why))
            continue
        if entry.kind not in NOTICES:
            continue
        try:
            if salt is None or body is None:
                raise InvalidProof(f"it is gone, and that of a {entry.kind} is never erased")
            if isinstance(body, Unreadable):
                raise InvalidProof(f"it can't be read: {body.why}")
            if body_digest(salt, body) != entry.body_digest:
                raise InvalidProof("it is not the body that the entry was written with")
            _add(state, decode(body), seq)
        except (InvalidInput, KeyError, TypeError, AttributeError) as refused:
            why = refused.why if isinstance(refused, InvalidProof) else "it is not one of ours"
            state.unreadable.append(Damage("body", seq, why))
            if entry.kind == "conformance_break":
                state.standing[f"conformance_break/entry/{seq}"] = StandingBreak(_GONE, seq)
    return state


def _add(state: Governance, document: Document, seq: int) -> None:
    match document.get("type"):
        case "Fingerprint":
            state.fingerprint, state.fingerprint_at = _fingerprint(document), seq
            state.recorded.clear()
        case "PolicyChange":
            policy = policy_of(document["policy"])
            state.policies[policy.kind] = policy
            state.recorded.add(policy.digest)
        case "ConformanceBreak":
            state.standing[document["memory_object_id"]] = StandingBreak(
                document["reason"],
                seq,
                frozenset(document.get("damages", ())),
                document.get("role"),
                document.get("identity"),
            )
        case "ReAudit":
            accepted = [(str(value["name"]), value["entry"]) for value in document["accepted"]]
            lifted = frozenset(document["breaks"])
            state.audited, state.audit = seq, document["audit_ref"]
            state.accepted_of_entries |= {name for name, place in accepted if place is not None}
            state.accepted_otherwise = {name for name, place in accepted if place is None}
            state.damaged |= set(document["damaged"])
            state.damaged_objects |= set(document["objects"])
            for id in lifted:
                state.standing.pop(id, None)
        case "Maintenance" if document.get("what") == "reindex":
            state.recorded.add(document["tokenizer"])


# --------------------------------------------------------------------------- the bodies


def fingerprint_body(fingerprint: Fingerprint) -> bytes:
    return canonical_bytes({"type": "Fingerprint", **fingerprint.document})


def break_body(found: Break) -> bytes:
    """A conformance break (GOV-BREAK)."""
    members: dict[str, JsonValue] = {}
    if found.cause == "model_changed":
        members = {"role": found.what, "identity": found.now}
    if found.damages:
        members = {
            "damages": [damage.name for damage in found.damages],
            "entry": found.damages[0].seq,
        }
        if found.before:
            members["digest"] = found.before
    return canonical_bytes(
        {"type": "ConformanceBreak", "cause": found.cause, **members, **found.members}
    )


def policy_body(before: Policy, after: Policy, reason: str) -> bytes:
    """A policy's new version; InvalidPolicy if it does not follow the one before."""
    members = change_policy(before, after, reason=reason)
    return canonical_bytes({"type": "PolicyChange", "policy": after.document, **members})


@dataclass(frozen=True, slots=True)
class ReAudit:
    """An audit to be recorded: what it rests on, what it lifts, what it accepts."""

    audit_ref: str
    reason: str
    size: int
    """How many entries the journal had that was verified, and its root."""
    root: str
    breaks: Sequence[str]
    accepted: Sequence[Damage]
    objects: Collection[str] = ()
    """The ids of the objects whose entries are damaged."""

    @property
    def damaged(self) -> set[int]:
        """The entries that can't be believed any more.

        That two entries don't follow each other does not say which of them was changed.
        """
        named = {damage.entry for damage in self.accepted if damage.entry is not None}
        return named | {
            damage.entry - 1
            for damage in self.accepted
            if damage.check == "previous" and damage.entry
        }


def audit_body(before: Governance, audit: ReAudit) -> bytes:
    """A re-audit, with the report that it rests on (GOV-BREAK)."""
    return canonical_bytes(
        {
            "type": "ReAudit",
            "report": {"size": audit.size, "root": audit.root, "damages": len(audit.accepted)},
            "breaks": sorted(audit.breaks),
            "damaged": sorted(audit.damaged),
            "objects": sorted(audit.objects),
            "accepted": [
                {"name": damage.name, "entry": damage.entry, "why": damage.why}
                for damage in audit.accepted
            ],
            **re_audited(before, audit),
        }
    )


def re_audited(before: Governance, audit: ReAudit) -> dict[str, JsonValue]:
    """The members of the `policy_change` event that records a re-audit."""
    standing = set(before.standing) - set(audit.breaks)
    accepted = before.accepted | {damage.name for damage in audit.accepted}
    after = _digest(before, standing, accepted, audit.audit_ref)
    return {
        "memory_object_id": "re_audit",
        "reason": audit.reason,
        "prev_hash": hash_name(before.digest),
        "new_hash": hash_name(after),
        "audit_ref": audit.audit_ref,
    }


def _digest(
    state: Governance, standing: Iterable[str], accepted: Iterable[str], audit: str | None
) -> str:
    rests_on = None if state.fingerprint is None else state.fingerprint.digest
    return sha256_hex(canonical_bytes([rests_on, sorted(standing), sorted(accepted), audit]))


def _fingerprint(document: Document) -> Fingerprint:
    log = document["log"]
    return Fingerprint(
        document["index"],
        document["policies"],
        None if log is None else LogHead(log["size"], log["root"]),
    )
