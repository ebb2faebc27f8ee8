"""One tree for everything memoranda refuses or could not do.

::

    MemorandaError
    ├── InvalidInput               what was sent can't be accepted; nothing was changed
    │   ├── InvalidJson            a document or value outside our JSON, with where and why
    │   ├── InvalidRecord          a record whose shape is wrong
    │   ├── InvalidFilter          a filter that can't be answered
    │   │   └── UnknownFilterKey   a key that this store does not know      (MEM-FILTER)
    │   ├── InvalidPatch           a patch that can't be merged             (MEM-PATCH-1)
    │   ├── InvalidScope
    │   ├── InvalidActor
    │   ├── InvalidOption          an option of `open` that can't be used
    │   ├── InvalidUrl
    │   ├── InvalidTime            a time that is not RFC 3339 UTC in milliseconds
    │   ├── InvalidObject          not a valid MemoryObject                (GOV-OBJECT)
    │   ├── InvalidEvent           not a valid MemoryLog event              (GOV-LOG)
    │   ├── InvalidLog             a MemoryLog that can't be read strictly  (GOV-LOG)
    │   ├── ImportRefused          objects of others that can't come in     (GOV-OBJECT)
    │   ├── InvalidPolicy          not a valid policy, or change of one
    │   ├── ReasonMissing          forgetting without a reason or a cause   (GOV-FORGET)
    │   ├── InvalidProof           a Merkle proof, or a chain, that does not hold
    │   ├── InvalidCheckpoint      a text that is not a checkpoint, with where and why
    │   ├── InvalidWorld           not a valid snapshot, intent, proposal or the like
    │   ├── InvalidDomain          a domain that can't be defined so        (APP-INPUT-2)
    │   ├── InvalidIntent          an action or input that the domain does not know
    │   ├── MemoryOutOfReach       memory asked for from where it must not be (C-5, M-4)
    │   ├── InvalidPlan            not a valid execution plan, with all that is wrong
    │   ├── InvalidItem            not a valid MemoryItem                  (ING-WHITELIST)
    │   ├── InvalidSignature       a signature of a known key that does not hold
    │   └── InvalidKey             a signing key, or a ring of keys, that can't be used
    ├── RecordError                the record is not in the state that the call needs
    │   ├── RecordNotFound         update of an unknown id                  (MEM-CRUD-3)
    │   ├── RecordExists           create with an id that is in use
    │   ├── VersionConflict        expected_version is not the current one
    │   ├── IllegalTransition      a verb that the record's status rules out (GOV-FORGET)
    │   ├── ApprovalRefused        an approval by someone who took part
    │   ├── ApprovalPending        an operation that waits for approval     (MEM-AUTH-2)
    │   ├── ConformanceBroken      factual use while a break stands         (GOV-BREAK)
    │   ├── JudgementRefused       a maker's own verdict that it is Factual  (GOV-BREAK)
    │   ├── AuditRefused           a re-audit that can't be recorded        (GOV-BREAK)
    │   ├── PolicyRefused          an act that a policy of the scope rules out
    │   └── IdempotencyConflict    a key that was used for something else
    ├── WorldError                 worlds are not in the state that the call needs
    │   ├── WorldNotFound          no world, execution, proposal or branch of this name
    │   ├── WorldErased            its content was erased
    │   ├── IllegalMove            a move that a proposal's status rules out
    │   │   └── NotDecided         a run of what waits for a decision
    │   ├── BranchMoved            another run moved the head first
    │   ├── DecisionRefused        somebody may not decide, or it is decided already
    │   ├── NothingToRun           the handle was opened without a domain
    │   ├── ReasoningClosed        a recall after the proposal was submitted (M-3)
    │   ├── TraceMissing           a proposal that used memory without a trace (M-2)
    │   ├── RecallFailed           the result of a recall that failed is asked for
    │   └── MarkMoved              what a unit of work rested on has changed
    ├── PlanError                  a turn through an execution plan came to an end
    │   ├── CycleFailed            a step failed: nothing of the cycle was stored
    │   ├── ModelFailed            a model or an embedder did not answer as it must
    │   ├── NotRecorded            a cycle that was not recorded can't be replayed
    │   └── FailFast               the runtime stops at once               (ING-FAILFAST)
    │       ├── WriteFailed        what a cycle stores could not be written
    │       ├── SessionDamaged     a session that can't be read or written
    │       ├── SessionMismatch    a session of another plan                (ING-HASH)
    │       └── RuntimeStopped     a runtime that has failed fast does nothing more
    └── StoreError                 the database can't do it
        ├── CapabilityMissing      the store does not declare this ability
        │   └── EmbedderMissing    finding by meaning, without an embedder
        ├── DependencyMissing      an extra is not installed
        ├── StoreClosed
        ├── WrongLoop              used from another event loop or thread
        ├── WaitsForItself         a blocking call from the loop that it waits for
        ├── StoreUnavailable       not there, not reachable, or busy for too long
        ├── ScopeExists            a copy to where the scope is already
        ├── ScopeCollision         another scope has the same number by chance
        ├── ScopeNotFound          nothing was ever written to this scope
        ├── StoreReadOnly
        ├── StoreFailed            an I/O error: the outcome is unknown
        ├── OwnStoreFailed         a store of the user's own did not take what was approved
        ├── OwnStoreMissing        what was approved is for a store that this handle lacks
        ├── AnchorFailed           an anchor can't be read or written
        ├── IndexStale             the word index is another tokenizer's
        ├── ItemDamaged            an item that is stored can't be read     (ING-PARTIAL)
        ├── BodyUnreadable         a body that is stored can't be unpacked, say for want of a key
        ├── EntryDamaged           what is stored of an entry is not what was written (R-2)
        ├── ForeignDatabase        a database of something else
        ├── SchemaTooNew           written by a newer memoranda
        ├── SchemaTooOld           written by an older one, and not read without an upgrade
        └── SchemaDamaged          a migration that is not the one that was applied

Data are arguments; the text is made from them by ``__str__``; ``code`` is stable API.
"""

from dataclasses import dataclass
from typing import ClassVar, Final


@dataclass(eq=False)
class MemorandaError(Exception):
    """Something that memoranda refuses or could not do."""

    code: ClassVar[str] = "memoranda"
    rule: ClassVar[str | None] = None
    text: ClassVar[str] = "memoranda refused"

    def __str__(self) -> str:
        """The failure in plain words, and what to do about it; of what was given, only a part."""
        return self.text.format(**{name: _part(name, value) for name, value in vars(self).items()})

    def __reduce__(self) -> tuple[object, ...]:
        """Errors cross process borders whole."""
        return (_rebuild, (type(self), dict(vars(self))))


MOST_QUOTED: Final = 200
"""Characters of what was given that a message repeats: it goes into logs."""

MOST_SAID: Final = 1_000
"""Characters of our own words in it, which may name several things."""


def _part(name: str, value: object) -> object:
    most = MOST_SAID if name == "why" else MOST_QUOTED
    if not isinstance(value, str):
        try:
            str(value)
        except (ValueError, RecursionError):  # a number too long to write, something too deep
            return f"a value of the type {type(value).__name__}"
        return value
    if len(value) <= most:
        return value
    return f"{value[:most]}…"


def _rebuild(kind: type[MemorandaError], data: dict[str, object]) -> MemorandaError:
    return kind(**data)


# --------------------------------------------------------------------- what was sent


class InvalidInput(MemorandaError):
    """What was sent can't be accepted; nothing was changed."""

    code = "input"


@dataclass(eq=False)
class InvalidJson(InvalidInput):
    """A document or a value that is not our JSON; names where and why (D-MEM-1).

    ``where`` is a path such as ``$.data.items[3]``, or ``byte 17`` while a text is still unparsed.
    """

    where: str
    why: str

    code, rule = "input.json", "D-MEM-1"
    text = "Not a JSON value that memoranda can keep: {why}, at {where}."


@dataclass(eq=False)
class InvalidRecord(InvalidInput):
    """A record whose shape is wrong."""

    where: str
    why: str

    code, rule = "input.record", "D-MEM-REC"
    text = "The record can't be stored: {why}, at {where}."


@dataclass(eq=False)
class InvalidFilter(InvalidInput):
    """A filter that can't be answered."""

    where: str
    why: str

    code, rule = "input.filter", "MEM-FILTER"
    text = "The filter can't be answered: {why}, at {where}."


@dataclass(eq=False)
class UnknownFilterKey(InvalidFilter):
    """A filter names a key that this store does not know; it is never ignored (MEM-FILTER)."""

    code = "input.filter.unknown_key"
    text = "The filter names a key that this store does not know: {where}. {why}"


@dataclass(eq=False)
class InvalidPatch(InvalidInput):
    """A patch that can't be merged into what is stored (MEM-PATCH-1)."""

    id: str
    why: str

    code, rule = "input.patch", "MEM-PATCH-1"
    text = "The record {id!r} was not updated: {why}."


@dataclass(eq=False)
class InvalidScope(InvalidInput):
    """A scope that is not a short printable string."""

    scope: object
    why: str

    code = "input.scope"
    text = (
        "{scope!r} can't be a scope: {why}. Use 1 to 128 printable characters, such as 'support'."
    )


@dataclass(eq=False)
class InvalidActor(InvalidInput):
    """An actor that is neither an ActorRef nor ``kind:id``."""

    where: str
    why: str

    code = "input.actor"
    text = "Not an actor: {why}, at {where}. Use kind:id, such as 'agent:support'."


@dataclass(eq=False)
class InvalidOption(InvalidInput):
    """An option that a handle can't be opened with, or can't work with."""

    option: str
    why: str

    code = "input.option"
    text = "{option} is refused: {why}."


@dataclass(eq=False)
class InvalidUrl(InvalidInput):
    """A database URL that memoranda can't open."""

    url: str
    why: str

    code = "input.url"
    text = (
        "Can't open the database {url!r}: {why}. Use sqlite:///path.db, sqlite://:memory:, "
        "postgresql://user@host/database or dict://."
    )


@dataclass(eq=False)
class InvalidTime(InvalidInput):
    """A time that can't stand in a memory object."""

    time: object
    why: str

    code = "input.time"
    text = "{time!r} is not a time: {why}. Write it as 2026-02-15T10:22:31.000Z."


@dataclass(eq=False)
class InvalidObject(InvalidInput):
    """A document that is no MemoryObject of ours (GOV-OBJECT)."""

    where: str
    why: str

    code, rule = "input.object", "GOV-OBJECT"
    text = "Not a memory object: {why}, at {where}."


@dataclass(eq=False)
class InvalidEvent(InvalidInput):
    """A document that is no MemoryLog event of ours (GOV-LOG)."""

    where: str
    why: str

    code, rule = "input.event", "GOV-LOG"
    text = "Not a memory log event: {why}, at {where}."


@dataclass(eq=False)
class InvalidLog(InvalidInput):
    """A MemoryLog with violations; `validate_log` lists all of them (GOV-LOG)."""

    violations: int
    line: int
    why: str

    code, rule = "input.log", "GOV-LOG"
    text = (
        "The memory log has {violations} violations, the first in line {line}: {why}. "
        "Read it with lenient=True to keep what can be kept."
    )


@dataclass(eq=False)
class ImportRefused(InvalidInput):
    """Objects of others that can't come in: nothing of the file did (GOV-OBJECT)."""

    count: int
    line: int
    why: str

    code, rule = "input.import", "GOV-OBJECT"
    text = (
        "Nothing was imported: of {count} faults the first is in line {line}: {why}."
        " Mend it, or import leniently."
    )


@dataclass(eq=False)
class InvalidPolicy(InvalidInput):
    """A policy that can't be, or a change of one that would leave no trail (GOV-BREAK)."""

    policy: str
    why: str

    code, rule = "input.policy", "GOV-BREAK"
    text = "The {policy} policy was not changed: {why}."


@dataclass(eq=False)
class ReasonMissing(InvalidInput):
    """Forgetting needs a reason in words and one of the named causes (GOV-FORGET)."""

    verb: str
    why: str

    code, rule = "input.reason", "GOV-FORGET"
    text = "Can't {verb}: {why}."


@dataclass(eq=False)
class InvalidProof(InvalidInput):
    """A proof, or a chain, that does not hold."""

    why: str

    code = "input.proof"
    text = "The proof does not hold: {why}."


@dataclass(eq=False)
class InvalidCheckpoint(InvalidInput):
    """A text that is not a checkpoint, or not a signed note."""

    where: str
    why: str

    code = "input.checkpoint"
    text = "Not a checkpoint: {why}, at {where}."


@dataclass(eq=False)
class InvalidPlan(InvalidInput):
    """Not a valid execution plan; names everything that is wrong with it."""

    violations: tuple[str, ...]

    code, rule = "input.plan", "ING-NEUTRAL"

    def __str__(self) -> str:
        """Every violation, each on a line."""
        violations = (f"- {_part('why', violation)}" for violation in self.violations)
        return "The plan can't be run:\n" + "\n".join(violations)


@dataclass(eq=False)
class InvalidItem(InvalidInput):
    """Not a valid MemoryItem, or part of one (ING-WHITELIST)."""

    where: str
    why: str

    code, rule = "input.item", "ING-WHITELIST"
    text = "The item can't be stored: {why}, at {where}."


@dataclass(eq=False)
class InvalidSignature(InvalidInput):
    """A checkpoint that no known key signed, or whose known key's signature does not hold."""

    signer: str
    why: str

    code = "input.signature"
    text = "The signature of {signer} does not hold: {why}. Don't believe what it signs."


@dataclass(eq=False)
class InvalidKey(InvalidInput):
    """A signing key, or a ring of public keys, that can't be used; never shows a private key."""

    where: str
    why: str

    code = "input.key"
    text = "The key in {where} can't be used: {why}."


@dataclass(eq=False)
class InvalidWorld(InvalidInput):
    """Not a valid snapshot, intent, proposal, decision or world."""

    where: str
    why: str

    code = "input.world"
    text = "Not a value of the world protocol: {why}, at {where}."


@dataclass(eq=False)
class InvalidDomain(InvalidInput):
    """A domain that can't be defined so; names beginning with $ are reserved (APP-INPUT-2)."""

    domain: str
    why: str

    code, rule = "input.domain", "APP-INPUT-2"
    text = "The domain {domain!r} can't be defined so: {why}."


@dataclass(eq=False)
class InvalidIntent(InvalidInput):
    """An action that the domain does not have, or an input that the action does not take."""

    action: str
    why: str

    code = "input.intent"
    text = "The action {action!r} can't be asked for so: {why}."


@dataclass(eq=False)
class MemoryOutOfReach(InvalidInput):
    """Memory was asked for from where it must not be reached (C-5, M-4, MEM-CONTEXT-2)."""

    who: str

    code, rule = "input.memory_out_of_reach", "C-5"
    text = "Memory can't be reached from {who}: select before you propose, and use what is frozen."


# ------------------------------------------------------------------------- records


class RecordError(MemorandaError):
    """The record is not in the state that the call needs; nothing was changed."""

    code = "record"


@dataclass(eq=False)
class RecordNotFound(RecordError):
    """No record is stored under this id."""

    id: str

    code, rule = "record.not_found", "MEM-CRUD-3"
    text = "No record is stored under the id {id!r}."


@dataclass(eq=False)
class RecordExists(RecordError):
    """A record is already stored under this id."""

    id: str

    code = "record.exists"
    text = "A record is already stored under the id {id!r}: update it, or leave the id out."


@dataclass(eq=False)
class VersionConflict(RecordError):
    """The record is not at the version that the caller saw."""

    id: str
    expected: int
    current: int

    code = "record.version_conflict"
    text = "The record {id!r} is at version {current}, not {expected}: read it again, then decide."


@dataclass(eq=False)
class IllegalTransition(RecordError):
    """The record's status rules out what was asked (GOV-FORGET)."""

    id: str
    status: str
    verb: str

    code, rule = "record.illegal_transition", "GOV-FORGET"
    text = "The record {id!r} is {status}: it can't be {verb}."


@dataclass(eq=False)
class ApprovalRefused(RecordError):
    """Only somebody who contributed nothing to a record may approve it."""

    id: str
    why: str

    code = "record.approval_refused"
    text = "The record {id!r} was not approved: {why}."


@dataclass(eq=False)
class ApprovalPending(RecordError):
    """An operation on memory that takes effect only when it is approved (MEM-AUTH-2)."""

    proposal: str
    operation: str

    code, rule = "record.approval_pending", "MEM-AUTH-2"
    text = (
        "To {operation} needs approval, and is proposed as {proposal!r}. Nothing was changed yet: "
        "it is in the inbox, and takes effect when it is approved."
    )


@dataclass(eq=False)
class ConformanceBroken(RecordError):
    """While a conformance break stands, nothing is returned or recorded as factual (GOV-BREAK)."""

    scope: str
    why: str

    code, rule = "record.conformance_broken", "GOV-BREAK"
    text = (
        "The scope {scope!r} has an open conformance break: {why}. Nothing is returned or recorded "
        "as factual until a re-audit is recorded: memoranda govern record-audit."
    )


@dataclass(eq=False)
class JudgementRefused(RecordError):
    """Whoever makes a record does not judge it Factual, unless the policy lets them (GOV-BREAK)."""

    actor: str

    code, rule = "record.judgement_refused", "GOV-BREAK"
    text = (
        "{actor!r} makes this record, and so can't judge it Factual. Record it with its sources "
        "and without a verdict; another actor judges it: approve with the verdict Factual. Or let "
        "makers judge: the policy oversight, maker_may_judge."
    )


@dataclass(eq=False)
class AuditRefused(RecordError):
    """A re-audit that would excuse what nobody looked at is not recorded (GOV-BREAK).

    ``unaccepted`` is what would have to be accepted, where that is what it lacks.
    """

    why: str
    unaccepted: tuple[str, ...] = ()

    code, rule = "record.audit_refused", "GOV-BREAK"
    text = "The re-audit was not recorded: {why}."


@dataclass(eq=False)
class PolicyRefused(RecordError):
    """An act that a policy in force in the scope rules out."""

    policy: str
    why: str

    code = "record.policy_refused"
    text = (
        "The {policy} policy of this scope rules it out: {why}. Nothing was changed; "
        "`memoranda govern policies {policy}` shows it."
    )


@dataclass(eq=False)
class IdempotencyConflict(RecordError):
    """An idempotency key that was used before, for something else."""

    key: str

    code = "record.idempotency_conflict"
    text = "The idempotency key {key!r} was used before for another request: use a new key."


# -------------------------------------------------------------------------- worlds


class WorldError(MemorandaError):
    """Worlds are not in the state that the call needs."""

    code = "world"


@dataclass(eq=False)
class WorldNotFound(WorldError):
    """There is no world, execution, proposal or branch of this name in this scope."""

    what: str
    name: str

    code = "world.not_found"
    text = "There is no {what} {name!r} in this scope."


@dataclass(eq=False)
class WorldErased(WorldError):
    """What was asked for was erased: nothing is made up in its place."""

    what: str
    name: str

    code = "world.erased"
    text = "The content of the {what} {name!r} was erased; that it was there is all that is left."


@dataclass(eq=False)
class IllegalMove(WorldError):
    """A proposal moves only as the world protocol says."""

    proposal: str
    status: str
    to: str

    code = "world.illegal_move"
    text = "The proposal {proposal!r} is {status}: it can't become {to}."


@dataclass(eq=False)
class NotDecided(IllegalMove):
    """A proposal that waits for a decision can't run."""

    code = "world.not_decided"
    text = (
        "The proposal {proposal!r} waits for a decision: look whose in the inbox, have it approved,"
        " then run it."
    )


@dataclass(eq=False)
class BranchMoved(WorldError):
    """Another run moved the head first; this one ended as failed and may be proposed again."""

    branch: str
    base: str
    head: str

    code = "world.branch_moved"
    text = (
        "The head of the branch {branch!r} is {head}, no longer {base}, on which this proposal "
        "rests. Nothing was changed; propose it again."
    )


@dataclass(eq=False)
class DecisionRefused(WorldError):
    """Somebody who may not decide this, or a proposal that is decided already."""

    proposal: str
    why: str

    code = "world.decision_refused"
    text = "No decision was made about the proposal {proposal!r}: {why}."


@dataclass(eq=False)
class NothingToRun(WorldError):
    """The handle was opened without a domain."""

    code = "world.nothing_to_run"
    text = "This handle has no actions to run: open it with domain=…."


@dataclass(eq=False)
class MarkMoved(WorldError):
    """What a unit of work rested on has changed; read it again, then decide."""

    name: str

    code = "world.mark_moved"
    text = "Somebody else came first at {name!r}: read it again, then decide."


@dataclass(eq=False)
class ReasoningClosed(WorldError):
    """A recall, or a second proposal, in a reasoning phase that is over (M-3)."""

    reasoning_id: str

    code, rule = "world.reasoning_closed", "M-3"
    text = (
        "The reasoning phase {reasoning_id} is closed: memory is selected before a proposal is"
        " submitted. Open another one."
    )


@dataclass(eq=False)
class TraceMissing(WorldError):
    """A proposal that used memory, without the trace of its selection (M-2)."""

    why: str

    code, rule = "world.trace_missing", "M-2"
    text = "The proposal is refused: {why}. What memory it used must be on record with it."


@dataclass(eq=False)
class RecallFailed(WorldError):
    """The result of a recall that failed is asked for: an error is never an empty list."""

    trace_id: str
    why: str

    code = "world.recall_failed"
    text = "The recall {trace_id} failed, and has no result: {why}."


# ------------------------------------------------------------------------------- plans


class PlanError(MemorandaError):
    """A turn through an execution plan came to an end."""

    code = "plan"


@dataclass(eq=False)
class CycleFailed(PlanError):
    """A step failed, and with it the cycle: nothing of it was stored (ING-NO-FALLBACK)."""

    step: str
    why: str
    not_done: tuple[str, ...] = ()

    code, rule = "plan.cycle_failed", "ING-NO-FALLBACK"

    def __str__(self) -> str:
        """Which step, why, and what was not done."""
        rest = f" Not done: {', '.join(self.not_done)}." if self.not_done else ""
        why = _part("why", self.why)
        return f"The cycle failed at {self.step}: {why}. Nothing was stored.{rest}"


@dataclass(eq=False)
class ModelFailed(PlanError):
    """A model or an embedder did not answer, or not as it must."""

    model: str
    why: str

    code = "plan.model_failed"
    text = "The model {model} did not answer as it must: {why}."


@dataclass(eq=False)
class NotRecorded(PlanError):
    """A cycle that was not recorded can't be replayed (ING-RAW)."""

    cycle_id: str

    code = "plan.not_recorded"
    text = (
        "The cycle {cycle_id} is not recorded: only digests of it were kept. Record with --record."
    )


class FailFast(PlanError):
    """The runtime stops at once, and does nothing more (ING-FAILFAST)."""

    code, rule = "plan.fail_fast", "ING-FAILFAST"


@dataclass(eq=False)
class WriteFailed(FailFast):
    """What a cycle stores could not be written."""

    what: str
    why: str

    code = "plan.fail_fast.write"
    text = "{what} could not be written: {why}. The runtime has stopped."


@dataclass(eq=False)
class SessionDamaged(FailFast):
    """A session that can't be read."""

    session: str
    why: str

    code = "plan.fail_fast.session_damaged"
    text = (
        "The session {session} is damaged: {why}. Nothing was changed; begin anew with a fresh"
        " session (--fresh keeps the old one aside)."
    )


@dataclass(eq=False)
class SessionMismatch(FailFast):
    """A session whose last plan was another one (ING-HASH).

    ``differs`` names the members that are not the same, such as ``metadata.topK`` or
    ``steps.retrieve``; it is empty where the first turn of the session is erased.
    """

    session: str
    expected: str
    actual: str
    differs: tuple[str, ...] = ()

    code, rule = "plan.fail_fast.session_mismatch", "ING-HASH"

    def __str__(self) -> str:
        """Both hashes, what differs where that is known, and the two ways to go on."""
        differs = f"; what differs: {', '.join(self.differs)}" if self.differs else ""
        return (
            f"The session {self.session} was left by another plan"
            f" (expected {self.expected}, found {self.actual}{differs})."
            " Go on with that plan, or begin anew (--fresh keeps the old one aside)."
        )


@dataclass(eq=False)
class RuntimeStopped(FailFast):
    """A runtime that has failed fast does nothing more."""

    why: str

    code = "plan.fail_fast.stopped"
    text = "The runtime has stopped and does nothing more: {why}. Open another one."


# -------------------------------------------------------------------------- stores


class StoreError(MemorandaError):
    """The database can't do what was asked."""

    code = "store"


@dataclass(eq=False)
class CapabilityMissing(StoreError):
    """The store does not declare this ability."""

    capability: str

    code = "store.capability_missing"
    text = "This store does not offer {capability}: look at its capabilities before you call it."


@dataclass(eq=False)
class EmbedderMissing(CapabilityMissing):
    """What finds by meaning needs an embedder."""

    capability: str = "embeddings"

    code = "store.embedder_missing"
    text = (
        "This needs an embedder: hand one to `memoranda.connect`, or name it in the environment of"
        " the command line, with MEMORANDA_EMBEDDER_FOLDER or MEMORANDA_EMBEDDER_URL"
        " (docs/embeddings.md)."
    )


@dataclass(eq=False)
class DependencyMissing(StoreError):
    """Something that this needs is not installed."""

    what: str
    extra: str

    code = "store.dependency_missing"
    text = "{what} is not installed. Run: pip install 'memoranda[{extra}]'"


@dataclass(eq=False)
class StoreClosed(StoreError):
    """The handle was closed, or never opened."""

    code = "store.closed"
    text = "The store is not open: use it inside 'async with memoranda.open(...)'."


@dataclass(eq=False)
class WrongLoop(StoreError):
    """A database was used outside of the event loop that it was opened in."""

    database: str

    code = "store.wrong_loop"
    text = (
        "The database {database} was opened in another event loop. Use its handles there, open it"
        " again here, or use `memoranda.open_sync` from threads and blocking code."
    )


@dataclass(eq=False)
class WaitsForItself(StoreError):
    """A blocking call was made from the event loop that would have to answer it."""

    code = "store.waits_for_itself"
    text = (
        "A hook, an action or the like used a blocking handle from the event loop that it runs in,"
        " where the call would wait for itself. Use `memoranda.open` or `connect` there."
    )


@dataclass(eq=False)
class StoreUnavailable(StoreError):
    """The database is not there, not reachable, or busy for too long."""

    database: str
    why: str

    code = "store.unavailable"
    text = "Can't reach the database {database}: {why}."


@dataclass(eq=False)
class ScopeExists(StoreError):
    """A scope is copied only to where it is not yet."""

    database: str
    scope: str

    code = "store.scope_exists"
    text = "The database {database} has the scope {scope!r} already: name another database."


@dataclass(eq=False)
class ScopeCollision(StoreError):
    """Another scope of the database has the same number: 63 bits of a digest, by chance."""

    database: str
    scope: str

    code = "store.scope_collision"
    text = (
        "The scope {scope!r} can't be kept in {database}, because another scope there has the same"
        " number by chance: choose another name, or another database."
    )


@dataclass(eq=False)
class ScopeNotFound(StoreError):
    """Nothing was ever written to this scope, and whoever only reads makes none."""

    database: str
    scope: str

    code = "store.scope_not_found"
    text = (
        "There is no scope {scope!r} in the database {database}. Name another (`memoranda scopes`"
        " lists them), or write to it first."
    )


@dataclass(eq=False)
class StoreReadOnly(StoreError):
    """The database can't be written."""

    database: str
    why: str

    code = "store.read_only"
    text = "Can't write the database {database}: {why}."


@dataclass(eq=False)
class StoreFailed(StoreError):
    """The database broke off; whether the last write landed is unknown.

    Retry with the same idempotency key: it lands once, whatever happened.
    """

    database: str
    why: str

    code = "store.failed"
    text = (
        "The database {database} broke off: {why}. Whether the last write landed is unknown; "
        "retry it with the same idempotency key."
    )


@dataclass(eq=False)
class OwnStoreFailed(StoreError):
    """A store of the user's own failed at a change that was approved; it is left to be done."""

    proposal: str
    why: str

    code = "store.own_failed"
    text = (
        "The change of {proposal!r} is approved, and your store did not take it: {why}. Whether it "
        "landed is unknown. Try again with `worlds.resume()`: it finds out, and does what is left."
    )


@dataclass(eq=False)
class OwnStoreMissing(StoreError):
    """A change of a store of the user's own was approved, and this handle has no such store."""

    proposal: str

    code = "store.own_missing"
    text = (
        "The proposal {proposal!r} changes a store of your own, and this handle was opened without "
        "one. Run it with a handle that has it: app=App(store=…)."
    )


@dataclass(eq=False)
class AnchorFailed(StoreError):
    """An anchor can't be read or written; the database itself is as it was."""

    anchor: str
    why: str

    code = "store.anchor_failed"
    text = "Can't use the anchor {anchor}: {why}. The database is as it was."


@dataclass(eq=False)
class ItemDamaged(StoreError):
    """An item that is stored can't be read: no retrieval is partial (ING-PARTIAL)."""

    item: str
    why: str

    code, rule = "store.item_damaged", "ING-PARTIAL"
    text = "The item {item} is damaged: {why}. Nothing is returned rather than a part."


@dataclass(eq=False)
class BodyUnreadable(StoreError):
    """A body is stored, and its codec can't unpack it: its key is missing, or it was changed."""

    why: str

    code = "store.body_unreadable"
    text = "A body can't be read: {why}."


@dataclass(eq=False)
class EntryDamaged(StoreError):
    """What is stored of an entry is not what was written: it is named, and never handed out.

    ``entry`` is its number; ``part`` is what is damaged of it, as `verify` calls it (body, row).
    """

    entry: int
    part: str
    why: str

    code, rule = "store.entry_damaged", "R-2"
    text = (
        "Entry {entry} of the journal is damaged ({part}): {why}. Nothing of it was used; run"
        " `memoranda verify` to see all damage."
    )


@dataclass(eq=False)
class IndexStale(StoreError):
    """The word index was made by another tokenizer, or is being made anew."""

    tokenizer: str
    needed: str

    code = "store.index_stale"
    text = (
        "Can't search the words of this scope: its index is of the tokenizer {tokenizer}, and"
        " this is {needed}. Run `memoranda reindex`."
    )


@dataclass(eq=False)
class ForeignDatabase(StoreError):
    """The database belongs to something else; it was left untouched."""

    database: str
    why: str

    code = "store.foreign"
    text = "{database} is not a memoranda database: {why}. It was left as it is; name another."


@dataclass(eq=False)
class SchemaTooNew(StoreError):
    """The database was written by a newer memoranda; it was left untouched."""

    database: str
    found: int
    known: int

    code = "store.schema_too_new"
    text = (
        "{database} has schema {found}, and this memoranda knows up to {known}: "
        "upgrade memoranda. Nothing was changed."
    )


@dataclass(eq=False)
class SchemaTooOld(StoreError):
    """An older memoranda wrote the database, and what is asked for is not in it yet."""

    database: str
    why: str

    code = "store.schema_too_old"
    text = (
        "The database {database} lacks what this memoranda reads ({why}). If an older version wrote"
        " it, run `memoranda upgrade`; else restore a backup."
    )


@dataclass(eq=False)
class SchemaDamaged(StoreError):
    """A migration in the database is not the one that this memoranda knows."""

    database: str
    why: str

    code = "store.schema_damaged"
    text = "The schema of {database} can't be trusted: {why}. Nothing was changed."
