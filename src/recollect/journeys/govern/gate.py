"""The gate before memory: every change asks a MemoryAuthorityPolicy first (D-MEM-5)."""

from collections.abc import Callable, Sequence
from typing import Protocol

from recollect.journeys.govern import operations
from recollect.journeys.govern.drafts import Drafts
from recollect.journeys.govern.table import Decide, FilteredLedger, GovernedTable, Written
from recollect.kernel.actors import ActorRef
from recollect.kernel.errors import RecordError
from recollect.kernel.retry import RetryKey
from recollect.ledger.unit import Committed, Current, Draft, Everything, Unit
from recollect.records.authority import MemoryAuthorityPolicy, MemoryOperation, risk_of
from recollect.records.table import Note


class Authority(Protocol):
    """Takes proposals of changes (`authority.MemoryAuthority`)."""

    async def put(
        self,
        drafts: Sequence[Draft],
        asked: Sequence[MemoryOperation],
        note: Note,
        risk: str | None,
        key: RetryKey | None,
    ) -> Written:
        """Propose changes; they are done if they are approved at once."""
        ...

    async def told(self, committed: Committed, operation: str) -> Written:
        """What became of a proposal that is not done, or of a retry of one."""
        ...


class GatedTable(GovernedTable):
    """Records whose changes go through a MemoryAuthorityPolicy."""

    def __init__(
        self,
        ledger: FilteredLedger,
        drafts: Drafts,
        on_commit: Callable[[int], None] | None,
        policy: MemoryAuthorityPolicy,
        actor: ActorRef,
    ) -> None:
        super().__init__(ledger, drafts, on_commit)
        self._policy = policy
        self._actor = actor
        self.authority: Authority | None = None
        """Set once what it works with is there, which includes this table."""

    async def add(
        self, fresh: list[Draft], note: Note, key: RetryKey | None, about: str
    ) -> Written:
        """Store new objects, or propose them."""
        return await self.change((), note, lambda _: fresh, key, about)

    async def change(
        self,
        ids: Sequence[str] | Everything,
        note: Note,
        decide: Decide,
        key: RetryKey | None = None,
        about: str = "",
    ) -> Written:
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
            if key is None or self.authority is None:
                raise
            # Unless it was done before: then the key is known, and it does not come to this again.
            written = await super().change(ids, note, decide, key, about)
            return await self.authority.told(written.committed, "do this")
        asked = [operations.operation_of(draft, self._actor.actor_id) for draft in planned]
        needed = [one for one in asked if self._policy.requires_authority(one)]
        # 2.
        if not needed or self.authority is None:
            return await super().change(ids, note, decide, key, about)
        # 3.
        risks = [risk_of(self._policy, one) for one in needed]
        return await self.authority.put(planned, needed, note, _highest(risks), key)


def _highest(risks: Sequence[str | None]) -> str | None:
    order = ("low", "medium", "high")
    known = [risk for risk in risks if risk in order]
    return max(known, key=order.index) if known else None
