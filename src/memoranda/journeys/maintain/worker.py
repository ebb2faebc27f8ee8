"""A worker: it looks for jobs that are due, in all scopes of a database, and runs one at a time.

Any number of workers may look at the same database, in one process, in several, on many machines:
the lease of a job says who has it. A worker holds nothing that another could need, and dies at any
time without harm.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from memoranda.journeys.maintain.schedule import JobRun, Maintenance
from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import StoreError
from memoranda.ledger.lease import JOB, DueJob

POLL_S: Final = 5.0
"""How often a worker looks whether something is due."""
PLANNED_S: Final = 600.0
"""How often it looks for jobs that a policy asks for and nobody planned."""
AT_ONCE: Final = 64
"""How many due jobs it is told of at a time."""

log = logging.getLogger("memoranda.maintain")


class JobsOfScopes(Protocol):
    """A database whose scopes are maintained."""

    async def scopes(self) -> list[str]:
        """Every scope that was ever written to, sorted."""
        ...

    async def due_jobs(self, names: Collection[str], now: int, limit: int) -> list[DueJob]:
        """Jobs of these names that are due by then and that nobody holds, in all scopes."""
        ...


@dataclass(slots=True)
class Worker:
    """Runs what is due in one database."""

    database: JobsOfScopes
    maintenance_of: Callable[[str], Awaitable[Maintenance]]
    jobs: Callable[[], Collection[str]]
    """The names of the jobs that this process has all that is needed for."""
    clock: Clock
    tell: Callable[[JobRun], None] = lambda _: None
    """Hears of each run."""

    async def work(self) -> None:
        """Plan and run until it is cancelled. A database that can't be reached is tried again."""
        time = asyncio.get_running_loop().time
        planned_at = -PLANNED_S
        while True:
            try:
                if time() - planned_at >= PLANNED_S:
                    await self.plan()
                    planned_at = time()
                await self.run_due()
            except StoreError as failed:
                log.warning("maintenance waits for the database: %s", failed)
            await asyncio.sleep(POLL_S)

    async def plan(self) -> None:
        """See that the jobs of every scope's policy are planned."""
        for scope in await self.database.scopes():
            await (await self.maintenance_of(scope)).plan()

    async def run_due(self) -> Sequence[JobRun]:
        """Run what is due, one after the other, until nothing is."""
        runs: list[JobRun] = []
        while True:
            names, now = [JOB + name for name in self.jobs()], self.clock.now_ms()
            ran = 0
            for scope, name in await self.database.due_jobs(names, now, AT_ONCE):
                maintenance = await self.maintenance_of(scope)
                job = name.removeprefix(JOB)
                if not maintenance.can(job):
                    continue
                run = await maintenance.run(job, due=now)
                if run.outcome != "busy":
                    ran += 1
                    runs.append(run)
                    self.tell(run)
            if not ran:
                return runs
