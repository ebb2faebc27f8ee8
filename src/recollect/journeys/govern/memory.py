"""Governed memory: a handle on one scope, with all of its verbs.

Each write is one transaction, and returns a receipt or raises.
"""

from typing import TypeVar

from recollect.journeys.audit.verify import Progress, nobody
from recollect.journeys.audit.whole import Audit
from recollect.journeys.govern.conformance import Status
from recollect.journeys.govern.consolidating import Consolidating
from recollect.journeys.govern.forgetting import Forgetting
from recollect.journeys.govern.reading import Reading
from recollect.journeys.govern.receipts import Receipt
from recollect.journeys.govern.remembering import Remembering
from recollect.journeys.intent.deciding import Answer
from recollect.journeys.maintain.embedding import Brought, embed_missing
from recollect.journeys.maintain.reindex import Reindexed, reindex
from recollect.journeys.recall.verbs import Recalling
from recollect.journeys.records.contents import check_text
from recollect.journeys.turn.verbs import TakingTurns
from recollect.kernel.errors import CapabilityMissing
from recollect.ledger.policy import Policy

T = TypeVar("T")


class GovernedMemory(
    Remembering[T], Forgetting[T], Reading[T], Consolidating[T], Recalling[T], TakingTurns[T]
):
    """A handle on one scope: its records, and the verbs of governed memory."""

    async def approve(self, id: str, *, reason: str) -> Receipt | Answer:
        """Approve a proposal that waits, or else a record, whose trust is raised by it.

        DecisionRefused, or ApprovalRefused, to whoever may not.
        """
        if not await self.app.is_proposal(id):
            return await self.approve_record(id, reason=reason)
        check_text("reason", reason)
        return await self.app.answer(id, "approve", actor=self.actor, reason=reason)

    async def verify(self, *, progress: Progress = nobody) -> Audit:
        """Walk everything that is stored, and report all that is wrong.

        It is compared with every checkpoint that is within reach: the database's own and those
        of the anchors.
        """
        return await self._conformance.audit(progress=progress)

    async def reindex(self) -> Reindexed:
        """Make the word index anew, and log it; searches are refused until it is whole."""
        actor, at = str(self.actor), self._clock.now_ms()
        return await reindex(self._table, self._drafts, actor, at)

    async def embed(self, *, progress: Progress = nobody) -> Brought:
        """Give everything a vector that has none, with the handle's embedder, and log it.

        CapabilityMissing without an embedder; ModelFailed if it fails.
        """
        if self._embedder is None:
            raise CapabilityMissing("embeddings without an embedder (docs/embeddings.md)")
        return await embed_missing(
            self._table,
            self._drafts,
            self._clock,
            self._ledger.vectors,
            self._embedder,
            actor=str(self.actor),
            progress=progress,
        )

    async def status(self) -> Status:
        """How the scope stands: its policies, the breaks that stand, checkpoints and anchors."""
        return await self._conformance.status()

    async def change_policy(self, policy: Policy, *, reason: str) -> Receipt:
        """Put a policy's next version into force; there is no other way to change one."""
        actor = str(self.actor)
        return await self._conformance.change_policy(policy, reason=reason, actor=actor)

    async def record_audit(self, audit_ref: str, *, reason: str) -> Receipt:
        """Record a re-audit of the memory as it is; it lifts the breaks that stand (GOV-BREAK)."""
        actor = str(self.actor)
        return await self._conformance.record_audit(audit_ref, reason=reason, actor=actor)
