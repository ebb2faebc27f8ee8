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
from functools import partial
from typing import Any, Final

from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.objects import Telling
from memoranda.journeys.govern.operations import (
    Operations,
    from_wire,
    id_of,
    needing_approval,
    operation_of,
    to_wire,
)
from memoranda.journeys.govern.table import Decide, GovernedTable, UnitOutcome
from memoranda.journeys.intent import names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.documents import LoggedHead, ProposalState
from memoranda.journeys.intent.proposals import missing_trace
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import ApprovalPending, DecisionRefused, MarkMoved, RecordError
from memoranda.kernel.given import RetryKey
from memoranda.kernel.json import JsonValue
from memoranda.ledger.entry import entry_hash
from memoranda.ledger.object import version_of
from memoranda.ledger.unit import (
    Committed,
    Current,
    Draft,
    EntryPlace,
    Everything,
    Expected,
    Unit,
)
from memoranda.records.model import MemoryAuthorityPolicy, MemoryOperation
from memoranda.records.table import Note
from memoranda.worlds.proposal import DecisionRecord, Proposal

ACTION: Final = "system.memory."


class MemoryAuthority:
    """Puts operations on one scope's memory to an authority, and carries out what is approved."""

    def __init__(
        self,
        chronicle: Chronicle,
        drafts: Drafts,
        operations: Operations,
        table: GovernedTable,
        telling: Telling[Any],
    ) -> None:
        self._chronicle = chronicle
        self._drafts = drafts
        self._operations = operations
        self._table = table
        self._telling = telling

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
        changes = [to_wire(draft) for draft in drafts]
        about = [id_of(change) for change in changes]
        made = await self._operations.proposed(
            ACTION + operation,
            {"changes": changes},
            note,
            risk,
            about=about,
            is_to_run=False,
            key=key,
        )
        if made.decision is None or not made.decision.is_approved:
            committed = await self._operations.submit(made, note, key)
            return await self.outcome_of(committed, operation)
        while True:
            try:
                committed, written = await self._land(
                    made.proposal,
                    made.decision,
                    changes,
                    made.head,
                    made.facts,
                    made.rests_on,
                    actor=note.actor,
                    at=note.at,
                    key=key,
                )
            except MarkMoved as moved:
                if moved.name in {expected.name for expected in made.rests_on}:
                    raise await missing_trace(self._chronicle, moved.name) from None
                continue
            if not committed.fresh:
                return await self.outcome_of(committed, operation)
            return UnitOutcome(Committed(committed.places[: len(changes)], about[0]), written)

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
        head = await self._operations.head()
        land = partial(self._land, proposal, record, actor=str(actor), at=now)
        while True:
            try:
                done = await land(changes, head, decided, expects)
            except MarkMoved as moved:
                if moved.name in {expected.name for expected in expects}:
                    raise
            except RecordError as refused:
                await land([], head, decided, expects, failure=str(refused))
                return
            else:
                await self._telling.tell(done.drafts)
                return

    async def _land(
        self,
        proposal: Proposal,
        record: DecisionRecord,
        changes: Sequence[JsonValue],
        head: LoggedHead,
        decided: Sequence[Draft],
        expects: Sequence[Expected],
        *,
        actor: str,
        at: int,
        key: RetryKey | None = None,
        failure: str | None = None,
    ) -> UnitOutcome:
        """Write the objects, the decision and the world that it led to in one transaction."""
        ids = [id_of(change) for change in changes]
        facts, expected = await self._operations.sealed(
            proposal, head, ids, decision_id=record.decision_id, failure=failure
        )
        check_drafts = await self._table.rulebook.guard()
        made: list[Draft] = []

        def decide(found: Sequence[Current | None]) -> list[Draft]:
            drafts = from_wire(changes, found, self._drafts.salt)
            # Whoever proposed it contributed it, whoever approved it did not.
            made[:] = [draft._replace(actor=str(proposal.actor)) for draft in drafts]
            check_drafts(made)
            return [*made, *decided, *facts]

        about = "" if key is None else proposal.proposal_id
        unit = Unit(actor, at, decide, ids, key, about, expects=(expected, *expects))
        return UnitOutcome(await self._chronicle.run(unit), made)

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
        return UnitOutcome(Committed(places, id_of(changes[0]), fresh=False), [])

    async def _place(self, change: JsonValue) -> EntryPlace:
        number = version_of(change["object"])
        past = await self._chronicle.versions(id_of(change))
        made = next(version for version in past if version.version.number == number)
        return EntryPlace(made.seq, entry_hash(made.entry))


class HandleTable(GovernedTable):
    """The records of a scope as one handle writes them, with drafts of its own."""

    def __init__(self, table: GovernedTable, drafts: Drafts) -> None:
        super().__init__(table.ledger, drafts)
        self.rulebook = table.rulebook
        self._shared = table

    async def commit(self, unit: Unit) -> Committed:
        """Run any unit on the table that all handles of the scope share."""
        return await self._shared.commit(unit)

    async def opened(self) -> None:
        await self._shared.opened()

    async def begin(self, at: int) -> None:
        await self._shared.begin(at)


class GatedTable(HandleTable):
    """Records whose changes go through a MemoryAuthorityPolicy."""

    def __init__(
        self,
        table: GovernedTable,
        drafts: Drafts,
        policy: MemoryAuthorityPolicy,
        actor: ActorRef,
        authority: MemoryAuthority,
    ) -> None:
        super().__init__(table, drafts)
        self._policy = policy
        self._actor = actor
        self._authority = authority

    def needs_approval(self, drafts: Sequence[Draft]) -> bool:
        asked = [operation_of(draft, self._actor.actor_id) for draft in drafts]
        return bool(needing_approval(self._policy, asked)[0])

    async def land(
        self, drafts: list[Draft], note: Note, key: RetryKey | None = None, about: str = ""
    ) -> UnitOutcome:
        """Append drafts that follow from nothing that was read, or propose them."""
        return await self.change((), note, lambda _: drafts, key, about)

    async def change(
        self,
        ids: Sequence[str] | Everything,
        note: Note,
        decide: Decide,
        key: RetryKey | None = None,
        about: str = "",
        expects: Sequence[Expected] = (),
    ) -> UnitOutcome:
        """Run a unit of work, or propose it, where the policy says so.

        1. what it would change is found out without changing it
        2. nothing of it needs approval: it is done, and no world is made (MEM-AUTH-4)
        3. something does: all of it is proposed (MEM-AUTH-2)
        """
        # 1.
        planned: list[Draft] = []
        portions: list[Draft] = []

        def plan(found: Sequence[Current | None]) -> list[Draft]:
            planned[:] = [*portions, *decide(found)]  # it may run a second time
            if isinstance(ids, Everything):
                portions[:] = planned
            return []

        try:
            await self.commit(Unit(note.actor, note.at, plan, ids, expects=expects))
        except RecordError:
            if key is None:
                raise
            # Unless it was done before: then the key is known, and it does not come to this again.
            written = await super().change(ids, note, decide, key, about, expects)
            return await self._authority.outcome_of(written.committed, "do this")
        actor_id = self._actor.actor_id
        asked = [operation_of(draft, actor_id) for draft in planned]
        needed, risk = needing_approval(self._policy, asked)
        # 2.
        if not needed:
            return await super().change(ids, note, decide, key, about, expects)
        # 3.
        return await self._authority.put(planned, needed, note, risk, key)
