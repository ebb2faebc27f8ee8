"""The gate before memory: every change asks a MemoryAuthorityPolicy first (D-MEM-5)."""

from collections.abc import Sequence

from memoranda.journeys.govern import operations
from memoranda.journeys.govern.authority import MemoryAuthority
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.table import Decide, GovernedTable, UnitOutcome
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import RecordError
from memoranda.kernel.given import RetryKey
from memoranda.ledger.unit import Committed, Current, Draft, Everything, Unit
from memoranda.records.authority import (
    RISKS,
    MemoryAuthorityPolicy,
    Risk,
    risk_of,
)
from memoranda.records.table import Note


class GatedTable(GovernedTable):
    """Records whose changes go through a MemoryAuthorityPolicy."""

    def __init__(
        self,
        table: GovernedTable,
        drafts: Drafts,
        policy: MemoryAuthorityPolicy,
        actor: ActorRef,
        authority: MemoryAuthority,
    ) -> None:
        super().__init__(table.ledger, drafts)
        self.rulebook = table.rulebook
        self._shared = table
        self._policy = policy
        self._actor = actor
        self._authority = authority

    async def commit(self, unit: Unit) -> Committed:
        """Run any unit on the table that all handles of the scope share."""
        return await self._shared.commit(unit)

    async def opened(self) -> None:
        await self._shared.opened()

    async def begin(self, at: int) -> None:
        await self._shared.begin(at)

    async def add(
        self, fresh: list[Draft], note: Note, key: RetryKey | None, about: str
    ) -> UnitOutcome:
        return await self.change((), note, lambda _: fresh, key, about)

    async def change(
        self,
        ids: Sequence[str] | Everything,
        note: Note,
        decide: Decide,
        key: RetryKey | None = None,
        about: str = "",
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
            await self.commit(Unit(note.actor, note.at, plan, ids))
        except RecordError:
            if key is None:
                raise
            # Unless it was done before: then the key is known, and it does not come to this again.
            written = await super().change(ids, note, decide, key, about)
            return await self._authority.outcome_of(written.committed, "do this")
        actor_id = self._actor.actor_id
        asked = [operations.operation_of(draft, actor_id) for draft in planned]
        needed = [operation for operation in asked if self._policy.requires_authority(operation)]
        # 2.
        if not needed:
            return await super().change(ids, note, decide, key, about)
        # 3.
        risks = [risk_of(self._policy, operation) for operation in needed]
        return await self._authority.put(planned, needed, note, highest(risks), key)


def highest(risks: Sequence[Risk | None]) -> Risk | None:
    """The greatest of some risks; None where none was assessed."""
    known = [risk for risk in risks if risk is not None]
    return max(known, key=RISKS.index) if known else None
