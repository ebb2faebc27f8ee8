"""One tree for everything memoranda refuses or could not do.

::

    MemorandaError
    ├── InvalidInput    what was sent can't be accepted; nothing was changed
    │     InvalidJson  InvalidRecord  InvalidFilter ( UnknownFilterKey )  InvalidPatch
    │     InvalidScope  InvalidActor  InvalidOption  InvalidUrl  InvalidTime
    │     InvalidObject  InvalidEvent  InvalidLog  ImportRefused  InvalidPolicy  ReasonMissing
    │     InvalidProof  InvalidCheckpoint  InvalidSignature  InvalidKey  LogUnknown
    │     InvalidWorld  InvalidDomain  InvalidIntent  MemoryOutOfReach  InvalidPlan  InvalidItem
    ├── RecordError     the record is not in the state that the call needs
    │     RecordNotFound  RecordExists  VersionConflict  IdempotencyConflict  IllegalTransition
    │     ApprovalRefused  ApprovalPending  JudgementRefused  PolicyRefused
    │     ConformanceBroken  AuditRefused
    ├── WorldError      worlds are not in the state that the call needs
    │     WorldNotFound  WorldErased  IllegalMove ( NotDecided  RunElsewhere )  BranchMoved
    │     MarkMoved  DecisionRefused  NothingToRun  ReasoningClosed  TraceMissing  RecallFailed
    ├── PlanError       a turn through an execution plan came to an end
    │   │ CycleFailed  ModelFailed  NotRecorded
    │   └── FailFast    the runtime stops at once (ING-FAILFAST)
    │         WriteFailed  SessionDamaged  SessionMismatch  RuntimeStopped
    ├── DoorError       a server does not let a request in, or not now
    │     KeyMissing  KeyRefused  RightMissing  IdentityRefused  HostRefused
    │     NotConfirmed
    │     RateExceeded  Overloaded  RequestTimedOut
    │     RouteNotFound  MethodRefused  MediaTypeRefused  RequestTooLarge
    └── StoreError      the database can't do it
          CapabilityMissing ( EmbedderMissing )  DependencyMissing
          StoreClosed  StoreUnavailable  StoreReadOnly  StoreFailed  WrongLoop  WaitsForItself
          ScopeExists  ScopeCollision  ScopeNotFound  OwnStoreFailed  OwnStoreMissing
          AnchorFailed ( WitnessRefused  WitnessDisagrees )  CheckpointConflict
          ItemDamaged  BodyUnreadable  EntryDamaged  IndexStale  LeaseLost
          ForeignDatabase  SchemaTooNew  SchemaTooOld  SchemaDamaged

Data are arguments; the text is made from them by ``__str__``; ``code`` is stable API. Each class is
a dataclass: its annotated members are its arguments, in their order.
"""

from dataclasses import dataclass
from typing import ClassVar, Final, dataclass_transform


@dataclass_transform(eq_default=False)
@dataclass(eq=False)
class MemorandaError(Exception):
    """Something that memoranda refuses or could not do."""

    code: ClassVar[str] = "memoranda"
    rule: ClassVar[str | None] = None
    text: ClassVar[str] = "memoranda refused"

    def __init_subclass__(cls) -> None:
        dataclass(eq=False)(cls)

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


class InvalidJson(InvalidInput):
    """A document or a value that is not our JSON; names where and why (D-MEM-1).

    ``where`` is a path such as ``$.data.items[3]``, or ``byte 17`` while a text is still unparsed.
    """

    where: str
    why: str
    code, rule = "input.json", "D-MEM-1"
    text = "Not a JSON value that memoranda can keep: {why}, at {where}."


class InvalidRecord(InvalidInput):
    """A record whose shape is wrong."""

    where: str
    why: str
    code, rule = "input.record", "D-MEM-REC"
    text = "The record can't be stored: {why}, at {where}."


class InvalidFilter(InvalidInput):
    """A filter that can't be answered."""

    where: str
    why: str
    code, rule = "input.filter", "MEM-FILTER"
    text = "The filter can't be answered: {why}, at {where}."


class UnknownFilterKey(InvalidFilter):
    """A filter names a key that this store does not know; it is never ignored (MEM-FILTER)."""

    code = "input.filter.unknown_key"
    text = "The filter names a key that this store does not know: {where}. {why}"


class InvalidPatch(InvalidInput):
    """A patch that can't be merged into what is stored (MEM-PATCH-1)."""

    id: str
    why: str
    code, rule = "input.patch", "MEM-PATCH-1"
    text = "The record {id!r} was not updated: {why}."


class InvalidScope(InvalidInput):
    """A scope that is not a short printable string."""

    scope: object
    why: str
    code = "input.scope"
    text = (
        "{scope!r} can't be a scope: {why}. Use 1 to 128 printable characters, such as 'support'."
    )


class InvalidActor(InvalidInput):
    """An actor that is neither an ActorRef nor ``kind:id``."""

    where: str
    why: str
    code = "input.actor"
    text = "Not an actor: {why}, at {where}. Use kind:id, such as 'agent:support'."


class InvalidOption(InvalidInput):
    """An option that a handle can't be opened with, or can't work with."""

    option: str
    why: str
    code = "input.option"
    text = "{option} is refused: {why}."


class InvalidUrl(InvalidInput):
    """A database URL that memoranda can't open."""

    url: str
    why: str
    code = "input.url"
    text = (
        "Can't open the database {url!r}: {why}. Use sqlite:///path.db, sqlite://:memory:, "
        "postgresql://user@host/database or dict://."
    )


class InvalidTime(InvalidInput):
    """A time that can't stand in a memory object."""

    time: object
    why: str
    code = "input.time"
    text = "{time!r} is not a time: {why}. Write it as 2026-02-15T10:22:31.000Z."


class InvalidObject(InvalidInput):
    """A document that is no MemoryObject of ours (GOV-OBJECT)."""

    where: str
    why: str
    code, rule = "input.object", "GOV-OBJECT"
    text = "Not a memory object: {why}, at {where}."


class InvalidEvent(InvalidInput):
    """A document that is no MemoryLog event of ours (GOV-LOG)."""

    where: str
    why: str
    code, rule = "input.event", "GOV-LOG"
    text = "Not a memory log event: {why}, at {where}."


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


class InvalidPolicy(InvalidInput):
    """A policy that can't be, or a change of one that would leave no trail (GOV-BREAK)."""

    policy: str
    why: str
    code, rule = "input.policy", "GOV-BREAK"
    text = "The {policy} policy was not changed: {why}."


class ReasonMissing(InvalidInput):
    """Forgetting needs a reason in words and one of the named causes (GOV-FORGET)."""

    verb: str
    why: str
    code, rule = "input.reason", "GOV-FORGET"
    text = "Can't {verb}: {why}."


class InvalidProof(InvalidInput):
    """A proof, or a chain, that does not hold."""

    why: str
    code = "input.proof"
    text = "The proof does not hold: {why}."


class InvalidCheckpoint(InvalidInput):
    """A text that is not a checkpoint, or not a signed note."""

    where: str
    why: str
    code = "input.checkpoint"
    text = "Not a checkpoint: {why}, at {where}."


class InvalidPlan(InvalidInput):
    """Not a valid execution plan; names everything that is wrong with it."""

    violations: tuple[str, ...]
    code, rule = "input.plan", "ING-NEUTRAL"

    def __str__(self) -> str:
        """Every violation, each on a line."""
        violations = (f"- {_part('why', violation)}" for violation in self.violations)
        return "The plan can't be run:\n" + "\n".join(violations)


class InvalidItem(InvalidInput):
    """Not a valid MemoryItem, or part of one (ING-WHITELIST)."""

    where: str
    why: str
    code, rule = "input.item", "ING-WHITELIST"
    text = "The item can't be stored: {why}, at {where}."


class InvalidSignature(InvalidInput):
    """A checkpoint that no known key signed, or whose known key's signature does not hold."""

    signer: str
    why: str
    code = "input.signature"
    text = "The signature of {signer} does not hold: {why}. Don't believe what it signs."


class InvalidKey(InvalidInput):
    """A signing key, or a ring of public keys, that can't be used; never shows a private key."""

    where: str
    why: str
    code = "input.key"
    text = "The key in {where} can't be used: {why}."


class LogUnknown(InvalidInput):
    """A checkpoint of a log whose keys a witness was not given, or that it never saw."""

    origin: str
    code = "input.log_unknown"
    text = "This witness does not know the log {origin}: whoever runs it has to add its key."


class InvalidWorld(InvalidInput):
    """Not a valid snapshot, intent, proposal, decision or world."""

    where: str
    why: str
    code = "input.world"
    text = "Not a value of the world protocol: {why}, at {where}."


class InvalidDomain(InvalidInput):
    """A domain that can't be defined so; names beginning with $ are reserved (APP-INPUT-2)."""

    domain: str
    why: str
    code, rule = "input.domain", "APP-INPUT-2"
    text = "The domain {domain!r} can't be defined so: {why}."


class InvalidIntent(InvalidInput):
    """An action that the domain does not have, or an input that the action does not take."""

    action: str
    why: str
    code = "input.intent"
    text = "The action {action!r} can't be asked for so: {why}."


class MemoryOutOfReach(InvalidInput):
    """Memory was asked for from where it must not be reached (C-5, M-4, MEM-CONTEXT-2)."""

    who: str
    code, rule = "input.memory_out_of_reach", "C-5"
    text = "Memory can't be reached from {who}: select before you propose, and use what is frozen."


# ------------------------------------------------------------------------- records


class RecordError(MemorandaError):
    """The record is not in the state that the call needs; nothing was changed."""

    code = "record"


class RecordNotFound(RecordError):
    """No record is stored under this id."""

    id: str
    code, rule = "record.not_found", "MEM-CRUD-3"
    text = "No record is stored under the id {id!r}."


class RecordExists(RecordError):
    """A record is already stored under this id."""

    id: str
    code = "record.exists"
    text = "A record is already stored under the id {id!r}: update it, or leave the id out."


class VersionConflict(RecordError):
    """The record is not at the version that the caller saw."""

    id: str
    expected: int
    current: int
    code = "record.version_conflict"
    text = "The record {id!r} is at version {current}, not {expected}: read it again, then decide."


class IllegalTransition(RecordError):
    """The record's status rules out what was asked (GOV-FORGET)."""

    id: str
    status: str
    verb: str
    code, rule = "record.illegal_transition", "GOV-FORGET"
    text = "The record {id!r} is {status}: it can't be {verb}."


class ApprovalRefused(RecordError):
    """Only somebody who contributed nothing to a record may approve it."""

    id: str
    why: str
    code = "record.approval_refused"
    text = "The record {id!r} was not approved: {why}."


class ApprovalPending(RecordError):
    """An operation on memory that takes effect only when it is approved (MEM-AUTH-2)."""

    proposal: str
    operation: str
    code, rule = "record.approval_pending", "MEM-AUTH-2"
    text = (
        "To {operation} needs approval, and is proposed as {proposal!r}. Nothing was changed yet: "
        "it is in the inbox, and takes effect when it is approved."
    )


class ConformanceBroken(RecordError):
    """While a conformance break stands, nothing is returned or recorded as factual (GOV-BREAK)."""

    scope: str
    why: str
    code, rule = "record.conformance_broken", "GOV-BREAK"
    text = (
        "The scope {scope!r} has an open conformance break: {why}. Nothing is returned or recorded "
        "as factual until a re-audit is recorded: memoranda govern record-audit."
    )


class JudgementRefused(RecordError):
    """Whoever makes a record does not judge it Factual, unless the policy lets them (GOV-BREAK)."""

    actor: str
    code, rule = "record.judgement_refused", "GOV-BREAK"
    text = (
        "{actor!r} makes this record, and so can't judge it Factual. Record it with its sources "
        "and without a verdict; another actor judges it: approve with the verdict Factual. Or let "
        "makers judge: the policy oversight, maker_may_judge."
    )


class AuditRefused(RecordError):
    """A re-audit that would excuse what nobody looked at is not recorded (GOV-BREAK).

    ``unaccepted`` is what would have to be accepted, where that is what it lacks.
    """

    why: str
    unaccepted: tuple[str, ...] = ()
    code, rule = "record.audit_refused", "GOV-BREAK"
    text = "The re-audit was not recorded: {why}."


class PolicyRefused(RecordError):
    """An act that a policy in force in the scope rules out."""

    policy: str
    why: str
    code = "record.policy_refused"
    text = (
        "The {policy} policy of this scope rules it out: {why}. Nothing was changed; "
        "`memoranda govern policies {policy}` shows it."
    )


class IdempotencyConflict(RecordError):
    """An idempotency key that was used before, for something else."""

    key: str
    code = "record.idempotency_conflict"
    text = "The idempotency key {key!r} was used before for another request: use a new key."


# -------------------------------------------------------------------------- worlds


class WorldError(MemorandaError):
    """Worlds are not in the state that the call needs."""

    code = "world"


class WorldNotFound(WorldError):
    """There is no world, execution, proposal or branch of this name in this scope."""

    what: str
    name: str
    code = "world.not_found"
    text = "There is no {what} {name!r} in this scope."


class WorldErased(WorldError):
    """What was asked for was erased: nothing is made up in its place."""

    what: str
    name: str
    code = "world.erased"
    text = "The content of the {what} {name!r} was erased; that it was there is all that is left."


class IllegalMove(WorldError):
    """A proposal moves only as the world protocol says."""

    proposal: str
    status: str
    to: str
    code = "world.illegal_move"
    text = "The proposal {proposal!r} is {status}: it can't become {to}."


class NotDecided(IllegalMove):
    """A proposal that waits for a decision can't run."""

    code = "world.not_decided"
    text = (
        "The proposal {proposal!r} waits for a decision: look whose in the inbox, have it approved,"
        " then run it."
    )


class RunElsewhere(IllegalMove):
    """Somebody runs this proposal right now: two runs of it at once would undo each other."""

    code = "world.run_elsewhere"
    text = (
        "The proposal {proposal!r} is being run elsewhere. Wait for it: worlds.standing shows how"
        " it stands. If that process died, run it again in half a minute: it is taken over."
    )


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


class DecisionRefused(WorldError):
    """Somebody who may not decide this, or a proposal that is decided already."""

    proposal: str
    why: str
    code = "world.decision_refused"
    text = "No decision was made about the proposal {proposal!r}: {why}."


class NothingToRun(WorldError):
    """The handle was opened without a domain."""

    code = "world.nothing_to_run"
    text = "This handle has no actions to run: open it with domain=…."


class MarkMoved(WorldError):
    """What a unit of work rested on has changed; read it again, then decide."""

    name: str
    code = "world.mark_moved"
    text = "Somebody else came first at {name!r}: read it again, then decide."


class ReasoningClosed(WorldError):
    """A recall, or a second proposal, in a reasoning phase that is over (M-3)."""

    reasoning_id: str
    code, rule = "world.reasoning_closed", "M-3"
    text = (
        "The reasoning phase {reasoning_id} is closed: memory is selected before a proposal is"
        " submitted. Open another one."
    )


class TraceMissing(WorldError):
    """A proposal that used memory, without the trace of its selection (M-2)."""

    why: str
    code, rule = "world.trace_missing", "M-2"
    text = "The proposal is refused: {why}. What memory it used must be on record with it."


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


class ModelFailed(PlanError):
    """A model or an embedder did not answer, or not as it must."""

    model: str
    why: str
    code = "plan.model_failed"
    text = "The model {model} did not answer as it must: {why}."


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


class WriteFailed(FailFast):
    """What a cycle stores could not be written."""

    what: str
    why: str
    code = "plan.fail_fast.write"
    text = "{what} could not be written: {why}. The runtime has stopped."


class SessionDamaged(FailFast):
    """A session that can't be read."""

    session: str
    why: str
    code = "plan.fail_fast.session_damaged"
    text = (
        "The session {session} is damaged: {why}. Nothing was changed; begin anew with a fresh"
        " session (--fresh keeps the old one aside)."
    )


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


class RuntimeStopped(FailFast):
    """A runtime that has failed fast does nothing more."""

    why: str
    code = "plan.fail_fast.stopped"
    text = "The runtime has stopped and does nothing more: {why}. Open another one."


# --------------------------------------------------------------------------- doors


class DoorError(MemorandaError):
    """A server does not let a request in, or not now; nothing was changed."""

    code = "door"


class KeyMissing(DoorError):
    """The server wants a key, and the request has none."""

    code = "door.key_missing"
    text = "This needs a key: send the header 'Authorization: Bearer …' (memoranda keys create)."


class KeyRefused(DoorError):
    """The key is not one of the database's, or it is expired or revoked: which, is not said."""

    code = "door.key_refused"
    text = "The key is refused: it is unknown, expired or revoked. Ask for another one."


class RightMissing(DoorError):
    """The key does not have the right that an operation needs."""

    operation: str
    right: str
    code = "door.right_missing"
    text = "{operation} needs the right {right!r}, which this key does not have."


class IdentityRefused(DoorError):
    """A request names another scope or actor than its key; it is refused, and never rewritten."""

    member: str
    code = "door.identity_refused"
    text = "The {member} of the request is not that of the key: leave it out, or use another key."


class HostRefused(DoorError):
    """A request for another host, or from the page of another origin."""

    header: str
    code = "door.host_refused"
    text = "The header {header} names a place that this server does not answer to."


class NotConfirmed(DoorError):
    """A person has to say yes to this, and did not; or there is no way to ask one."""

    why: str
    code = "door.not_confirmed"
    text = "A person has to confirm this, and nothing was done: {why}."


class RateExceeded(DoorError):
    """A key that asked more often than it may."""

    seconds: int
    code = "door.rate_exceeded"
    text = "This key asked too often: ask again in {seconds} s."


class Overloaded(DoorError):
    """More requests are under way than the server takes on at once."""

    seconds: int
    code = "door.overloaded"
    text = "The server is busy: ask again in {seconds} s."


class RequestTimedOut(DoorError):
    """A request that was given up after the time limit; a write under way lands whole or not."""

    seconds: float
    code = "door.request_timed_out"
    text = (
        "The request took longer than {seconds} s. Whether a write landed is unknown; retry it with"
        " the same idempotency key."
    )


class RouteNotFound(DoorError):
    """Nothing is served under this path."""

    code = "door.route_not_found"
    text = "Nothing is served under this path: /openapi.json lists what is."


class MethodRefused(DoorError):
    """The path is served, and not with this method."""

    allowed: str
    code = "door.method_refused"
    text = "This path takes {allowed}."


class MediaTypeRefused(DoorError):
    """A body of another media type than the operation takes."""

    expected: str
    code = "door.media_type_refused"
    text = "The body must be {expected}: say so in the header Content-Type."


class RequestTooLarge(DoorError):
    """A request whose body has too many bytes."""

    limit: int
    code = "door.request_too_large"
    text = "The body is larger than {limit} bytes: send less at once."


# -------------------------------------------------------------------------- stores


class StoreError(MemorandaError):
    """The database can't do what was asked."""

    code = "store"


class CapabilityMissing(StoreError):
    """The store does not declare this ability."""

    capability: str
    code = "store.capability_missing"
    text = "This store does not offer {capability}: look at its capabilities before you call it."


class EmbedderMissing(CapabilityMissing):
    """What finds by meaning needs an embedder."""

    capability: str = "embeddings"
    code = "store.embedder_missing"
    text = (
        "This needs an embedder: hand one to `memoranda.connect`, or name it in the environment of"
        " the command line, with MEMORANDA_EMBEDDER_FOLDER or MEMORANDA_EMBEDDER_URL"
        " (docs/embeddings.md)."
    )


class DependencyMissing(StoreError):
    """Something that this needs is not installed."""

    what: str
    extra: str
    code = "store.dependency_missing"
    text = "{what} is not installed. Run: pip install 'memoranda[{extra}]'"


class LeaseLost(StoreError):
    """A lease could not be renewed in time, and somebody else may have it."""

    name: str
    code = "store.lease_lost"
    text = (
        "The lease on {name!r} was lost: it could not be renewed in time. What was done so far"
        " stands; whoever has the lease now goes on."
    )


class StoreClosed(StoreError):
    """The handle was closed, or never opened."""

    code = "store.closed"
    text = "The store is not open: use it inside 'async with memoranda.open(...)'."


class WrongLoop(StoreError):
    """A database was used outside of the event loop that it was opened in."""

    database: str
    code = "store.wrong_loop"
    text = (
        "The database {database} was opened in another event loop. Use its handles there, open it"
        " again here, or use `memoranda.open_sync` from threads and blocking code."
    )


class WaitsForItself(StoreError):
    """A blocking call was made from the event loop that would have to answer it."""

    code = "store.waits_for_itself"
    text = (
        "A hook, an action or the like used a blocking handle from the event loop that it runs in,"
        " where the call would wait for itself. Use `memoranda.open` or `connect` there."
    )


class StoreUnavailable(StoreError):
    """The database is not there, not reachable, or busy for too long."""

    database: str
    why: str
    code = "store.unavailable"
    text = "Can't reach the database {database}: {why}."


class ScopeExists(StoreError):
    """A scope is copied only to where it is not yet."""

    database: str
    scope: str
    code = "store.scope_exists"
    text = "The database {database} has the scope {scope!r} already: name another database."


class ScopeCollision(StoreError):
    """Another scope of the database has the same number: 63 bits of a digest, by chance."""

    database: str
    scope: str
    code = "store.scope_collision"
    text = (
        "The scope {scope!r} can't be kept in {database}, because another scope there has the same"
        " number by chance: choose another name, or another database."
    )


class ScopeNotFound(StoreError):
    """Nothing was ever written to this scope, and whoever only reads makes none."""

    database: str
    scope: str
    code = "store.scope_not_found"
    text = (
        "There is no scope {scope!r} in the database {database}. Name another (`memoranda scopes`"
        " lists them), or write to it first."
    )


class StoreReadOnly(StoreError):
    """The database can't be written."""

    database: str
    why: str
    code = "store.read_only"
    text = "Can't write the database {database}: {why}."


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


class OwnStoreFailed(StoreError):
    """A store of the user's own failed at a change that was approved; it is left to be done."""

    proposal: str
    why: str
    code = "store.own_failed"
    text = (
        "The change of {proposal!r} is approved, and your store did not take it: {why}. Whether it "
        "landed is unknown. Try again with `worlds.resume()`: it finds out, and does what is left."
    )


class OwnStoreMissing(StoreError):
    """A change of a store of the user's own was approved, and this handle has no such store."""

    proposal: str
    code = "store.own_missing"
    text = (
        "The proposal {proposal!r} changes a store of your own, and this handle was opened without "
        "one. Run it with a handle that has it: app=App(store=…)."
    )


class AnchorFailed(StoreError):
    """An anchor can't be read or written; the database itself is as it was."""

    anchor: str
    why: str
    code = "store.anchor_failed"
    text = "Can't use the anchor {anchor}: {why}. The database is as it was."


class WitnessRefused(AnchorFailed):
    """A witness does not cosign a checkpoint, or what it answers is not cosigned by its key."""

    code = "store.witness_refused"
    text = "The witness {anchor} did not cosign: {why}. The database is as it was."


class WitnessDisagrees(AnchorFailed):
    """A witness has cosigned what the journal, as it is now, does not extend."""

    code = "store.witness_disagrees"
    text = "The witness {anchor} has seen another history: {why}. See: memoranda verify --witness."


class CheckpointConflict(StoreError):
    """A checkpoint that is not said to extend what this witness cosigned last."""

    origin: str
    size: int
    code = "store.checkpoint_conflict"
    text = "The newest checkpoint of {origin} that was cosigned here is of {size} entries."


class ItemDamaged(StoreError):
    """An item that is stored can't be read: no retrieval is partial (ING-PARTIAL)."""

    item: str
    why: str
    code, rule = "store.item_damaged", "ING-PARTIAL"
    text = "The item {item} is damaged: {why}. Nothing is returned rather than a part."


class BodyUnreadable(StoreError):
    """A body is stored, and its codec can't unpack it: its key is missing, or it was changed."""

    why: str
    code = "store.body_unreadable"
    text = "A body can't be read: {why}."


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


class IndexStale(StoreError):
    """The word index was made by another tokenizer, or is being made anew."""

    tokenizer: str
    needed: str
    code = "store.index_stale"
    text = (
        "Can't search the words of this scope: its index is of the tokenizer {tokenizer}, and"
        " this is {needed}. Run `memoranda reindex`."
    )


class ForeignDatabase(StoreError):
    """The database belongs to something else; it was left untouched."""

    database: str
    why: str
    code = "store.foreign"
    text = "{database} is not a memoranda database: {why}. It was left as it is; name another."


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


class SchemaTooOld(StoreError):
    """An older memoranda wrote the database, and what is asked for is not in it yet."""

    database: str
    why: str
    code = "store.schema_too_old"
    text = (
        "The database {database} lacks what this memoranda reads ({why}). If an older version wrote"
        " it, run `memoranda upgrade`; else restore a backup."
    )


class SchemaDamaged(StoreError):
    """A migration in the database is not the one that this memoranda knows."""

    database: str
    why: str
    code = "store.schema_damaged"
    text = "The schema of {database} can't be trusted: {why}. Nothing was changed."
