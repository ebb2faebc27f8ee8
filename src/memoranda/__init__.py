"""Memory for AI agents that can be audited, replayed and trusted."""

from memoranda.app.database import Database, connect, exists, open, scopes
from memoranda.app.histories import replay_export
from memoranda.app.memory import Memory
from memoranda.app.options import App, Clockwork
from memoranda.app.sync import connect_sync, open_sync
from memoranda.journeys.govern.about import About, Memo
from memoranda.journeys.intent.runtime import of_host as hosted_by
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import MemorandaError
from memoranda.recall.provider import MemoryExperience, MemoryProvider, MemoryQuery
from memoranda.records import (
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
from memoranda.worlds.context import ActionContext
from memoranda.worlds.domain import Domain
from memoranda.worlds.hashing import snapshot_hash, world_id
from memoranda.worlds.patches import Merge, Set, Unset

__all__ = [
    "About",
    "ActionContext",
    "ActorRef",
    "App",
    "Capabilities",
    "Capability",
    "Clockwork",
    "Database",
    "Domain",
    "HookFailure",
    "Memo",
    "MemorandaError",
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
    "Set",
    "StoredMemoryRecord",
    "Unset",
    "connect",
    "connect_sync",
    "exists",
    "hosted_by",
    "open",
    "open_sync",
    "replay_export",
    "scopes",
    "snapshot_hash",
    "world_id",
]
