"""Room 3: append-only memory: typed objects, the journal and its views, checkpoints."""

from recollect.ledger.breaks import Break, Fingerprint, LogHead, ReAudit, Trail, compare
from recollect.ledger.conflict import Conflict, find_conflicts
from recollect.ledger.consolidate import Consolidation, Refusal, consolidate, rebuild
from recollect.ledger.event import LogEvent
from recollect.ledger.forget import Change, archive, erase, invalidate, reinstate, supersede
from recollect.ledger.gates import ConsolidationDraft, GateFailure
from recollect.ledger.log import LogReading, read_log, write_log
from recollect.ledger.model import IntegrityHash, MemoryObject, SourceRef
from recollect.ledger.object import sealed
from recollect.ledger.policy import Policy, change_policy
from recollect.ledger.time import Validity, most_restrictive, valid_at
from recollect.ledger.trust import approve
from recollect.ledger.validate import validate_object, validate_use
from recollect.ledger.validate_events import open_breaks, validate_log
from recollect.ledger.violation import Violation

__all__ = [
    "Break",
    "Change",
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
