"""Room 3: append-only memory: typed objects, the journal and its views, checkpoints."""

from memoranda.ledger.breaks import Break, Fingerprint, LogHead, Trail, compare
from memoranda.ledger.consolidate import Consolidation, Refusal, consolidate, rebuild
from memoranda.ledger.event import LogEvent
from memoranda.ledger.forget import StatusChange, archive, erase, invalidate, reinstate, supersede
from memoranda.ledger.gates import Conflict, ConsolidationDraft, GateFailure, find_conflicts
from memoranda.ledger.governance import ReAudit
from memoranda.ledger.log import LogReading, read_log, write_log
from memoranda.ledger.model import IntegrityHash, MemoryObject, SourceRef
from memoranda.ledger.object import sealed
from memoranda.ledger.policy import Policy, change_policy
from memoranda.ledger.time import Validity, most_restrictive, valid_at
from memoranda.ledger.trust import approve
from memoranda.ledger.validate import Violation, validate_object, validate_use
from memoranda.ledger.validate_events import open_breaks, validate_log

__all__ = [
    "Break",
    "Conflict",
    "Consolidation",
    "ConsolidationDraft",
    "Fingerprint",
    "GateFailure",
    "IntegrityHash",
    "LogEvent",
    "LogHead",
    "LogReading",
    "MemoryObject",
    "Policy",
    "ReAudit",
    "Refusal",
    "SourceRef",
    "StatusChange",
    "Trail",
    "Validity",
    "Violation",
    "approve",
    "archive",
    "change_policy",
    "compare",
    "consolidate",
    "erase",
    "find_conflicts",
    "invalidate",
    "most_restrictive",
    "open_breaks",
    "read_log",
    "rebuild",
    "reinstate",
    "sealed",
    "supersede",
    "valid_at",
    "validate_log",
    "validate_object",
    "validate_use",
    "write_log",
]
