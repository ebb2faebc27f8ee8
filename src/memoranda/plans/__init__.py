"""Room 4: execution plans, which fail fast: steps, engine, sessions, items."""

from memoranda.plans.contract import StepContract, StepRule
from memoranda.plans.extracting import ExtractiveSummariser, extract
from memoranda.plans.first_contract import CONTRACT
from memoranda.plans.hashing import document_hash, plan_hash
from memoranda.plans.items import ItemSearch, ItemStore, MemoryItem, RetrievedItem, item_digest
from memoranda.plans.model_summary import ModelSummariser
from memoranda.plans.plan import Budgets, ExecutionPlan, PlanMetadata, Step, StepInput, Timeouts
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
from memoranda.plans.step import StepType
from memoranda.plans.steps.context_select import ContextSelect, ContextSelectPayload
from memoranda.plans.steps.llm_call import LLMCall, LLMCallPayload
from memoranda.plans.steps.persist_memory import PersistMemory, PersistMemoryPayload
from memoranda.plans.steps.persist_session import PersistSession, PersistSessionPayload
from memoranda.plans.steps.prompt_assemble import PromptAssemble, PromptAssemblePayload
from memoranda.plans.steps.repo_scan import RepoScan, RepoScanPayload, Scan, Scanner
from memoranda.plans.steps.retrieve_memory import RetrieveMemory, RetrieveMemoryPayload
from memoranda.plans.steps.summarize_memory import SummarizeMemory, SummarizeMemoryPayload
from memoranda.plans.summary import Limits, Summariser, Summary
from memoranda.plans.validation import validated, violations

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
