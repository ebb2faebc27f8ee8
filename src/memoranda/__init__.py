"""Memory for AI agents that can be audited, replayed and trusted."""

from typing import TYPE_CHECKING

from memoranda.kernel.lazy import lazy_names

if TYPE_CHECKING:
    from memoranda.app.blocking import connect_sync, open_sync
    from memoranda.app.database import Database
    from memoranda.app.histories import replay_export
    from memoranda.app.memory import Memory
    from memoranda.app.opening import connect, exists, open, scopes
    from memoranda.app.options import App, Clockwork
    from memoranda.journeys.govern.about import About, Memo
    from memoranda.journeys.intent.branches import of_host as hosted_by
    from memoranda.kernel.actors import ActorRef
    from memoranda.kernel.errors import MemorandaError
    from memoranda.recall.provider import MemoryExperience, MemoryProvider, MemoryQuery
    from memoranda.records.filter import MemoryFilter
    from memoranda.records.model import MemoryRecordInput, MemoryRetentionPolicy, StoredMemoryRecord
    from memoranda.records.store import (
        Capabilities,
        Capability,
        HookFailure,
        MemoryHooks,
        MemoryStore,
        MemoryUpdate,
    )
    from memoranda.worlds.action import ActionContext, Merge, Set, Unset
    from memoranda.worlds.domain import Domain
    from memoranda.worlds.snapshot import snapshot_hash, world_id

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

__getattr__, __dir__ = lazy_names(__name__)
