"""Room 3: mutable memory: the store's contract, its records, filters, patches, hooks, retention."""

from memoranda.records.filter import MemoryFilter
from memoranda.records.model import MemoryRecordInput, StoredMemoryRecord
from memoranda.records.retention import Expiry, MemoryRetentionPolicy, expiries
from memoranda.records.store import (
    Capabilities,
    Capability,
    HookFailure,
    MemoryHooks,
    MemoryStore,
    MemoryUpdate,
)

__all__ = [
    "Capabilities",
    "Capability",
    "Expiry",
    "HookFailure",
    "MemoryFilter",
    "MemoryHooks",
    "MemoryRecordInput",
    "MemoryRetentionPolicy",
    "MemoryStore",
    "MemoryUpdate",
    "StoredMemoryRecord",
    "expiries",
]
