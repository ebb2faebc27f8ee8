"""Changes of memory as operations: what a policy is asked about, and how a proposal holds them.

A change is the object's next version, whole: what somebody approves is exactly what is written.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.journeys.govern.drafts import content_of
from memoranda.journeys.intent import documents, names
from memoranda.journeys.intent.branches import SYSTEM, Branches, Genesis
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.documents import LoggedHead
from memoranda.journeys.intent.execution import NOTHING, RecallResult, failed
from memoranda.journeys.intent.live import Sealer
from memoranda.journeys.intent.phases import with_traces
from memoranda.journeys.intent.proposals import Proposer, missing_trace
from memoranda.journeys.intent.requests import IntentRequest
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.clock import Clock, IdSource
from memoranda.kernel.errors import MarkMoved, RecordExists, VersionConflict
from memoranda.kernel.given import RetryKey
from memoranda.kernel.json import JsonValue
from memoranda.ledger.derive import inputs_of, row_of, tags_of
from memoranda.ledger.fact import Fact
from memoranda.ledger.lifecycle import is_at_least
from memoranda.ledger.unit import Committed, Current, Draft, Expected
from memoranda.recall.frame import freeze_memory_context
from memoranda.records.model import (
    RISKS,
    MemoryAuthorityPolicy,
    MemoryOperation,
    OperationType,
    Risk,
    StoredMemoryRecord,
    risk_of,
)
from memoranda.records.table import Note
from memoranda.worlds.host import HostExecutionResult
from memoranda.worlds.proposal import DecisionRecord, Proposal, to_host_intent
from memoranda.worlds.snapshot import Snapshot

_KINDS: Final[dict[str, OperationType]] = {"invalidate": "delete", "archive": "demote"}


def operation_of(draft: Draft, actor_id: str) -> MemoryOperation:
    """What a change is to a policy, with the record before and after it.

    A next version that raises trust, or makes active what was put away, is a promotion, unless it
    is created anew.
    """
    document = decode(draft.body)
    replaced = None if draft.is_new else draft.replaces
    type_ = _KINDS.get(draft.kind) or _type_of(document, replaced)
    before = None if replaced is None else _record(replaced.body)
    after = None if draft.kind in _KINDS else _record(draft.body)
    return MemoryOperation(
        type=type_,
        record=after or before,
        before=before,
        after=after,
        actor_id=actor_id,
        meta={"reason": document["reason"]} if "reason" in document else None,
    )


def _type_of(document: Mapping[str, Any], replaced: Current | None) -> OperationType:
    if replaced is None:
        return "create"
    is_raised = not is_at_least(decode(replaced.body)["trust"], document["trust"])
    return "promote" if is_raised or replaced.status != "active" else "update"


def needing_approval(
    policy: MemoryAuthorityPolicy, asked: Sequence[MemoryOperation]
) -> tuple[list[MemoryOperation], Risk | None]:
    """The operations that need approval, and the greatest risk of them, if one was assessed."""
    needed = [operation for operation in asked if policy.requires_authority(operation)]
    risks = [risk_of(policy, operation) for operation in needed]
    known = [risk for risk in risks if risk is not None]
    return needed, max(known, key=RISKS.index) if known else None


def to_wire(draft: Draft) -> dict[str, JsonValue]:
    """A change as a proposal holds it: the event, the object as it will be, and what it follows."""
    wire: dict[str, JsonValue] = {"event": draft.kind, "object": decode(draft.body)}
    if draft.replaces is not None:
        wire["follows"] = draft.replaces.number
        if draft.is_new:
            wire["new"] = True
    return wire


def id_of(change: JsonValue) -> str:
    """The id of the object that a change is about."""
    return str(change["object"]["id"])


def from_wire(
    changes: Sequence[JsonValue], found: Sequence[Current | None], salt: Callable[[], bytes]
) -> list[Draft]:
    """The changes of a proposal on the objects as they are now.

    VersionConflict, or RecordExists, if somebody else changed one of them meanwhile.
    """
    newest = {id_of(value): current for value, current in zip(changes, found, strict=True)}
    drafts = []
    for change in changes:
        id, document = id_of(change), change["object"]
        current, follows = newest[id], change.get("follows")
        if follows is None and current is not None:
            raise RecordExists(id)
        if follows is not None and (current is None or current.number != follows):
            raise VersionConflict(id, follows, 0 if current is None else current.number)
        body = canonical_bytes(document)
        draft = Draft(
            change["event"],
            body,
            salt(),
            row_of(document),
            tags_of(document),
            current,
            () if current is None else tags_of(decode(current.body)),
            inputs_of(body),
            is_new=follows is None or change.get("new", False),
        )
        newest[id] = Current(*row_of(document), body)
        drafts.append(draft)
    return drafts


def _record(body: bytes) -> StoredMemoryRecord[Any]:
    row = row_of(decode(body))
    content = content_of(decode(body))
    return StoredMemoryRecord(
        row.id, content.value, row.created_at, row.updated_at, content.tags, content.meta_value
    )


# ------------------------------------------------------------------------------------------------
# Worlds of operations on memory: each approved operation leads to one, on a branch of its own.
#
# The branch ``system`` has a schema of its own; its state says which operation was the last.

BRANCH: Final = SYSTEM
SCHEMA_HASH: Final = sha256_hex(canonical_bytes({"form": "memoranda/memory-operations/1"}))
GENESIS: Final = Genesis(SCHEMA_HASH, {"last": None}, {})
"""What the branch begins with; nothing is executed on it but operations that were approved."""
_CHANGED: Final = "memory.changed"


class ProposedOperation(NamedTuple):
    """An operation that was proposed: what is to be written of it, and what was decided at once."""

    proposal: Proposal
    head: LoggedHead
    facts: list[Draft]
    decision: DecisionRecord | None
    rests_on: Sequence[Expected]
    """The traces of the reasoning phases that it was made in."""


class Operations:
    """Proposes operations on one scope's memory, and says what an approved one came to."""

    def __init__(
        self,
        chronicle: Chronicle,
        proposer: Proposer,
        clock: Clock,
        ids: IdSource,
        actor: ActorRef,
    ) -> None:
        self._chronicle = chronicle
        self._proposer = proposer
        self._clock = clock
        self._actor = actor
        self._branches = Branches(chronicle)
        self._sealer = Sealer(chronicle, SCHEMA_HASH, ids)

    async def head(self) -> LoggedHead:
        """The newest world of the branch."""
        return await self._chronicle.known_head(BRANCH)

    async def proposed(
        self,
        action: str,
        input: JsonValue,
        note: Note,
        risk: str | None,
        *,
        about: Sequence[str] = (),
        is_to_run: bool = True,
        key: RetryKey | None = None,
    ) -> ProposedOperation:
        """The proposal of an operation, with the traces of what memory it rests on (M-2).

        `about` names what it is erased with, `is_to_run` says that an execution follows an
        approval.
        """
        request = with_traces(IntentRequest(action, input, has_input=True, actor=self._actor))
        head = await self._branches.opened(BRANCH, GENESIS, actor=note.actor, at=note.at)
        proposal = self._proposer.proposal(request, head, SCHEMA_HASH, note.at)
        judged, verdict = self._proposer.judged(proposal, note.at)
        about = [*about, *(expected.name for expected in request.rests_on)]
        facts, decision = self._proposer.facts(
            proposal,
            BRANCH,
            judged,
            verdict,
            decided_by=self._actor,
            risk=risk,
            about=tuple(dict.fromkeys(about)),
            is_to_run=is_to_run,
            key=key,
        )
        return ProposedOperation(proposal, head, facts, decision, request.rests_on)

    async def submit(self, made: ProposedOperation, note: Note, key: RetryKey | None) -> Committed:
        """Write a proposal, and its decision if there is one."""
        try:
            return await self._chronicle.commit(
                made.facts, actor=note.actor, at=note.at,
                expects=made.rests_on, key=key, about=made.proposal.proposal_id,
            )  # fmt: skip
        except MarkMoved as moved:
            raise await missing_trace(self._chronicle, moved.name) from None

    async def sealed(
        self,
        proposal: Proposal,
        head: LoggedHead,
        ids: Sequence[str],
        *,
        decision_id: str,
        approved_at: int | None = None,
        failure: str | None = None,
    ) -> tuple[list[Draft], Expected]:
        """The execution and its world, and what must still hold of that world to write them.

        `ids` are the records that it changed; `failure` says why it changed none. `approved_at` is
        the entry by which it was waiting to be carried out, if it was.
        """
        at = self._clock.now_ms()
        base = await self._chronicle.kept(head.fact)
        intent = to_host_intent(proposal.intent)
        before = Snapshot.known({**base.parts, "input": {}})
        frozen = freeze_memory_context(before, NOTHING)
        if failure is None:
            last = {
                "operation": intent.type,
                "ids": sorted(set(ids)),
                "proposalId": proposal.proposal_id,
            }
            result = _done(frozen, {"last": last}, at, intent.intent_id)
        else:
            result = failed(frozen, intent, _CHANGED, failure, now=at, schema_hash=SCHEMA_HASH)
        begun = _begun(proposal, head, frozen, at)
        sealing = self._sealer.sealing(
            proposal,
            head,
            None,  # whole, and so independent of other operations, which may be erased
            frozen.input,
            result,
            decision_id=decision_id,
            at=at,
        )
        expected, is_known = await self._chronicle.expected(sealing.world["worldId"])
        sealed = sealing.facts(is_known=is_known, approved_at=approved_at)
        return self._chronicle.drafts([begun, *sealed]), expected


def _begun(proposal: Proposal, head: LoggedHead, frozen: Snapshot, at: int) -> Fact:
    return documents.begun(
        proposal.proposal_id,
        head,
        schema_hash=SCHEMA_HASH,
        now=at,
        random_seed=proposal.intent.intent_id,
        input=frozen.input,
        recall=RecallResult("none", NOTHING).to_wire(),
        made_from=names.branches(BRANCH),
    )


def _done(frozen: Snapshot, data: JsonValue, at: int, seed: str) -> HostExecutionResult:
    wire = frozen.to_wire()
    wire["data"] = data
    meta = frozen.meta
    wire["meta"] = {**meta.to_wire(), "version": meta.version + 1, "timestamp": at,
                    "randomSeed": seed}  # fmt: skip
    return HostExecutionResult(outcome="completed", terminal_snapshot=Snapshot.from_wire(wire))
