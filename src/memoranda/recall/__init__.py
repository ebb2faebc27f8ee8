"""Room 4: interpreted recall, which degrades and says so: selectors, traces, verification."""

from memoranda.recall.policies import (
    AllowedSelectors,
    MaximumAge,
    MinimumConfidence,
    RequireSigned,
    RequiresVerified,
    SelectorDiffersFromActor,
    signed_by_one_of,
)
from memoranda.recall.proof_check import check_proof, check_signed, verify_proof, why_refused
from memoranda.recall.selector import (
    Chosen,
    Constraints,
    Request,
    Selection,
    Selector,
    Sources,
)
from memoranda.recall.trace import (
    MemoryRef,
    MemoryTrace,
    SelectedMemory,
    ValidationResult,
    VerificationEvidence,
    traces_in,
    validate_memory_trace,
)

__all__ = [
    "AllowedSelectors",
    "Chosen",
    "Constraints",
    "MaximumAge",
    "MemoryRef",
    "MemoryTrace",
    "MinimumConfidence",
    "Request",
    "RequireSigned",
    "RequiresVerified",
    "SelectedMemory",
    "Selection",
    "Selector",
    "SelectorDiffersFromActor",
    "Sources",
    "ValidationResult",
    "VerificationEvidence",
    "check_proof",
    "check_signed",
    "signed_by_one_of",
    "traces_in",
    "validate_memory_trace",
    "verify_proof",
    "why_refused",
]
