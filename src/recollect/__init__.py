"""Memory for AI agents that can be audited, replayed and trusted."""

from recollect.app.memory import Memory, open, scopes
from recollect.kernel.actors import ActorRef
from recollect.kernel.errors import RecollectError
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

__all__ = [
    "ActorRef",
    "Capabilities",
    "Capability",
    "HookFailure",
    "Memory",
    "MemoryFilter",
    "MemoryHooks",
    "MemoryRecordInput",
    "MemoryRetentionPolicy",
    "MemoryStore",
    "MemoryUpdate",
    "RecollectError",
    "StoredMemoryRecord",
    "open",
    "scopes",
]
