"""`memory.maintain`: what keeps a scope in order, by its policy or by hand."""

from collections.abc import Mapping, Sequence
from typing import Any

from memoranda.app.handle import Verbs, verb
from memoranda.journeys.audit.verify import Progress, nobody
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.maintain.schedule import JobRun, MaintenanceStatus
from memoranda.journeys.maintain.upkeep import Brought, Reindexed, embed_missing, reindex
from memoranda.journeys.recall.evaluation import Evaluated, KnownAnswer, evaluate
from memoranda.journeys.recall.recalled import Recalled
from memoranda.kernel.errors import EmbedderMissing
from memoranda.kernel.given import check_callable
from memoranda.kernel.results import Rows
from memoranda.ledger.policy import PeriodicJob
from memoranda.recall.selector import Selector
from memoranda.recall.selectors import USUAL
from memoranda.records.model import MemoryMaintenanceConfig


class Maintain(Verbs[Any]):
    """Jobs by policy: retention, indexes, vectors, checkpoints; bytes of what was erased."""

    @verb
    async def configure(
        self,
        config: MemoryMaintenanceConfig,
        *,
        reason: str,
        every: Mapping[PeriodicJob, int] | None = None,
    ) -> Receipt:
        """Say whether the scope is maintained, and what it keeps: the next version of its policy.

        `every` names the jobs that run, each with the seconds between two runs; without it all
        run, as often as is usual. Workers run them (docs/maintenance.md). InvalidPolicy for what
        can't be obeyed.
        """
        parts = self._handle.parts
        return await parts.maintenance.configure(
            config, every=every, reason=reason, actor=str(parts.actor)
        )

    @verb
    async def status(self) -> MaintenanceStatus:
        """The policy of the scope, and how each job stands: when it is due, what it last did."""
        return await self._handle.parts.maintenance.status()

    @verb
    async def run(self, *jobs: str, dry_run: bool = False) -> Rows[JobRun]:
        """Run jobs now, whether they are due or not; without names, all that can be run here.

        With `dry_run` they count what they would do, and change nothing. What failed is said in
        the answer, not raised; what another process runs at this moment is left to it.
        """
        return await self._handle.parts.maintenance.run_all(jobs, dry_run=dry_run)

    @verb
    async def reindex(self) -> Reindexed:
        """Make the word index anew, and log it; searches are refused until it is whole."""
        parts = self._handle.parts
        at = parts.clock.now_ms()
        return await reindex(parts.table, parts.scoped.drafts, str(parts.actor), at)

    @verb
    async def embed(self, *, progress: Progress = nobody) -> Brought:
        """Give everything a vector that has none, with the database's embedder, and log it.

        CapabilityMissing without an embedder; ModelFailed if it fails.
        """
        check_callable("progress", progress)
        parts = self._handle.parts
        if parts.embedder is None:
            raise EmbedderMissing
        return await embed_missing(
            parts.table,
            parts.scoped.drafts,
            parts.clock,
            parts.ledger.vectors,
            parts.embedder,
            actor=str(parts.actor),
            progress=progress,
        )

    @verb
    async def evaluate(
        self, questions: Sequence[KnownAnswer], *, selector: str | Selector = USUAL
    ) -> Evaluated:
        """Ask questions whose answers you know, and count what is found (docs/evaluation.md).

        An answer is named by its id or by its text. Each question leaves a trace, as every recall.
        """
        recalling = self._handle.parts.recalling

        async def recall(question: str, top_k: int) -> Recalled[Any]:
            return await recalling.recall(question, top_k=top_k, selector=selector)

        return await evaluate(recall, questions)

    @verb
    async def scrub(self) -> None:
        """See once more that no byte of what was erased is left, the long way where there is one.

        For after an erasure that others kept from finishing, and for PostgreSQL's old rows.
        """
        await self._handle.parts.ledger.scrub(rewrite=True)
