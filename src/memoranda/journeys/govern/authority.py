"""Operations on memory that need approval: proposed, decided, and then done in one transaction.

Which operations need it, a MemoryAuthorityPolicy says (D-MEM-5). Such an operation is a proposal of
the action ``system.memory.<operation>`` on the branch ``system``, which has a schema of its own;
when it is approved, the change, the decision and the world are one transaction. An operation that
needs no approval makes no world (MEM-AUTH-4).

What is proposed rests on the versions of the objects that it changes, not on the head of the
branch: two operations on two objects never stand in each other's way. One whose object was changed
meanwhile ends as failed, and may be proposed again.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from memoranda.journeys.govern import operations
from memoranda.journeys.govern.committer import Telling
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.operations import (
    BRANCH,
    GENESIS,
    SCHEMA_HASH,
    OperationSealer,
)
from memoranda.journeys.govern.rulebook import Guard
from memoranda.journeys.govern.table import GovernedTable, UnitOutcome
from memoranda.journeys.intent import names
from memoranda.journeys.intent.branches import Branches
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.documents import LoggedHead, ProposalState
from memoranda.journeys.intent.phases import with_traces
from memoranda.journeys.intent.proposals import Proposer, missing_trace
from memoranda.journeys.intent.requests import IntentRequest
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.clock import Clock, IdSource
from memoranda.kernel.errors import (
    ApprovalPending,
    DecisionRefused,
    MarkMoved,
    RecordError,
)
from memoranda.kernel.given import RetryKey
from memoranda.kernel.json import JsonValue
from memoranda.ledger.entry import entry_hash
from memoranda.ledger.object import version_of
from memoranda.ledger.unit import Committed, Current, Draft, EntryPlace, Expected, Unit
from memoranda.records.authority import MemoryOperation
from memoranda.records.table import Note
from memoranda.worlds.authority import Pending, Rejected
from memoranda.worlds.proposal import DecisionRecord, Proposal

ACTION: Final = "system.memory."


class ApprovedWrite(NamedTuple):
    """What an approved operation writes with its decision."""

    objects: "_Objects"
    facts: list[Draft]
    expects: list[Expected]


class MemoryAuthority:
    """Puts operations on one scope's memory to an authority, and carries out what is approved."""

    def __init__(
        self,
        chronicle: Chronicle,
        drafts: Drafts,
        proposer: Proposer,
        table: GovernedTable,
        *,
        actor: ActorRef,
        clock: Clock,
        ids: IdSource,
        telling: Telling[Any],
    ) -> None:
        self._chronicle = chronicle
        self._drafts = drafts
        self._proposer = proposer
        self._table = table
        self._actor = actor
        self._telling = telling
        self._branches = Branches(chronicle)
        self._sealer = OperationSealer(chronicle, clock, ids)

    def takes(self, proposal: Proposal, /) -> bool:
        return proposal.intent.body.type.startswith(ACTION)

    async def put(
        self,
        drafts: Sequence[Draft],
        asked: Sequence[MemoryOperation],
        note: Note,
        risk: str | None,
        key: RetryKey | None,
    ) -> UnitOutcome:
        """Propose changes; they are done if they are approved at once.

        It has the traces of the reasoning phases that it is made in, and goes with them (M-2).
        ApprovalPending while somebody has to decide, DecisionRefused if it was rejected.
        """
        operation = asked[0].type
        changes = [operations.to_wire(draft) for draft in drafts]
        request = with_traces(
            IntentRequest(
                ACTION + operation, {"changes": changes}, has_input=True, actor=self._actor
            )
        )
        head = await self._branches.opened(BRANCH, GENESIS, actor=note.actor, at=note.at)
        proposal = self._proposer.proposal(request, head, SCHEMA_HASH, note.at)
        judged, verdict = self._proposer.judged(proposal, note.at)
        about = [operations.id_of(change) for change in changes]
        facts, record = self._proposer.facts(
            proposal,
            BRANCH,
            judged,
            verdict,
            decided_by=self._actor,
            risk=risk,
            about=tuple(dict.fromkeys([*about, *(expected.name for expected in request.rests_on)])),
            is_to_run=False,
            key=key,
        )
        proposal_id = proposal.proposal_id
        if record is None or isinstance(verdict, Pending | Rejected):
            try:
                committed = await self._chronicle.commit(
                    facts, actor=note.actor, at=note.at,
                    expects=request.rests_on, key=key, about=proposal_id,
                )  # fmt: skip
            except MarkMoved as moved:
                raise await missing_trace(self._chronicle, moved.name) from None
            return await self.outcome_of(committed, operation)
        while True:
            landing = await self._landing(proposal, record, changes, head, facts)
            landing.expects.extend(request.rests_on)
            try:
                committed = await self._land(landing, note.actor, note.at, key, proposal_id)
            except MarkMoved as moved:
                if moved.name in {expected.name for expected in request.rests_on}:
                    raise await missing_trace(self._chronicle, moved.name) from None
                continue
            if not committed.fresh:
                return await self.outcome_of(committed, operation)
            done = Committed(committed.places[: len(changes)], about[0])
            return UnitOutcome(done, list(landing.objects.made))

    async def carry_out(
        self, standing: ProposalState, record: DecisionRecord, decided: list[Draft],
        expects: list[Expected], *, actor: ActorRef, now: int,
    ) -> None:  # fmt: skip
        """Do what was approved, in one transaction with the decision.

        If an object was changed meanwhile, the decision stands, and the operation has failed. The
        hooks of whoever decides hear of what was done.
        """
        proposal = standing.proposal
        changes = proposal.intent.body.input["changes"]
        head = await self._branches.head(BRANCH)
        while True:
            landing = await self._landing(proposal, record, changes, head, decided)
            landing.expects.extend(expects)
            try:
                await self._land(landing, str(actor), now)
            except MarkMoved as moved:
                if moved.name in {expected.name for expected in expects}:
                    raise
            except RecordError as refused:
                over = await self._landing(proposal, record, [], head, decided, str(refused))
                over.expects.extend(expects)
                await self._land(over, str(actor), now)
                return
            else:
                await self._telling.tell(landing.objects.made)
                return

    # ------------------------------------------------------------------------- landing

    async def _land(
        self,
        landing: ApprovedWrite,
        actor: str,
        at: int,
        key: RetryKey | None = None,
        about: str = "",
    ) -> Committed:
        def decide(found: Sequence[Current | None]) -> list[Draft]:
            return [*landing.objects(found), *landing.facts]

        unit = Unit(
            actor, at, decide, landing.objects.reads, key, about, expects=tuple(landing.expects)
        )
        return await self._chronicle.run(unit)

    async def _landing(
        self,
        proposal: Proposal,
        record: DecisionRecord,
        changes: Sequence[JsonValue],
        head: LoggedHead,
        decided: Sequence[Draft],
        failure: str | None = None,
    ) -> ApprovedWrite:
        facts, expected = await self._sealer.sealed(
            proposal,
            head,
            [operations.id_of(change) for change in changes],
            decision_id=record.decision_id,
            failure=failure,
        )
        guarded = await self._table.rulebook.guard()
        objects = _Objects(changes, self._drafts, str(proposal.actor), guarded)
        return ApprovedWrite(objects, [*decided, *facts], [expected])

    async def outcome_of(self, committed: Committed, operation: str) -> UnitOutcome:
        """What became of a proposal that is not done, or of a retry of one."""
        if not await self._chronicle.is_there(names.proposal(committed.about)):
            return UnitOutcome(committed, [])
        standing = await self._chronicle.standing(committed.about)
        proposal = standing.proposal
        if standing.decision is None:
            raise ApprovalPending(proposal.proposal_id, operation)
        if proposal.status != "completed":
            reason = standing.decision.document["decision"].get("reasoning", proposal.status)
            raise DecisionRefused(proposal.proposal_id, f"it was {proposal.status}: {reason}")
        changes = proposal.intent.body.input["changes"]
        places = [await self._place(change) for change in changes]
        return UnitOutcome(Committed(places, operations.id_of(changes[0]), fresh=False), [])

    async def _place(self, change: JsonValue) -> EntryPlace:
        number = version_of(change["object"])
        past = await self._chronicle.versions(operations.id_of(change))
        made = next(version for version in past if version.version.number == number)
        return EntryPlace(made.seq, entry_hash(made.entry))


class _Objects:
    """Makes the objects' next versions of what is read; it may run more than once."""

    def __init__(
        self, changes: Sequence[JsonValue], drafts: Drafts, actor: str, guarded: Guard
    ) -> None:
        self.reads = [operations.id_of(change) for change in changes]
        self.made: list[Draft] = []
        self._changes = changes
        self._drafts = drafts
        self._actor = actor
        self._guarded = guarded

    def __call__(self, found: Sequence[Current | None]) -> list[Draft]:
        salts = [self._drafts.salt() for _ in self._changes]
        made = operations.from_wire(self._changes, found, salts=salts)
        # Whoever proposed it contributed it, whoever approved it did not.
        self.made = [draft._replace(actor=self._actor) for draft in made]
        self._guarded(self.made)
        return self.made
