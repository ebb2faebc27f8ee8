"""The maintenance of one scope: its policy, its jobs, when they are due, and what came of them.

What a scope wants is a policy, changed like every other (GOV-BREAK). The jobs that follow from it
are rows of the lease table, one for each. A job is run under its lease, by whoever has it:

1. it is taken, or somebody else has it: busy
2. it runs while its lease is renewed
3. what it did becomes an entry of the journal, if it did anything
4. it is due again when its time is over. One that failed is due earlier, each time after twice as
   long; after `ATTEMPTS` it is given up, and stays so, in sight, until somebody runs it or changes
   the policy. A worker that dies counts as a failure: what kills every worker ends as well
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, get_args

from memoranda.identity import canonical_bytes, decode
from memoranda.journeys.govern.authority import HandleTable
from memoranda.journeys.govern.drafts import Drafts
from memoranda.journeys.govern.objects import Receipt
from memoranda.journeys.govern.table import GovernedTable
from memoranda.journeys.intent.hold import LEASE_MS, held, new_holder
from memoranda.journeys.maintain.jobs import ACTOR, JOBS, Counts, Done, Job, Work
from memoranda.kernel.clock import Randomness
from memoranda.kernel.errors import InvalidOption, MemorandaError
from memoranda.kernel.given import check_kind, check_texts
from memoranda.kernel.results import Result, Rows
from memoranda.ledger.attachments import HeldLease
from memoranda.ledger.fact import Fact
from memoranda.ledger.lease import JOB, SCRUB, Lease, Leases
from memoranda.ledger.policy import EVERY, MaintenanceRules, PeriodicJob, Policy
from memoranda.ledger.unit import Committed, Unit
from memoranda.records.model import MemoryMaintenanceConfig, MemoryRetentionPolicy

TYPE: Final = "JobRun"
"""The type of the fact that a job did something."""
ATTEMPTS: Final = 8
"""How often a job is tried in a row until it is given up."""
FIRST_RETRY_MS: Final = 10_000
"""How long after its first failure a job is tried again; after each further one twice as long."""
LONGEST_RETRY_MS: Final = 3_600_000

log = logging.getLogger("memoranda.maintain")


class WornOut(Exception):
    """A job that was begun again and again, and no worker lived to end it."""

    def __init__(self, attempts: int) -> None:
        super().__init__(f"it was begun {attempts} times, and no worker lived to end it")


JobOutcome = Literal["done", "dry", "failed", "given up", "busy", "lost"]
"""What came of a job: it would have been done (dry), somebody else does it (busy), or somebody else
took it over because this process was too slow (lost)."""


@dataclass(frozen=True, slots=True, repr=False)
class JobRun(Result):
    """One run of a job, and what it did, or would do."""

    scope: str
    job: str
    outcome: JobOutcome
    counts: Counts = field(default_factory=dict, hash=False)
    took_ms: int = 0
    error: str | None = None
    """Why it failed, and the code of the error."""
    due_at: int | None = None
    """When it is run next."""


@dataclass(frozen=True, slots=True, repr=False)
class JobStatus(Result):
    """How a job stands: when it is due, who has it, what its last run came to."""

    job: str
    every_s: int | None
    """How often it runs by itself; None if it does not."""
    due_at: int | None
    holder: str | None
    """The machine and the process that run it now."""
    attempts: int
    """How often it was tried since it last went well."""
    is_given_up: bool
    last_at: int | None
    last_counts: Counts = field(hash=False)
    last_error: str | None


@dataclass(frozen=True, slots=True, repr=False)
class MaintenanceStatus(Result):
    """How the maintenance of a scope stands."""

    scope: str
    enabled: bool
    policy_version: int
    retention: MemoryRetentionPolicy
    jobs: Sequence[JobStatus]


class LeasedTable(HandleTable):
    """A table as whoever holds a lease writes it: once somebody else has that, nothing lands.

    A process that was stopped for longer than its lease does not know it, and goes on.
    """

    def __init__(self, table: GovernedTable, drafts: Drafts, taken: Lease) -> None:
        super().__init__(table, drafts)
        self._held = HeldLease(taken.name, taken.holder)

    async def commit(self, unit: Unit) -> Committed:
        return await super().commit(unit._replace(attachments=(*unit.attachments, self._held)))


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Maintains one scope."""

    scope: str
    work: Work
    """What jobs work on; what differs from job to job is filled in."""
    randomness: Randomness

    @property
    def _leases(self) -> Leases:
        return self.work.table.ledger.leases

    @property
    def _drafts(self) -> Drafts:
        return self.work.drafts

    # ------------------------------------------------------------------------ policy

    async def configure(
        self,
        config: MemoryMaintenanceConfig,
        *,
        every: Mapping[PeriodicJob, int] | None,
        reason: str,
        actor: str,
    ) -> Receipt:
        """Put the next version of the policy into force, and let its jobs be due now."""
        check_kind("config", config, MemoryMaintenanceConfig, "a MemoryMaintenanceConfig")
        if every is not None:
            check_kind("every", every, Mapping, "the seconds between two runs, by job")
        before = await self._policy()
        periods = dict(EVERY if every is None else every)
        retention: Any = config.retention.model_dump(mode="json", exclude_defaults=True)
        rules = {"enabled": config.enabled, "retention": retention, "every": periods}
        after = Policy("maintenance", before.version + 1, rules)
        conformance = self.work.conformance
        receipt = await conformance.change_policy(after, reason=reason, actor=actor)
        await self.plan(anew=True)
        return receipt

    async def plan(self, *, anew: bool = False) -> None:
        """Let the jobs be those of the policy; those that are new are due now."""
        rules = (await self._policy()).read(MaintenanceRules)
        now = self.work.clock.now_ms()
        due = {JOB + name: now for name in rules.every} if rules.enabled else {}
        await self._leases.plan({SCRUB: None, **due}, anew=anew)

    async def _policy(self) -> Policy:
        return (await self.work.table.rulebook.logged()).policies["maintenance"]

    async def status(self) -> MaintenanceStatus:
        policy = await self._policy()
        rules = policy.read(MaintenanceRules)
        leases = {lease.name: lease for lease in await self._leases.all(JOB)}
        every = rules.every if rules.enabled else {}
        found = [
            _status(name, every.get(name), leases.get(JOB + name))  # type: ignore[call-overload]
            for name in JOBS
        ]
        return MaintenanceStatus(
            self.scope, rules.enabled, policy.version, _retention(rules), Rows(found)
        )

    # ----------------------------------------------------------------------- running

    def can(self, name: str) -> bool:
        """Whether this process has what a job needs."""
        job = JOBS.get(name)
        return job is not None and (not job.needs or getattr(self.work, job.needs) is not None)

    async def run_all(self, names: Sequence[str], *, dry_run: bool) -> Rows[JobRun]:
        """Run jobs now, one after the other: those that are named, or all that can be run here.

        InvalidOption for a name that no job has.
        """
        check_texts("jobs", names)
        for name in names:
            if name not in JOBS:
                why = f"there is no job {name[:80]!r}; name some of {', '.join(JOBS)}"
                raise InvalidOption("jobs", why)
        wanted = names or [name for name in JOBS if self.can(name) and name != "scrub"]
        return Rows([await self.run(name, dry_run=dry_run) for name in wanted])

    async def run(self, name: str, *, due: int | None = None, dry_run: bool = False) -> JobRun:
        """Run a job under its lease; with `due`, only if it is due by then."""
        policy = await self._policy()
        rules, job = policy.read(MaintenanceRules), JOBS[name]
        work = replace(self.work, retention=_retention(rules))
        if dry_run:
            done = await job.perform(replace(work, is_dry=True))
            return JobRun(self.scope, name, "dry", done.counts)
        holder, now = new_holder(self.randomness), work.clock.now_ms()
        # 1.
        taken = await self._leases.take(JOB + name, holder, for_ms=LEASE_MS, now=now, due=due)
        if taken is None:
            return JobRun(self.scope, name, "busy")
        # 2. to 4.
        work = replace(work, state=_last(taken).get("state", {}))
        is_worn_out = due is not None and taken.attempts > ATTEMPTS
        return await self._run(job, work, taken, policy, is_worn_out=is_worn_out)

    async def _run(
        self, job: Job, work: Work, taken: Lease, policy: Policy, *, is_worn_out: bool
    ) -> JobRun:
        time = asyncio.get_running_loop().time
        began, at = time(), work.clock.now_ms()
        error: Exception | None
        error, done = WornOut(ATTEMPTS) if is_worn_out else None, Done({})
        try:
            if error is None:
                async with held(self._leases, taken, work.clock, for_ms=LEASE_MS):
                    work = replace(work, table=LeasedTable(work.table, self._drafts, taken))
                    done = await job.perform(work)
                    await self._log(job, done, policy, work.table)
        except asyncio.CancelledError:
            await asyncio.shield(self._put_back(taken))
            raise
        except Exception as failed:  # noqa: BLE001 - whatever it is, it is told, and tried again
            error = failed
        took = round((time() - began) * 1000)
        attempts = 0 if error is None else taken.attempts
        due = self._due(job.name, policy, attempts, error)
        report = {
            "at": at,
            "took": took,
            "counts": dict(done.counts),
            "error": None if error is None else _why(error),
            "state": dict(work.state if error is not None else done.state),
        }
        is_ours = await self._leases.end(
            taken, due=due, attempts=attempts, report=canonical_bytes(report).decode()
        )
        outcome: JobOutcome = "done" if error is None else "failed"
        if error is not None and attempts >= ATTEMPTS:
            outcome = "given up"
        if not is_ours:
            outcome = "lost"
        if error is not None:
            log.warning("%s of %r %s: %s", job.name, self.scope, outcome, _why(error))
        why = None if error is None else _why(error)
        return JobRun(self.scope, job.name, outcome, done.counts, took, why, due)

    async def _log(self, job: Job, done: Done, policy: Policy, table: GovernedTable) -> None:
        # 3.
        if not job.is_logged or not any(done.counts.values()):
            return
        says: dict[str, Any] = {
            "type": TYPE,
            "job": job.name,
            "policy_version": policy.version,
            "counts": dict(done.counts),
            **done.says,
        }
        draft = Fact("job", says, marks=[JOB + job.name]).draft(self._drafts.salt())
        unit = Unit(ACTOR, self.work.clock.now_ms(), lambda _: [draft])
        await table.commit(unit)

    def _due(self, name: str, policy: Policy, attempts: int, error: Exception | None) -> int | None:
        # 4.
        now = self.work.clock.now_ms()
        rules = policy.read(MaintenanceRules)
        period = rules.every.get(name) if rules.enabled else None  # type: ignore[call-overload]
        if error is None:
            return None if period is None else now + period * 1_000
        if attempts >= ATTEMPTS or (period is None and name != "scrub"):
            return None
        return now + min(FIRST_RETRY_MS << (attempts - 1), LONGEST_RETRY_MS)

    async def _put_back(self, taken: Lease) -> None:
        """It was stopped, and did not fail: it is as it was before it was taken."""
        attempts = taken.attempts - 1
        await self._leases.end(taken, due=taken.due, attempts=attempts, report=taken.report)


def _retention(rules: MaintenanceRules) -> MemoryRetentionPolicy:
    return MemoryRetentionPolicy.model_validate(rules.retention.model_dump())


def _last(lease: Lease) -> Mapping[str, Any]:
    return decode(lease.report.encode()) if lease.report else {}


def _status(name: str, every: int | None, lease: Lease | None) -> JobStatus:
    if lease is None:
        return JobStatus(name, every, None, None, 0, False, None, {}, None)
    last = _last(lease)
    return JobStatus(
        name,
        every,
        lease.due,
        lease.holder or None,
        lease.attempts,
        lease.due is None and lease.attempts >= ATTEMPTS,
        last.get("at"),
        last.get("counts", {}),
        last.get("error"),
    )


def _why(error: Exception) -> str:
    code = error.code if isinstance(error, MemorandaError) else type(error).__name__
    return f"{error} ({code})"[:1_000]


assert set(JOBS) == {*get_args(PeriodicJob), "scrub"}  # noqa: S101 - a policy names each of them
