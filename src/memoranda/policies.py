"""Who decides: authorities over actions, rules about recalled memory, and rules of a scope."""

from typing import TYPE_CHECKING

from memoranda.kernel.lazy import lazy_names

if TYPE_CHECKING:
    from memoranda.ledger.policy import Policy, PolicyKind
    from memoranda.recall.policies import (
        AllowedSelectors,
        MaximumAge,
        MemoryPolicy,
        MinimumConfidence,
        RequireSigned,
        RequiresVerified,
        SelectorDiffersFromActor,
        memory_policy_from_wire,
        signed_by_one_of,
    )
    from memoranda.records.authority import AssessesRisk, MemoryAuthorityPolicy, MemoryOperation
    from memoranda.records.retention import MemoryMaintenanceConfig, MemoryRetentionPolicy
    from memoranda.worlds import (
        AllOf,
        AnyOf,
        Approved,
        Asked,
        AuthorityPolicy,
        AutoApprove,
        Condition,
        Custom,
        ForActor,
        HumanInTheLoop,
        IntentType,
        Majority,
        Pending,
        PolicyRule,
        PolicyRules,
        Rejected,
        RiskAtLeast,
        ScopePattern,
        SeparateApprover,
        Threshold,
        Tribunal,
        Unanimous,
        Verdict,
    )
    from memoranda.worlds.composites import policy_from_wire

__all__ = [
    "AllOf",
    "AllowedSelectors",
    "AnyOf",
    "Approved",
    "Asked",
    "AssessesRisk",
    "AuthorityPolicy",
    "AutoApprove",
    "Condition",
    "Custom",
    "ForActor",
    "HumanInTheLoop",
    "IntentType",
    "Majority",
    "MaximumAge",
    "MemoryAuthorityPolicy",
    "MemoryMaintenanceConfig",
    "MemoryOperation",
    "MemoryPolicy",
    "MemoryRetentionPolicy",
    "MinimumConfidence",
    "Pending",
    "Policy",
    "PolicyKind",
    "PolicyRule",
    "PolicyRules",
    "Rejected",
    "RequireSigned",
    "RequiresVerified",
    "RiskAtLeast",
    "ScopePattern",
    "SelectorDiffersFromActor",
    "SeparateApprover",
    "Threshold",
    "Tribunal",
    "Unanimous",
    "Verdict",
    "memory_policy_from_wire",
    "policy_from_wire",
    "signed_by_one_of",
]

__getattr__, __dir__ = lazy_names(__name__)
