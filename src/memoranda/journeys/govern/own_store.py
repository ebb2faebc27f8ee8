"""Changes of a store of the user's own that need approval: proposed, decided, then carried out.

Such a change is a proposal of the action ``system.store.<change>`` on the branch ``system``
(MEM-AUTH-2). One that needs no approval leaves nothing in the journal (MEM-AUTH-4).

The store shares no transaction with the journal, so there are three steps:

1. the decision is on record, and with it that the change is to be carried out
2. the store is changed
3. that it was, or that it could not be, is on record, with the world that it led to

Whoever dies after 1 or 2 leaves a change that is approved and not sealed. `worlds.resume`, or
`worlds.run`, of a handle that has the store does what is left of it: at least once, with the id
that was proposed (`journeys.records.changes`). A store that fails or hangs leaves it so, too.
"""

from collections.abc import Sequence
from typing import Any, Final, Generic, TypeVar

from memoranda.journeys.govern.operations import Operations, needing_approval
from memoranda.journeys.intent import names
from memoranda.journeys.intent.chronicle import Chronicle
from memoranda.journeys.intent.decisions import ACTION
from memoranda.journeys.intent.documents import ProposalState
from memoranda.journeys.intent.execution import described
from memoranda.journeys.records.changes import (
    Planned,
    RequestedChange,
    carried_out,
    planned,
)
from memoranda.journeys.records.codec import DataCodec
from memoranda.journeys.records.foreign import GOES_THROUGH, within
from memoranda.journeys.records.notify import OwnTelling
from memoranda.journeys.records.own_store import Found
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import (
    ApprovalPending,
    DecisionRefused,
    MarkMoved,
    OwnStoreFailed,
    RecordError,
)
from memoranda.kernel.given import RetryKey
from memoranda.ledger.unit import Current, Draft, Expected, Unit
from memoranda.records.model import (
    MemoryAuthorityPolicy,
    MemoryOperation,
    OperationType,
)
from memoranda.records.store import Capability, MemoryStore, Versioned
from memoranda.records.table import Note, check_version
from memoranda.worlds.proposal import Proposal, check_move

T = TypeVar("T")

STORE_LIMIT_S: Final = 30.0
"""How long a store may take to carry out what was approved, unless a run has a limit of its own."""


class StoreChanges(Generic[T]):
    """Puts changes of a store to an authority, and carries out what is approved."""

    def __init__(
        self,
        store: MemoryStore[T],
        chronicle: Chronicle,
        operations: Operations,
        *,
        policy: MemoryAuthorityPolicy | None,
        codec: DataCodec[T],
        actor: ActorRef,
        clock: Clock,
        telling: OwnTelling[T],
        limit: float | None,
    ) -> None:
        self._store = store
        self._chronicle = chronicle
        self._operations = operations
        self._policy = policy
        self._codec = codec
        self._actor = actor
        self._clock = clock
        self._telling = telling
        self._limit = limit or STORE_LIMIT_S

    # -------------------------------------------------------------------------- asking

    async def passes(
        self, wanted: Sequence[RequestedChange], found: Found, note: Note, key: RetryKey | None
    ) -> Sequence[str] | None:
        """None where nothing of it needs approval; else the ids of the records, once it is done.

        1. what it would change is found out without changing it
        2. nothing of it needs approval: whoever asks does it (MEM-AUTH-4)
        3. something does: all of it is proposed (MEM-AUTH-2)
        """
        if self._policy is None:
            return None
        bound = None if key is None else RetryKey(f"store/{key.key}", key.fingerprint)
        # 1.
        try:
            numbered = [await self._numbered(change) for change in wanted]
            plan = planned(self._codec, numbered, found, note.at)
        except RecordError as refused:
            if bound is None:
                raise
            return await self._retried(refused, wanted, note, bound)
        plan = [change for change in plan if not change.is_done]
        if not plan:  # what a key or a version says about it, the store knows
            return None if key or any(change.version is not None for change in wanted) else []
        actor_id = self._actor.actor_id
        asked = [_operation(change, actor_id, note.reason) for change in plan]
        needed, risk = needing_approval(self._policy, asked)
        # 2.
        if not needed:
            return None
        # 3.
        return await self._put(plan, note, risk, bound)

    async def _numbered(self, wanted: RequestedChange) -> RequestedChange:
        if wanted.kind == "create" or Capability.VERSIONED not in self._store.capabilities:
            return wanted
        store: Versioned[Any] = self._store  # type: ignore[assignment]  # it declares it
        version = await store.version(wanted.id)
        if version is None:
            return wanted
        check_version(wanted.id, version, wanted.version)
        return wanted._replace(version=version)

    async def _retried(
        self, refused: RecordError, wanted: Sequence[RequestedChange], note: Note, key: RetryKey
    ) -> Sequence[str] | None:
        """What a retry comes to that can't be planned again, for it may have been done before.

        Where no proposal was made with this key, the store itself may know it.
        """

        def decide(_: Sequence[Current | None]) -> list[Draft]:
            raise refused

        unit = Unit(note.actor, note.at, decide, (), key, wanted[0].id)
        try:
            committed = await self._chronicle.run(unit)
        except RecordError as again:
            if again is not refused:
                raise
            return None
        return await self._outcome(committed.about)

    async def _put(
        self, plan: Sequence[Planned], note: Note, risk: str | None, key: RetryKey | None
    ) -> Sequence[str]:
        given: dict[str, Any] = {"changes": [change.to_wire() for change in plan]}
        if note.reason is not None:
            given["reason"] = note.reason
        action = ACTION + plan[0].wanted.kind
        made = await self._operations.proposed(action, given, note, risk, key=key)
        return await self._outcome((await self._operations.submit(made, note, key)).about)

    async def _outcome(self, proposal_id: str) -> Sequence[str]:
        """The ids of what a proposal has changed; it is carried out now, if that is left to do."""
        standing = await self._chronicle.standing(proposal_id)
        operation = standing.proposal.intent.body.type.removeprefix(ACTION)
        if standing.decision is None:
            raise ApprovalPending(proposal_id, operation)
        if standing.proposal.status == "approved":
            await self.carry_out(standing)
            standing = await self._chronicle.standing(proposal_id)
        status = standing.proposal.status
        if status != "completed":
            why = standing.decision.document["decision"].get("reasoning", status)  # type: ignore[union-attr]
            if standing.sealed is not None:
                kept = await self._chronicle.kept(standing.sealed)
                why = kept.parts["system"]["lastError"]["message"]
            raise DecisionRefused(proposal_id, f"it was {status}: {why}")
        return [change.wanted.id for change in _plan(standing.proposal)]

    # -------------------------------------------------------------------- carrying out

    async def carry_out(self, standing: ProposalState) -> None:
        """Do what was approved, and put on record what came of it; the hooks hear of it then.

        OwnStoreFailed where the store fails or takes too long: then it is left to be done.
        """
        proposal = standing.proposal
        check_move(proposal.proposal_id, proposal.status, "executing")
        plan = _plan(proposal)
        work = carried_out(self._store, self._codec, plan, proposal.proposal_id)
        try:
            failure = await within(self._limit, work, "the store")
        except GOES_THROUGH:
            raise
        except Exception as error:
            raise OwnStoreFailed(proposal.proposal_id, described(error)) from error
        if await self._sealed(standing, plan, failure) and failure is None:
            created = [change.wanted.id for change in plan if change.before is None]
            await self._telling.created(created)
            await self._telling.changed(plan)

    async def _sealed(
        self, standing: ProposalState, plan: Sequence[Planned], failure: str | None
    ) -> bool:
        proposal = standing.proposal
        expects = [
            Expected(names.proposal(proposal.proposal_id), standing.newest),
            Expected(names.execution(proposal.execution_key), None),
        ]
        while True:
            facts, expected = await self._operations.sealed(
                proposal,
                await self._operations.head(),
                [change.wanted.id for change in plan],
                decision_id=proposal.decision_id or "",
                approved_at=standing.decision.seq if standing.decision else None,
                failure=failure,
            )
            try:
                await self._chronicle.commit(
                    facts,
                    actor=str(self._actor),
                    at=self._clock.now_ms(),
                    expects=[*expects, expected],
                )
            except MarkMoved as moved:
                if moved.name in {expect.name for expect in expects}:
                    return False  # another attempt was faster, and has done the same
            else:
                return True


def _plan(proposal: Proposal) -> list[Planned]:
    return [Planned.from_wire(value) for value in proposal.intent.body.input["changes"]]


def _operation(change: Planned, actor_id: str, reason: str | None) -> MemoryOperation:
    kind: OperationType = "update" if change.wanted.kind == "annotate" else change.wanted.kind
    own = Planned.from_wire(change.to_wire())  # a policy can't change what is proposed
    return MemoryOperation(
        type=kind,
        record=own.after or own.before,
        before=own.before,
        after=own.after,
        actor_id=actor_id,
        meta=None if reason is None else {"reason": reason},
    )
