"""Room 3: sealed memory: snapshots, proposals, authorities, worlds, lineage, replay."""

from recollect.worlds.authority import Approved, Asked, AuthorityPolicy, Pending, Rejected, Verdict
from recollect.worlds.combining import AllOf, AnyOf, ForActor, SeparateApprover
from recollect.worlds.conditions import Condition, Custom, IntentType, RiskAtLeast, ScopePattern
from recollect.worlds.context import ActionContext
from recollect.worlds.decision import AuthorityRef, DecisionRecord, TribunalDecisionRecord, Vote
from recollect.worlds.domain import Domain
from recollect.worlds.effects import EffectFailed
from recollect.worlds.hashing import snapshot_hash, world_id
from recollect.worlds.host import (
    Host,
    HostExecutionOptions,
    HostExecutionResult,
    Surrounded,
    Surroundings,
)
from recollect.worlds.intent import Intent, IntentBody, IntentInstance, IntentScope, SnapshotView
from recollect.worlds.local_host import LocalHost
from recollect.worlds.patches import Merge, Patch, Set, Unset
from recollect.worlds.policies import AutoApprove, HumanInTheLoop, PolicyRule, PolicyRules
from recollect.worlds.projection import Projection, ProjectionEvent
from recollect.worlds.proposal import Proposal, ProposalTrace
from recollect.worlds.replay import Differs, Recording, Same, replayed
from recollect.worlds.snapshot import Snapshot
from recollect.worlds.tribunal import Majority, Threshold, Tribunal, Unanimous
from recollect.worlds.world import Branch, World, WorldEdge, WorldHead

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
