"""Conformance breaks: what changed under the memory without a trail or a re-audit (GOV-BREAK).

A fingerprint says what memory rests on. It is kept, and compared with the one of now whenever a
database is opened:

===================  ======================================================  ==================
cause                what differs                                            excused by
===================  ======================================================  ==================
model_changed        the identity of a model that both name                  re-audit
index_rebuilt        the tokenizer or the index                              logged rebuild
policy_changed       the consolidation or the forgetting policy              logged change
hierarchy_changed    the source hierarchy                                    logged change
log_lost             today's log does not extend the one of then             re-audit of it
===================  ======================================================  ==================

A re-audit excuses every cause. Growth of the log is no break; neither is a model, or a policy,
that is named for the first time or no longer.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from recollect.identity import canonical_bytes, sha256_hex
from recollect.kernel.json import JsonValue
from recollect.ledger.object import hash_name

BreakCause = Literal[
    "model_changed", "index_rebuilt", "policy_changed", "hierarchy_changed", "log_lost"
]

_REASONS: Final[Mapping[BreakCause, str]] = {
    "model_changed": "the model {what} changed without re-audit: from {before} to {now}",
    "index_rebuilt": "the {what} changed without a logged rebuild: from {before} to {now}",
    "policy_changed": "the {what} policy changed without version and audit trail",
    "hierarchy_changed": "the source hierarchy changed without a traceable policy update",
    "log_lost": "the memory log was lost, cut or rewritten, or can't be verified",
}


class LogHead(NamedTuple):
    """How far a log reached: its size, and the root of its tree in hexadecimal."""

    size: int
    root: str


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What memory rests on, each by an identity: a version, a digest, whatever changes with it."""

    models: Mapping[str, str] = field(default_factory=dict)
    """Per role, such as 'embedder', the model's id and version."""
    tokenizer: str | None = None
    index: str | None = None
    policies: Mapping[str, str] = field(default_factory=dict)
    """Per kind, the policy's digest."""
    log: LogHead | None = None

    @property
    def document(self) -> dict[str, JsonValue]:
        """As it is stored."""
        return {
            "models": dict(self.models),
            "tokenizer": self.tokenizer,
            "index": self.index,
            "policies": dict(self.policies),
            "log": None if self.log is None else {"size": self.log.size, "root": self.log.root},
        }

    @property
    def digest(self) -> str:
        """SHA-256 of all of it but the log, which grows with every write."""
        return sha256_hex(canonical_bytes({**self.document, "log": None}))


@dataclass(frozen=True, slots=True)
class Break:
    """One conformance break: why, of what, and the identities before and now."""

    cause: BreakCause
    what: str
    before: str
    now: str

    @property
    def id(self) -> str:
        """The same break has the same id, however often it is found: so it is logged once.

        What a log that was lost has become is left out, since it goes on to grow.
        """
        now = "" if self.cause == "log_lost" else self.now
        digest = sha256_hex(canonical_bytes([self.cause, self.what, self.before, now]))
        return f"conformance_break/{self.cause}/{digest[:16]}"

    @property
    def reason(self) -> str:
        """What happened, in words."""
        return _REASONS[self.cause].format(what=self.what, before=self.before, now=self.now)

    @property
    def members(self) -> dict[str, JsonValue]:
        """The members of its `conformance_break` event."""
        return {"memory_object_id": self.id, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class ReAudit:
    """An audit that was recorded: it excuses the breaks that it names, or a whole state.

    `fingerprint` is the digest of the state that was audited; a lost log is only excused by name.
    """

    audit_ref: str
    breaks: frozenset[str] = frozenset()
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class Trail:
    """What the log has recorded since the fingerprint of before."""

    re_audits: Sequence[ReAudit] = ()
    policy_changes: frozenset[str] = frozenset()
    """The digests that logged changes of policies led to."""
    rebuilds: frozenset[str] = frozenset()
    """The tokenizers and indexes that were rebuilt, with their integrity computed anew."""


NO_TRAIL: Final = Trail()


def compare(
    before: Fingerprint | None,
    now: Fingerprint,
    trail: Trail = NO_TRAIL,
    *,
    root_then: str | None = None,
) -> list[Break]:
    """Every break between two fingerprints that nothing on record excuses (GOV-BREAK).

    `root_then` is the root of today's log at the size that it had before, as the log itself gives
    it today; None when it can't. With no fingerprint of before there is nothing to break.
    """
    if before is None:
        return []
    return [
        found
        for found in (
            *_models(before, now),
            *_index(before, now, trail),
            *_policies(before, now, trail),
            *_log(before, now, root_then),
        )
        if not any(_excuses(audit, found, now) for audit in trail.re_audits)
    ]


def re_audited(
    before: Fingerprint, now: Fingerprint, audit: ReAudit, reason: str
) -> dict[str, JsonValue]:
    """The members of the `policy_change` event that records a re-audit."""
    return {
        "memory_object_id": "re_audit",
        "reason": reason,
        "prev_hash": hash_name(before.digest),
        "new_hash": hash_name(now.digest),
        "audit_ref": audit.audit_ref,
    }


def _excuses(audit: ReAudit, found: Break, now: Fingerprint) -> bool:
    return found.id in audit.breaks or (
        found.cause != "log_lost" and audit.fingerprint == now.digest
    )


def _models(before: Fingerprint, now: Fingerprint) -> Iterator[Break]:
    for role in sorted(before.models.keys() & now.models.keys()):
        if before.models[role] != now.models[role]:
            yield Break("model_changed", role, before.models[role], now.models[role])


def _index(before: Fingerprint, now: Fingerprint, trail: Trail) -> Iterator[Break]:
    for what, old, new in (
        ("tokenizer", before.tokenizer, now.tokenizer),
        ("index", before.index, now.index),
    ):
        if old is not None and new is not None and old != new and new not in trail.rebuilds:
            yield Break("index_rebuilt", what, old, new)


def _policies(before: Fingerprint, now: Fingerprint, trail: Trail) -> Iterator[Break]:
    for kind in sorted(before.policies.keys() & now.policies.keys()):
        old, new = before.policies[kind], now.policies[kind]
        if old != new and new not in trail.policy_changes:
            is_hierarchy = kind == "source_hierarchy"
            cause: BreakCause = "hierarchy_changed" if is_hierarchy else "policy_changed"
            yield Break(cause, kind, old, new)


def _log(before: Fingerprint, now: Fingerprint, root_then: str | None) -> Iterator[Break]:
    then = before.log
    if then is None or then.size == 0:
        return
    if now.log is None or now.log.size < then.size or root_then != then.root:
        found = "none" if now.log is None else f"{now.log.size}/{now.log.root}"
        yield Break("log_lost", "log", f"{then.size}/{then.root}", found)
