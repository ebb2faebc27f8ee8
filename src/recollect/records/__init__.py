"""Room 3: mutable memory: the store's contract, its records, filters, patches, hooks, retention."""

from recollect.records.filter import MemoryFilter
from recollect.records.hooks import HookFailure, MemoryHooks
from recollect.records.model import MemoryRecordInput, StoredMemoryRecord
from recollect.records.retention import Expiry, MemoryRetentionPolicy, expiries
from recollect.records.store import Capabilities, Capability, MemoryStore, MemoryUpdate

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
