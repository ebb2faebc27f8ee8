"""Policies are documents with a version and a digest; they change only in the open (GOV-BREAK).

Three kinds: how memory is consolidated, how it is forgotten, which sources rank above which. A
change is a `policy_change` event with the hashes before and after; one that leaves the version as
it is can't be told from tampering, and is refused. The first version of each is built in, so that
the first change has a state before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, get_args

from recollect.identity import canonical_bytes, sha256_hex
from recollect.kernel.errors import InvalidJson, InvalidPolicy
from recollect.kernel.json import MAX_INTEGER, JsonValue
from recollect.ledger.object import CAUSES, hash_name

PolicyKind = Literal["consolidation", "forgetting", "source_hierarchy"]
POLICY_KINDS: Final[tuple[PolicyKind, ...]] = get_args(PolicyKind)


@dataclass(frozen=True, slots=True)
class Policy:
    """One version of a policy. Its rules are any JSON object; those of the defaults are ours."""

    kind: PolicyKind
    version: int
    rules: Mapping[str, JsonValue] = field(hash=False)

    def __post_init__(self) -> None:
        if self.kind not in POLICY_KINDS:
            raise InvalidPolicy(str(self.kind), f"there are only {', '.join(POLICY_KINDS)}")
        if type(self.version) is not int or not 1 <= self.version <= MAX_INTEGER:
            raise InvalidPolicy(self.kind, "its version is not a whole number from 1 on")
        try:
            canonical_bytes(self.document)
        except InvalidJson as refused:
            raise InvalidPolicy(self.kind, f"{refused.why}, at {refused.where}") from None

    @property
    def id(self) -> str:
        """What the log calls the policy, whatever its version: its history is one chain."""
        return f"policy/{self.kind}"

    @property
    def document(self) -> dict[str, JsonValue]:
        """The policy as it is stored and hashed."""
        return {"kind": self.kind, "version": self.version, "rules": dict(self.rules)}

    @property
    def digest(self) -> str:
        """SHA-256 of its canonical bytes, in hexadecimal."""
        return sha256_hex(canonical_bytes(self.document))


DEFAULTS: Final[Mapping[PolicyKind, Policy]] = {
    "consolidation": Policy(
        "consolidation",
        1,
        {"gates": ["A", "B", "C", "D", "E"], "on_conflict": "refuse", "conflicts": "default/1"},
    ),
    "forgetting": Policy("forgetting", 1, {"causes": list(CAUSES), "reason": "required"}),
    "source_hierarchy": Policy("source_hierarchy", 1, {"order": []}),
}
"""What holds until it is changed."""


def policy_of(document: JsonValue) -> Policy:
    """A policy that was stored, or InvalidPolicy."""
    match document:
        case {"kind": kind, "version": version, "rules": dict(rules), **other} if not other:
            return Policy(kind, version, rules)
    raise InvalidPolicy("stored", "it is not a kind, a version and rules")


def change_policy(before: Policy, after: Policy, *, reason: str) -> dict[str, JsonValue]:
    """The members of the `policy_change` event that leads from one version to the next.

    InvalidPolicy for one of another kind, for a version that does not rise, without a reason.
    """
    if after.kind != before.kind:
        raise InvalidPolicy(before.kind, f"a {after.kind} policy can't take its place")
    if after.version <= before.version:
        why = f"version {after.version} does not follow version {before.version}"
        raise InvalidPolicy(before.kind, why)
    if not reason.strip():
        raise InvalidPolicy(before.kind, "a change needs a reason")
    return {
        "memory_object_id": after.id,
        "reason": reason,
        "prev_hash": hash_name(before.digest),
        "new_hash": hash_name(after.digest),
    }


def rank(policy: Policy, source_refs: Sequence[Mapping[str, JsonValue]]) -> int:
    """How high the best of some sources stands: 0 is the highest, unlisted ones come last.

    The rules' ``order`` lists beginnings of uris, the highest first.
    """
    order: Sequence[str] = policy.rules.get("order", [])
    ranks = (
        position
        for source in source_refs
        for position, beginning in enumerate(order)
        if str(source.get("uri", "")).startswith(beginning)
    )
    return min(ranks, default=len(order))
