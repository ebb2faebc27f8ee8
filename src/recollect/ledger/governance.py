"""The state of a memory as a whole: its policies, the breaks that stand, what it rests on.

It is a fold over the few entries that are about the memory as a whole (`entry.NOTICES`), so that
it can't be changed without a trace. The bodies of these entries have a type each:

=================  ==================  ========================================================
type               kind                what it says
=================  ==================  ========================================================
Fingerprint        maintenance         what memory rests on from here on
Maintenance        maintenance         work that was done, such as a rebuild of the index
PolicyChange       policy_change       a policy's new version
ReAudit            policy_change       an audit that excuses breaks, or a whole state
ConformanceBreak   conformance_break   something changed without a trail or a re-audit
=================  ==================  ========================================================
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from recollect.identity import canonical_bytes, decode
from recollect.kernel.errors import InvalidInput
from recollect.kernel.json import JsonValue
from recollect.ledger.breaks import (
    NO_TRAIL,
    Break,
    Fingerprint,
    LogHead,
    ReAudit,
    Trail,
    re_audited,
)
from recollect.ledger.policy import DEFAULTS, Policy, PolicyKind, change_policy, policy_of

Document = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Governance:
    """What the entries so far say."""

    policies: Mapping[PolicyKind, Policy] = field(default_factory=lambda: dict(DEFAULTS))
    fingerprint: Fingerprint | None = None
    breaks: Mapping[str, str] = field(default_factory=dict)
    """The breaks that stand: their ids, and why."""
    logged: frozenset[str] = frozenset()
    """Every break that was ever logged."""
    trail: Trail = NO_TRAIL
    unreadable: int = 0
    """How many of the entries could not be read."""


def folded(bodies: Iterable[bytes]) -> Governance:
    """The state that these bodies lead to, the first one first.

    A body that can't be read is counted and passed over: whoever opens a memory that was damaged
    must be told, not turned away.
    """
    fold = _Fold()
    unreadable = 0
    for body in bodies:
        try:
            fold.add(decode(body))
        except (InvalidInput, KeyError, TypeError, AttributeError):
            unreadable += 1
    return Governance(
        fold.policies,
        fold.fingerprint,
        fold.breaks,
        frozenset(fold.logged),
        Trail(fold.audits, frozenset(fold.changes), frozenset(fold.rebuilds)),
        unreadable,
    )


@dataclass(slots=True)
class _Fold:
    policies: dict[PolicyKind, Policy] = field(default_factory=lambda: dict(DEFAULTS))
    fingerprint: Fingerprint | None = None
    breaks: dict[str, str] = field(default_factory=dict)
    logged: set[str] = field(default_factory=set)
    audits: list[ReAudit] = field(default_factory=list)
    changes: set[str] = field(default_factory=set)
    rebuilds: set[str] = field(default_factory=set)

    def add(self, document: Document) -> None:
        match document.get("type"):
            case "Fingerprint":
                self.fingerprint = _fingerprint(document)
            case "PolicyChange":
                policy = policy_of(document["policy"])
                self.policies[policy.kind] = policy
                self.changes.add(policy.digest)
            case "ConformanceBreak":
                self.breaks[document["memory_object_id"]] = document["reason"]
                self.logged.add(document["memory_object_id"])
            case "ReAudit":
                excused = frozenset(document["breaks"])
                self.audits.append(ReAudit(document["audit_ref"], excused, document["fingerprint"]))
                for id in excused:
                    self.breaks.pop(id, None)
            case "Maintenance" if document.get("what") == "reindex":
                self.rebuilds.add(document["tokenizer"])


# --------------------------------------------------------------------------- the bodies


def fingerprint_body(fingerprint: Fingerprint) -> bytes:
    """What memory rests on from here on."""
    return canonical_bytes({"type": "Fingerprint", **fingerprint.document})


def break_body(found: Break) -> bytes:
    """A conformance break (GOV-BREAK)."""
    return canonical_bytes({"type": "ConformanceBreak", "cause": found.cause, **found.members})


def policy_body(before: Policy, after: Policy, reason: str) -> bytes:
    """A policy's new version; InvalidPolicy if it does not follow the one before."""
    members = change_policy(before, after, reason=reason)
    return canonical_bytes({"type": "PolicyChange", "policy": after.document, **members})


def audit_body(before: Fingerprint, now: Fingerprint, audit: ReAudit, reason: str) -> bytes:
    """A re-audit, with the breaks that it excuses."""
    members = re_audited(before, now, audit, reason)
    return canonical_bytes(
        {
            "type": "ReAudit",
            "breaks": sorted(audit.breaks),
            "fingerprint": now.digest,
            **members,
        }
    )


def _fingerprint(document: Document) -> Fingerprint:
    log = document["log"]
    return Fingerprint(
        document["models"],
        document["tokenizer"],
        document["index"],
        document["policies"],
        None if log is None else LogHead(log["size"], log["root"]),
    )
