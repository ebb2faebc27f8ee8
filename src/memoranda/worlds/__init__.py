"""Room 3: sealed memory: snapshots, proposals, authorities, worlds, lineage, replay."""

from memoranda.worlds.authority import Approved, Asked, AuthorityPolicy, Pending, Rejected, Verdict
from memoranda.worlds.combining import AllOf, AnyOf, ForActor, SeparateApprover
from memoranda.worlds.conditions import Condition, Custom, IntentType, RiskAtLeast, ScopePattern
from memoranda.worlds.context import ActionContext
from memoranda.worlds.decision import AuthorityRef, DecisionRecord, TribunalDecisionRecord, Vote
from memoranda.worlds.domain import Domain
from memoranda.worlds.effects import EffectFailed
from memoranda.worlds.hashing import snapshot_hash, world_id
from memoranda.worlds.host import (
    Host,
    HostExecutionOptions,
    HostExecutionResult,
    Surrounded,
    Surroundings,
)
from memoranda.worlds.intent import Intent, IntentBody, IntentInstance, IntentScope, SnapshotView
from memoranda.worlds.local_host import LocalHost
from memoranda.worlds.patches import Merge, Patch, Set, Unset
from memoranda.worlds.policies import AutoApprove, HumanInTheLoop, PolicyRule, PolicyRules
from memoranda.worlds.projection import Projection, ProjectionEvent
from memoranda.worlds.proposal import Proposal, ProposalTrace
from memoranda.worlds.replay import Differs, Recording, Same, replayed
from memoranda.worlds.snapshot import Snapshot
from memoranda.worlds.tribunal import Majority, Threshold, Tribunal, Unanimous
from memoranda.worlds.world import Branch, World, WorldEdge, WorldHead

__all__ = [
    "ActionContext",
    "AllOf",
    "AnyOf",
    "Approved",
    "Asked",
    "AuthorityPolicy",
    "AuthorityRef",
    "AutoApprove",
    "Branch",
    "Condition",
    "Custom",
    "DecisionRecord",
    "Differs",
    "Domain",
    "EffectFailed",
    "ForActor",
    "Host",
    "HostExecutionOptions",
    "HostExecutionResult",
    "HumanInTheLoop",
    "Intent",
    "IntentBody",
    "IntentInstance",
    "IntentScope",
    "IntentType",
    "LocalHost",
    "Majority",
    "Merge",
    "Patch",
    "Pending",
    "PolicyRule",
    "PolicyRules",
    "Projection",
    "ProjectionEvent",
    "Proposal",
    "ProposalTrace",
    "Recording",
    "Rejected",
    "RiskAtLeast",
    "Same",
    "ScopePattern",
    "SeparateApprover",
    "Set",
    "Snapshot",
    "SnapshotView",
    "Surrounded",
    "Surroundings",
    "Threshold",
    "Tribunal",
    "TribunalDecisionRecord",
    "Unanimous",
    "Unset",
    "Verdict",
    "Vote",
    "World",
    "WorldEdge",
    "WorldHead",
    "replayed",
    "snapshot_hash",
    "world_id",
]
