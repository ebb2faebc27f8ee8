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
    from memoranda.records.model import (
        AssessesRisk,
        MemoryAuthorityPolicy,
        MemoryMaintenanceConfig,
        MemoryOperation,
        MemoryRetentionPolicy,
    )
    from memoranda.worlds.authority import (
        Approved,
        Asked,
        AuthorityPolicy,
        Condition,
        Custom,
        IntentType,
        Pending,
        Rejected,
        RiskAtLeast,
        ScopePattern,
        Verdict,
    )
    from memoranda.worlds.composites import (
        AllOf,
        AnyOf,
        ForActor,
        SeparateApprover,
        policy_from_wire,
    )
    from memoranda.worlds.policies import (
        AnyHuman,
        AutoApprove,
        HumanInTheLoop,
        Majority,
        PolicyRule,
        PolicyRules,
        Threshold,
        Tribunal,
        Unanimous,
    )

__all__ = [
    "AllOf",
    "AllowedSelectors",
    "AnyHuman",
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
