"""Governed memory: a handle on one scope, with all of its verbs.

Each write is one transaction, and returns a receipt or raises.
"""

from collections.abc import Collection
from typing import TypeVar

from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.journeys.audit.whole import Audit
from memoranda.journeys.govern.conformance import Status
from memoranda.journeys.govern.consolidating import Consolidating
from memoranda.journeys.govern.forgetting import Forgetting
from memoranda.journeys.govern.importing import Importing
from memoranda.journeys.govern.reading import Reading
from memoranda.journeys.govern.receipts import Receipt
from memoranda.journeys.govern.remembering import Remembering
from memoranda.journeys.maintain.embedding import Brought, embed_missing
from memoranda.journeys.maintain.reindex import Reindexed, reindex
from memoranda.journeys.recall.verbs import Recalling
from memoranda.journeys.turn.verbs import TakingTurns
from memoranda.kernel.errors import EmbedderMissing
from memoranda.ledger.policy import Policy

T = TypeVar("T")


class GovernedMemory(
    Remembering[T],
    Forgetting[T],
    Reading[T],
    Consolidating[T],
    Importing[T],
    Recalling[T],
    TakingTurns[T],
):
    """A handle on one scope: its records, and the verbs of governed memory."""

    async def verify(self, *, progress: Progress = nobody) -> Audit:
        """Walk everything that is stored, and report all that is wrong.

        It is compared with every checkpoint that is within reach: the database's own and those
        of the anchors. What is wrong is logged as a conformance break, once (GOV-BREAK); the
        audit says whether it could be.
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
            raise EmbedderMissing
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

    async def record_audit(
        self,
        audit_ref: str,
        *,
        report: Audit,
        reason: str,
        accept: Collection[int | str] = (),
    ) -> Receipt:
        """Record a re-audit that rests on what `verify` just said; it lifts breaks (GOV-BREAK).

        Each damage in the report is accepted by its entry, or by its check where it has none: what
        it was is never factual or verified again. AuditRefused where the report is not of the
        journal as it is, where damage is not accepted, and to agents unless a policy lets them.
        """
        return await self._conformance.record_audit(
            audit_ref, report=report, reason=reason, actor=str(self.actor), accept=accept
        )
