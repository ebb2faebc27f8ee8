"""Room 4: execution plans, which fail fast: steps, engine, sessions, items."""

from memoranda.plans.extractive import ExtractiveSummariser, extract
from memoranda.plans.first_contract import CONTRACT
from memoranda.plans.items import ItemSearch, ItemStore, MemoryItem, RetrievedItem, item_digest
from memoranda.plans.plan import (
    Budgets,
    ExecutionPlan,
    PlanMetadata,
    Step,
    StepInput,
    StepType,
    Timeouts,
    document_hash,
    plan_hash,
)
from memoranda.plans.policy import (
    Bundle,
    Interpreted,
    Interpreter,
    Mode,
    PlannedStep,
    Profile,
    Trigger,
    policy_ref,
)
from memoranda.plans.session import Session, SessionState
from memoranda.plans.session import begin as begin_session
from memoranda.plans.steps.context import (
    ContextSelect,
    ContextSelectPayload,
    RepoScan,
    RepoScanPayload,
    RetrieveMemory,
    RetrieveMemoryPayload,
    Scan,
    Scanner,
)
from memoranda.plans.steps.persist import (
    PersistMemory,
    PersistMemoryPayload,
    PersistSession,
    PersistSessionPayload,
    SummarizeMemory,
    SummarizeMemoryPayload,
)
from memoranda.plans.steps.prompt import (
    LLMCall,
    LLMCallPayload,
    PromptAssemble,
    PromptAssemblePayload,
)
from memoranda.plans.summary import Limits, ModelSummariser, Summariser, Summary
from memoranda.plans.validation import StepContract, StepRule, validated, violations

__all__ = [
    "CONTRACT",
    "Budgets",
    "Bundle",
    "ContextSelect",
    "ContextSelectPayload",
    "ExecutionPlan",
    "ExtractiveSummariser",
    "Interpreted",
    "Interpreter",
    "ItemSearch",
    "ItemStore",
    "LLMCall",
    "LLMCallPayload",
    "Limits",
    "MemoryItem",
    "Mode",
    "ModelSummariser",
    "PersistMemory",
    "PersistMemoryPayload",
    "PersistSession",
    "PersistSessionPayload",
    "PlanMetadata",
    "PlannedStep",
    "Profile",
    "PromptAssemble",
    "PromptAssemblePayload",
    "RepoScan",
    "RepoScanPayload",
    "RetrieveMemory",
    "RetrieveMemoryPayload",
    "RetrievedItem",
    "Scan",
    "Scanner",
    "Session",
    "SessionState",
    "Step",
    "StepContract",
    "StepInput",
    "StepRule",
    "StepType",
    "Summariser",
    "SummarizeMemory",
    "SummarizeMemoryPayload",
    "Summary",
    "Timeouts",
    "Trigger",
    "begin_session",
    "document_hash",
    "extract",
    "item_digest",
    "plan_hash",
    "policy_ref",
    "validated",
    "violations",
]
