"""Memory for AI agents that can be audited, replayed and trusted."""

from recollect.app.histories import replay_export
from recollect.app.memory import Memory, open, scopes
from recollect.journeys.intent.runtime import of_host as hosted_by
from recollect.kernel.actors import ActorRef
from recollect.kernel.errors import RecollectError
from recollect.recall.provider import MemoryExperience, MemoryProvider, MemoryQuery
from recollect.records import (
    Capabilities,
    Capability,
    HookFailure,
    MemoryFilter,
    MemoryHooks,
    MemoryRecordInput,
    MemoryRetentionPolicy,
    MemoryStore,
    MemoryUpdate,
    StoredMemoryRecord,
)
from recollect.worlds.context import ActionContext
from recollect.worlds.domain import Domain
from recollect.worlds.hashing import snapshot_hash, world_id
from recollect.worlds.patches import Merge, Set, Unset

__all__ = [
    "ActionContext",
    "ActorRef",
    "Capabilities",
    "Capability",
    "Domain",
    "HookFailure",
    "Memory",
    "MemoryExperience",
    "MemoryFilter",
    "MemoryHooks",
    "MemoryProvider",
    "MemoryQuery",
    "MemoryRecordInput",
    "MemoryRetentionPolicy",
    "MemoryStore",
    "MemoryUpdate",
    "Merge",
    "RecollectError",
    "Set",
    "StoredMemoryRecord",
    "Unset",
    "hosted_by",
    "open",
    "replay_export",
    "scopes",
    "snapshot_hash",
    "world_id",
]
