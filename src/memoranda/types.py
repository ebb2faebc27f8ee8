"""Values: what the verbs return, what they take, and the ports that you may implement."""

from typing import TYPE_CHECKING

from memoranda.kernel.lazy import lazy_names

if TYPE_CHECKING:
    from memoranda.app.audit import DatabaseAudit
    from memoranda.app.blocking import BlockingDatabase, BlockingMemory
    from memoranda.app.groups import ActOptions, ConsolidationOptions
    from memoranda.app.journal import JournalEntry, JournalHead
    from memoranda.app.memory import ListOptions, RecallOptions
    from memoranda.app.moving_in import ExportFormat, MovedIn
    from memoranda.app.opening import Opening
    from memoranda.app.options import ConnectOptions
    from memoranda.journeys.access.keys import AccessKey, Keys, NewKey
    from memoranda.journeys.audit.checkpoints import Seal, StoredCheckpoint
    from memoranda.journeys.audit.survey import (
        Activity,
        CycleAccount,
        Latest,
        LineageStep,
        Subject,
    )
    from memoranda.journeys.audit.verify import EntryProof
    from memoranda.journeys.audit.verify import Report as JournalReport
    from memoranda.journeys.audit.whole import Audit
    from memoranda.journeys.audit.why import Why
    from memoranda.journeys.govern.batch import Batch
    from memoranda.journeys.govern.certificate import ErasureCertificate, ErasureCounts
    from memoranda.journeys.govern.conformance import Status
    from memoranda.journeys.govern.find import Filters
    from memoranda.journeys.govern.imports import ImportReport, RefusedLine
    from memoranda.journeys.govern.objects import Event, Receipt, Remembered
    from memoranda.journeys.govern.times import At, Moment
    from memoranda.journeys.intent.branches import BranchHead
    from memoranda.journeys.intent.decisions import Answer, Waiting
    from memoranda.journeys.intent.replays import Replay
    from memoranda.journeys.intent.requests import Run, Submitted
    from memoranda.journeys.maintain.schedule import JobRun, JobStatus, MaintenanceStatus
    from memoranda.journeys.maintain.upkeep import Brought, Reindexed
    from memoranda.journeys.recall.evaluation import Evaluated, KnownAnswer
    from memoranda.journeys.recall.originals import Original
    from memoranda.journeys.recall.reasoning import Reasoning
    from memoranda.journeys.recall.recalled import Item, Recalled
    from memoranda.journeys.records.codec import DataCodec
    from memoranda.journeys.records.store import Records
    from memoranda.journeys.turn.sessions import CycleReplay, Difference, TurnSession
    from memoranda.journeys.turn.turns import Turn, Turns
    from memoranda.kernel.actors import ActorKind, ActorRef
    from memoranda.kernel.clock import Clock, IdSource, Randomness, SystemClock, TimeOrderedIds
    from memoranda.kernel.json import JsonValue
    from memoranda.kernel.results import Result, Rows
    from memoranda.ledger.anchor import Anchor, Finding
    from memoranda.ledger.codec import BodyCodec
    from memoranda.ledger.consolidate import Refusal
    from memoranda.ledger.damage import Damage, Damages
    from memoranda.ledger.event import LogEvent
    from memoranda.ledger.gates import Conflict, GateFailure
    from memoranda.ledger.model import IntegrityHash, MemoryObject, SourceRef
    from memoranda.ledger.signed_note import Signer, Verifier, VerifierKey
    from memoranda.ledger.time import Validity
    from memoranda.ledger.validate import Violation
    from memoranda.outside.anchors import FileAnchor
    from memoranda.outside.witnesses import WitnessAnchor
    from memoranda.plans.facts import (
        Learned,
        LearnedFact,
        ProposedFact,
        SeenAgain,
        SkippedMessage,
    )
    from memoranda.plans.spoken import AnyExtractor
    from memoranda.plans.steps.context import RecalledMemory
    from memoranda.recall.provider import (
        AppExecutionContext,
        AppInputNamespace,
        MemoryExperience,
        MemoryProvider,
        MemoryQuery,
        StoreProvider,
    )
    from memoranda.recall.trace import (
        MemoryRef,
        MemoryTrace,
        SelectedMemory,
        ValidationResult,
        VerificationEvidence,
    )
    from memoranda.records.filter import MemoryFilter, Page
    from memoranda.records.model import Expiry, MemoryRecordInput, StoredMemoryRecord
    from memoranda.records.store import (
        Capabilities,
        Capability,
        HookFailure,
        MemoryHooks,
        MemoryStore,
        MemoryUpdate,
    )
    from memoranda.stores.dictionary import DictDatabase
    from memoranda.worlds.action import ActionContext, Merge, Patch, Set, Unset
    from memoranda.worlds.domain import Domain
    from memoranda.worlds.host import (
        EffectFailed,
        Host,
        HostExecutionOptions,
        HostExecutionResult,
        Surrounded,
        Surroundings,
    )
    from memoranda.worlds.local_host import LocalHost
    from memoranda.worlds.proposal import (
        AuthorityRef,
        DecisionRecord,
        Intent,
        IntentBody,
        IntentInstance,
        IntentScope,
        Projection,
        ProjectionEvent,
        Proposal,
        ProposalTrace,
        SnapshotView,
        TribunalDecisionRecord,
        Vote,
        projection,
    )
    from memoranda.worlds.replay import Differs
    from memoranda.worlds.snapshot import Snapshot
    from memoranda.worlds.world import World, WorldEdge

__all__ = [
    "AccessKey",
    "ActOptions",
    "ActionContext",
    "Activity",
    "ActorKind",
    "ActorRef",
    "Anchor",
    "Answer",
    "AnyExtractor",
    "AppExecutionContext",
    "AppInputNamespace",
    "At",
    "Audit",
    "AuthorityRef",
    "Batch",
    "BlockingDatabase",
    "BlockingMemory",
    "BodyCodec",
    "BranchHead",
    "Brought",
    "Capabilities",
    "Capability",
    "Clock",
    "Conflict",
    "ConnectOptions",
    "ConsolidationOptions",
    "CycleAccount",
    "CycleReplay",
    "Damage",
    "Damages",
    "DataCodec",
    "DatabaseAudit",
    "DecisionRecord",
    "DictDatabase",
    "Difference",
    "Differs",
    "Domain",
    "EffectFailed",
    "EntryProof",
    "ErasureCertificate",
    "ErasureCounts",
    "Evaluated",
    "Event",
    "Expiry",
    "ExportFormat",
    "FileAnchor",
    "Filters",
    "Finding",
    "GateFailure",
    "HookFailure",
    "Host",
    "HostExecutionOptions",
    "HostExecutionResult",
    "IdSource",
    "ImportReport",
    "IntegrityHash",
    "Intent",
    "IntentBody",
    "IntentInstance",
    "IntentScope",
    "Item",
    "JobRun",
    "JobStatus",
    "JournalEntry",
    "JournalHead",
    "JournalReport",
    "JsonValue",
    "Keys",
    "KnownAnswer",
    "Latest",
    "Learned",
    "LearnedFact",
    "LineageStep",
    "ListOptions",
    "LocalHost",
    "LogEvent",
    "MaintenanceStatus",
    "MemoryExperience",
    "MemoryFilter",
    "MemoryHooks",
    "MemoryObject",
    "MemoryProvider",
    "MemoryQuery",
    "MemoryRecordInput",
    "MemoryRef",
    "MemoryStore",
    "MemoryTrace",
    "MemoryUpdate",
    "Merge",
    "Moment",
    "MovedIn",
    "NewKey",
    "Opening",
    "Original",
    "Page",
    "Patch",
    "Projection",
    "ProjectionEvent",
    "Proposal",
    "ProposalTrace",
    "ProposedFact",
    "Randomness",
    "Reasoning",
    "RecallOptions",
    "Recalled",
    "RecalledMemory",
    "Receipt",
    "Records",
    "Refusal",
    "RefusedLine",
    "Reindexed",
    "Remembered",
    "Replay",
    "Result",
    "Rows",
    "Run",
    "Seal",
    "SeenAgain",
    "SelectedMemory",
    "Set",
    "Signer",
    "SkippedMessage",
    "Snapshot",
    "SnapshotView",
    "SourceRef",
    "Status",
    "StoreProvider",
    "StoredCheckpoint",
    "StoredMemoryRecord",
    "Subject",
    "Submitted",
    "Surrounded",
    "Surroundings",
    "SystemClock",
    "TimeOrderedIds",
    "TribunalDecisionRecord",
    "Turn",
    "TurnSession",
    "Turns",
    "Unset",
    "ValidationResult",
    "Validity",
    "VerificationEvidence",
    "Verifier",
    "VerifierKey",
    "Violation",
    "Vote",
    "Waiting",
    "Why",
    "WitnessAnchor",
    "World",
    "WorldEdge",
    "projection",
]

__getattr__, __dir__ = lazy_names(__name__)
