"""The fact of a cycle: that it was, under which plan, and what it came to; never its content.

It has digests of what was said, of the step outputs and of the items (ING-RAW), the outcome, and
where the cycle failed at which step and with which code. The digests are salted: a short answer
could be guessed else, by whoever reads an export. The salt is the cycle's own, stands beside the
journal, and goes when the cycle is erased. Of the salt the fact has the digest: sixteen random
bytes are nothing to guess, and with another salt nothing could be compared.

The first cycle of a session also has digests of its plan's members: so an error about another
plan can name what differs.

What a cycle was given (of earlier ones, and of governed memory, by the trace) and the records that
it taught are its inputs: when one of these is erased, so is the cycle, for it holds their words.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NamedTuple

from memoranda.identity import Frozen, canonical_bytes, decode, sha256, sha256_hex
from memoranda.kernel.errors import (
    BodyUnreadable,
    CycleFailed,
    EntryDamaged,
    InvalidInput,
    ItemDamaged,
    MemorandaError,
    NotRecorded,
    PlanError,
    SessionDamaged,
)
from memoranda.kernel.json import JsonValue, parse, storable
from memoranda.kernel.wire import WireModel, tuple_of
from memoranda.ledger.attachments import CYCLE, AttachmentRows, CycleValues, StoredItem
from memoranda.ledger.entry import entry_hash, read_entry, salted
from memoranda.ledger.fact import Fact
from memoranda.ledger.port import Ledger
from memoranda.ledger.unit import StoredEntry
from memoranda.plans.items import RetrievedItem, read_retrieved
from memoranda.plans.plan import ExecutionPlan, differing
from memoranda.plans.session import SessionState

Outcome = Literal["completed", "failed", "cancelled"]

TYPE: Final = "Cycle"
RECALL: Final = "CycleRecall"
CYCLES: Final = "cycles/"
"""How the names begin that all cycles of a session are found by; its id follows."""

_AT_ONCE: Final = 64
UNKNOWN: Final = "unknown"
"""The code of an error that is not ours."""


def salted_digest(salt: bytes, digest: str) -> str:
    """A digest as the fact of a cycle has it: sha256(salt ‖ sha256(value)), as that of a body."""
    return salted(salt, bytes.fromhex(digest)).hex()


def session_digest(name: str, body: bytes) -> str:
    """What is salted of a session: its name, which has no line in it, and its document."""
    return sha256_hex(name.encode() + b"\n" + body)


class Left(NamedTuple):
    """What a cycle attaches to its fact, by digests that are not salted yet."""

    items: Sequence[str]
    session: str
    recording: str | None


class Began(NamedTuple):
    """What is known of a cycle before its first step."""

    cycle_id: str
    session_ref: str
    plan_hash: str
    turn: str
    """The digest of what was said, and of the session's name; not salted yet."""
    is_recorded: bool

    @property
    def fingerprint(self) -> bytes:
        """What a retry with the same id must be the same in."""
        return sha256(f"{self.plan_hash}:{self.turn}".encode())

    def fact(self, outcome: Outcome, **others: JsonValue) -> Fact:
        says: dict[str, JsonValue] = {
            "type": TYPE,
            "cycleId": self.cycle_id,
            "sessionRef": self.session_ref,
            "planHash": self.plan_hash,
            "outcome": outcome,
            **others,
        }
        return Fact("cycle", says, marks=(CYCLE + self.cycle_id, CYCLES + self.session_ref))

    def recall(self, trace: str) -> Fact:
        """That it recalled: the trace repeats what was said, and goes when the cycle does."""
        name = CYCLE + self.cycle_id
        says: dict[str, JsonValue] = {"type": RECALL, "cycleId": self.cycle_id, "trace": trace}
        return Fact("cycle", says, marks=(name,), inputs=(name,), output=trace)

    def completed(
        self,
        outputs: Mapping[str, Frozen],
        left: Left,
        salt: bytes,
        inputs: Sequence[str] = (),
        plan: Mapping[str, str] | None = None,
    ) -> Fact:
        """It landed: digests of what its steps gave, in their order, and of what it leaves.

        `inputs` are the names of what it goes with, and `plan` has the digests of the plan's
        members where the session begins.
        """
        steps = [[id, salted_digest(salt, output.digest)] for id, output in outputs.items()]
        members = [[name, salted_digest(salt, text)] for name, text in (plan or {}).items()]
        recording: dict[str, JsonValue] = {}
        if left.recording is not None:
            recording["recording"] = salted_digest(salt, left.recording)
        fact = self.fact(
            "completed",
            **({"plan": members} if members else {}),
            turn=salted_digest(salt, self.turn),
            steps=steps,
            items=[salted_digest(salt, item) for item in left.items],
            session=salted_digest(salt, left.session),
            recorded=self.is_recorded,
            salt=sha256_hex(salt),
            **recording,
        )
        if not inputs:
            return fact
        return fact._replace(inputs=list(inputs), output=CYCLE + self.cycle_id)

    def failed(self, error: PlanError, plan: ExecutionPlan) -> Fact:
        """It failed: at which step of the plan, where it was one, and with which code.

        A step may raise what it likes, in whatever words: these are nobody's to keep (ING-RAW).
        """
        others: dict[str, JsonValue] = {"error": code_of(error)}
        named = error.step if isinstance(error, CycleFailed) else getattr(error, "what", None)
        if any(step.id == named for step in plan.steps):
            others["step"] = named
        return self.fact("failed", **others)


def code_of(error: PlanError) -> str:
    """The code of what a step raised, or of the failure itself where that is all there is."""
    behind = error.__cause__
    if behind is None:
        return error.code
    return behind.code if isinstance(behind, MemorandaError) else UNKNOWN


class Cycle(NamedTuple):
    """A cycle as the journal tells it."""

    cycle_id: str
    seq: int
    entry_hash: str
    at: int
    document: Mapping[str, Any]

    @property
    def outcome(self) -> Outcome:
        outcome: Outcome = self.document["outcome"]
        return outcome


async def cycles(ledger: Ledger, cycle_id: str) -> list[Cycle]:
    """What the journal says of a cycle: every attempt at it, the first one first."""
    if not storable(cycle_id):
        return []
    return [
        _cycle(cycle_id, stored)
        for stored in await ledger.marked(CYCLE + cycle_id)
        if stored.body is not None and decode(stored.body).get("type") == TYPE
    ]


async def completed(ledger: Ledger, cycle_id: str) -> Cycle | None:
    """The attempt at a cycle that landed; None if none did."""
    found = (cycle for cycle in await cycles(ledger, cycle_id) if cycle.outcome == "completed")
    return next(found, None)


async def differing_members(
    ledger: Ledger, session_ref: str, now: Mapping[str, str]
) -> tuple[str, ...]:
    """The members of a plan that are not those which a session began with; none if unknown."""
    document = await _first_landed(ledger, session_ref)
    if document is None or "plan" not in document:
        return ()
    salt = await ledger.origins.salt(document["cycleId"])
    if salt is None:
        return ()
    began: dict[str, str] = dict(document["plan"])
    return differing(began, {name: salted_digest(salt, text) for name, text in now.items()})


async def _first_landed(ledger: Ledger, session_ref: str) -> dict[str, Any] | None:
    after = -1
    while stored := await ledger.marked(CYCLES + session_ref, after=after, limit=_AT_ONCE):
        for entry in stored:
            document = {} if entry.body is None else decode(entry.body)
            if document.get("outcome") == "completed":
                return document
        after = stored[-1].seq
    return None


async def salt_of(ledger: Ledger, landed: Cycle) -> bytes | None:
    """The salt of a cycle that landed; None if it is gone, or is not the one that it had."""
    salt = await ledger.origins.salt(landed.cycle_id)
    if salt is None or sha256_hex(salt) != landed.document.get("salt"):
        return None
    return salt


def _cycle(cycle_id: str, stored: StoredEntry) -> Cycle:
    entry = read_entry(stored.entry)
    body = b"" if stored.body is None else stored.body
    return Cycle(cycle_id, stored.seq, entry_hash(stored.entry).hex(), entry.at, decode(body))


# ------------------------------------------------------------------------------------------------
# Recordings: what a cycle was given and what came of it, kept where somebody asked for it.
#
# They are off by default (ING-RAW). A recording holds raw content, so it lies in a table of its own
# that no step, no item store and no search reaches, and that an erasure empties. It goes there with
# the cycle's own unit of work, or not at all.


class RecordedStep(WireModel):
    """A step of a recorded cycle: its id, and its output."""

    id: str
    output: dict[str, JsonValue]


class CycleRecording(WireModel):
    """All that a replay of a cycle needs, as values."""

    version: Literal[1] = 1
    cycle_id: str
    plan_hash: str
    plan: dict[str, JsonValue]
    policy_ref: JsonValue
    turn: dict[str, JsonValue]
    """What the turn was given besides its plan."""
    steps: Annotated[tuple[RecordedStep, ...], tuple_of(RecordedStep)]
    """The outputs, in the order of the steps."""
    answers: Annotated[tuple[str, ...], tuple_of(str)]
    """What the model answered, in the order of the calls."""

    @property
    def outputs(self) -> Mapping[str, dict[str, JsonValue]]:
        return {step.id: step.output for step in self.steps}

    @property
    def attachment(self) -> CycleValues:
        return CycleValues(self.cycle_id, canonical_bytes(self.model_dump()))


async def read_recording(rows: AttachmentRows, cycle_id: str) -> CycleRecording:
    """What was recorded of a cycle; NotRecorded if nothing was, or if it was erased.

    BodyUnreadable if what is stored is no recording.
    """
    body = await rows.recording(cycle_id)
    if body is None:
        raise NotRecorded(cycle_id)
    try:
        return CycleRecording.model_validate(parse(body, max_bytes=len(body)))
    except InvalidInput as refused:
        raise BodyUnreadable(str(refused)) from refused


# ------------------------------------------------------------------------------------------------
# What a turn reads besides the journal is what a cycle left there: its fact has the digests.
#
# Items, sessions and recordings are rows that anybody who has the database can edit. Whoever uses
# one compares it first; what differs is damage, and the turn fails rather than going on with it.


async def check_index(ledger: Ledger, session_ref: str) -> None:
    """ItemDamaged where a session's index has more or less than its items (ING-NO-FALLBACK).

    Which keyword is missing, or whether one became another, is for `verify` to say.
    """
    if not await ledger.origins.is_index_whole(session_ref):
        why = "it has not the keywords of all items, or more; run `memoranda verify`"
        raise ItemDamaged(f"index of the session {session_ref}", why)


async def check_items(ledger: Ledger, session_ref: str, found: Sequence[RetrievedItem]) -> None:
    """ItemDamaged for an item that is not the one that its cycle stored (ING-PARTIAL).

    One that is gone by now was erased meanwhile: the cycle that was given it won't land.
    """
    given = {item.id: item for item in found}
    facts: dict[str, Cycle | None] = {}
    for stored in await ledger.origins.stored(session_ref, list(given)):
        if stored.cycle is not None and stored.cycle not in facts:
            facts[stored.cycle] = await completed(ledger, stored.cycle)
        why = _not_of(stored, facts.get(stored.cycle or ""), given[stored.id])
        if why is not None:
            raise ItemDamaged(stored.id, why)


def _not_of(stored: StoredItem, landed: Cycle | None, given: RetrievedItem) -> str | None:
    """Why an item is not what its cycle stored; None if it is."""
    if stored.body is None or stored.cycle is None or stored.salt is None:
        return "no cycle stored it"
    if landed is None:
        return "the cycle that stored it is not on record"
    digest = salted_digest(stored.salt, sha256_hex(stored.body))
    if landed.document["sessionRef"] != stored.session or digest not in landed.document["items"]:
        return "it is not what its cycle stored"
    if read_retrieved(stored.body, id=stored.id, session_ref=stored.session) != given:
        return "it changed while it was read"
    return None


async def check_session(ledger: Ledger, name: str, found: SessionState) -> None:
    """SessionDamaged for a session that is not the one that its cycle saved.

    One whose cycle was erased since is not looked at: nothing is left to compare it with.
    """
    cycle = await ledger.attachments.saved_by(name)
    if cycle is None:
        return
    landed = await completed(ledger, cycle)
    if landed is None:
        if not await ledger.marked(CYCLE + cycle, limit=1):
            raise SessionDamaged(name, "no cycle that is on record saved it")
        return
    salt = await salt_of(ledger, landed)
    digest = session_digest(name, found.body)
    if salt is None or salted_digest(salt, digest) != landed.document.get("session"):
        raise SessionDamaged(name, "it is not what its last cycle saved")


async def recording_of(ledger: Ledger, landed: Cycle) -> CycleRecording:
    """What was recorded of a cycle; NotRecorded if nothing was.

    EntryDamaged where the recording is not there that the cycle left, or is another one.
    """
    if not landed.document["recorded"]:
        raise NotRecorded(landed.cycle_id)
    body = await ledger.attachments.recording(landed.cycle_id)
    salt = await salt_of(ledger, landed)
    if body is None or salt is None:
        raise EntryDamaged(landed.seq, "recording", "what was recorded of its cycle is not there")
    if salted_digest(salt, sha256_hex(body)) != landed.document.get("recording"):
        raise EntryDamaged(landed.seq, "recording", "it is not what was recorded of its cycle")
    return await read_recording(ledger.attachments, landed.cycle_id)
