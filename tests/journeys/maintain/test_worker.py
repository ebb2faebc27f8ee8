"""Workers: jobs that are due are run, retried, given up in sight; one at a time, each once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import Capabilities, Capability, Clockwork, Memory, MemoryHooks
from memoranda.journeys.maintain import jobs
from memoranda.journeys.maintain.jobs import Done, Job, Work
from memoranda.journeys.maintain.schedule import ATTEMPTS
from memoranda.journeys.maintain.worker import Worker
from memoranda.kernel.errors import InvalidOption, LeaseLost
from memoranda.ledger.lease import JOB
from memoranda.records.model import MemoryRecordInput
from memoranda.records.table import Content, Row
from memoranda.testkit.strategies import FrozenClock
from tests.fixtures import Opens
from tests.handles import inside
from tests.journeys.maintain.conftest import keeping, said
from tests.journeys.own_store.shelf import ShelfStore
from tests.patience import PATIENCE
from tests.stores.postgres.roles import Roles

HOUR = 3_600_000


def worker_of(memory: Memory[Any], **how: Any) -> Worker:
    """A worker on the database of a handle."""
    from memoranda.app.database import Database  # noqa: PLC0415

    return Database(memory._handle._database)._worker(**how)


async def of_scope(memory: Memory[Any], **how: Any) -> dict[str, str]:
    """What is due now is run; what came of it in this scope, by job."""
    runs = await worker_of(memory, **how).run_due()
    return {run.job: run.outcome for run in runs if run.scope == memory.scope}


@pytest.fixture
def url(fresh_url: str) -> str:
    """A worker sees all scopes of a database: no other test has one here."""
    return fresh_url


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> list[Work]:
    """The job `expiry` fails, whoever runs it."""
    tried: list[Work] = []

    async def fail(work: Work) -> Done:
        tried.append(work)
        raise ConnectionError("the disk is gone")

    monkeypatch.setitem(jobs.JOBS, "expiry", Job("expiry", fail))
    return tried


@pytest.mark.rule("MEM-MAINT-1", "MEM-MAINT-2")
async def test_a_worker_runs_what_a_policy_asks_for_when_it_is_due(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    every = {"retention": 3_600, "consolidate": 7_200}
    await memory.remember("a note", id="a", tags=["scratch"])
    assert await of_scope(memory) == {}  # nobody has asked for anything
    await memory.maintain.configure(
        keeping(ephemeralTags=["scratch"]),
        every=every,  # type: ignore[arg-type]
        reason="tidy",
    )

    assert await of_scope(memory) == {"retention": "done", "consolidate": "done"}
    assert await of_scope(memory) == {}
    await memory.remember("a note", id="b", tags=["scratch"])
    clock.advance(HOUR)
    assert await of_scope(memory) == {"retention": "done"}
    assert await memory.list() == []
    clock.advance(HOUR)
    assert await of_scope(memory) == {"retention": "done", "consolidate": "done"}
    assert len(await said(memory, "job")) == 2  # of five runs, two did something

    await memory.maintain.configure(keeping(enabled=False), reason="no more")
    clock.advance(24 * HOUR)
    assert await of_scope(memory) == {}
    assert all(job.due_at is None for job in (await memory.maintain.status()).jobs)


async def test_a_policy_that_nobody_planned_is_planned_by_a_worker(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    await memory.remember("a fact")
    await memory.maintain.configure(keeping(), every={"expiry": 60}, reason="tidy")
    await inside(memory).ledger.leases.plan({})  # as if its process had died before that
    assert await of_scope(memory) == {}

    await worker_of(memory).plan()

    assert await of_scope(memory) == {"expiry": "done"}
    await worker_of(memory).plan()
    assert await of_scope(memory) == {}  # it is not due because a worker has started
    clock.advance(60_000)
    assert await of_scope(memory) == {"expiry": "done"}


async def test_a_job_that_fails_is_tried_again_later_and_later_and_then_given_up_in_sight(
    memory: Memory[Any], clock: FrozenClock, broken: list[Work]
) -> None:
    await memory.remember("a fact")
    await memory.maintain.configure(keeping(), every={"expiry": 60}, reason="tidy")
    pauses = []
    for attempt in range(1, ATTEMPTS + 1):
        outcome = "failed" if attempt < ATTEMPTS else "given up"
        assert await of_scope(memory) == {"expiry": outcome}
        assert await of_scope(memory) == {}
        job = (await memory.maintain.status()).jobs[0]
        assert (job.attempts, job.is_given_up) == (attempt, attempt == ATTEMPTS)
        assert job.last_error == "the disk is gone (ConnectionError)"
        if job.due_at is not None:
            pauses.append(job.due_at - clock.now_ms())
            clock.at = job.due_at
    assert pauses == [10_000 * 2**n for n in range(ATTEMPTS - 1)]
    clock.advance(1_000 * HOUR)
    await worker_of(memory).plan()
    assert await of_scope(memory) == {}  # it stays so
    assert len(broken) == ATTEMPTS

    (run,) = await memory.maintain.run("expiry")
    assert run.outcome == "given up"
    await memory.maintain.configure(keeping(), every={"expiry": 60}, reason="it is mended")
    assert await of_scope(memory) == {"expiry": "failed"}  # a new policy tries it again


async def test_a_job_that_every_worker_dies_of_is_given_up_as_well(
    memory: Memory[Any], clock: FrozenClock, url: str
) -> None:
    await memory.remember("a fact")
    await memory.maintain.configure(keeping(), every={"expiry": 60}, reason="tidy")
    leases = inside(memory).ledger.leases
    for n in range(ATTEMPTS):
        taken = await leases.take(
            JOB + "expiry", f"dead-{n}", for_ms=0, now=clock.now_ms(), due=clock.now_ms()
        )
        assert taken is not None
        assert taken.attempts == n + 1

    await _when_leases_end(url)
    assert await of_scope(memory) == {"expiry": "given up"}
    assert "no worker lived" in ((await memory.maintain.status()).jobs[0].last_error or "")


async def _when_leases_end(url: str) -> None:
    """A lease of no time ends in the next millisecond of the server."""
    if not url.startswith("sqlite"):
        await asyncio.sleep(0.005)


async def test_a_job_that_somebody_holds_is_left_to_them(
    memory: Memory[Any], clock: FrozenClock
) -> None:
    await memory.remember("a fact")
    await memory.maintain.configure(keeping(), every={"expiry": 60}, reason="tidy")
    leases = inside(memory).ledger.leases
    taken = await leases.take(JOB + "expiry", "another", for_ms=60_000, now=clock.now_ms())
    assert taken is not None

    assert await of_scope(memory) == {}
    (run,) = await memory.maintain.run("expiry")
    assert run.outcome == "busy"
    assert (await memory.maintain.status()).jobs[0].holder == "another"
    assert await leases.end(taken, due=clock.now_ms(), attempts=0, report="")
    assert await of_scope(memory) == {"expiry": "done"}


async def test_a_job_whose_lease_is_lost_is_stopped_and_says_so(
    memory: Memory[Any], clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.journeys.maintain.schedule.LEASE_MS", 30)
    leases = inside(memory).ledger.leases

    async def hang(_: Work) -> Done:
        taken = (await leases.all(JOB + "expiry"))[0]
        await leases.end(taken, due=None, attempts=0, report="")
        await leases.take(JOB + "expiry", "another", for_ms=60_000, now=clock.now_ms())
        await asyncio.Event().wait()
        raise AssertionError

    monkeypatch.setitem(jobs.JOBS, "expiry", Job("expiry", hang))
    await memory.remember("a fact")

    (run,) = await memory.maintain.run("expiry")

    assert run.outcome == "lost"
    assert LeaseLost.code in (run.error or "")
    assert (await memory.maintain.status()).jobs[0].holder == "another"


async def test_a_database_that_is_closed_puts_back_what_its_worker_has_begun(
    url: str, opens: Opens, scope: str, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = asyncio.Event()

    async def hang(_: Work) -> Done:
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with opens() as memory:
        await memory.remember("a fact")
        await memory.maintain.configure(keeping(), every={"expiry": 60}, reason="tidy")
    monkeypatch.setitem(jobs.JOBS, "expiry", Job("expiry", hang))
    async with memoranda.connect(url, maintain=True, clockwork=Clockwork(clock)):
        await begun.wait()

    async with opens() as memory:
        job = (await memory.maintain.status()).jobs[0]
        assert (job.holder, job.attempts, job.due_at) == (None, 0, clock.now_ms())
        assert scope == memory.scope


@pytest.mark.rule("MEM-MAINT-1", "MEM-MAINT-2")
async def test_a_process_that_maintains_does_so_by_itself(
    url: str, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memoranda.journeys.maintain.worker.POLL_S", 0.01)
    async with memoranda.connect(url, maintain=True) as db:
        memory = db.scope(scope, actor="agent:a")
        await memory.remember("a note", id="a", tags=["scratch"])
        await memory.maintain.configure(
            keeping(ephemeralTags=["scratch"]), every={"retention": 60}, reason="tidy"
        )
        async with asyncio.timeout(PATIENCE):
            async for entry in memory.journal.tail(0):
                if entry.kind == "job":
                    break
        assert await memory.get("a") is None


@pytest.mark.backend("postgres")
async def test_a_role_of_few_rights_finds_the_jobs_of_all_scopes(shared_postgres: Roles) -> None:
    scopes = [f"few-rights-{n}" for n in range(3)]
    async with memoranda.connect(shared_postgres.app) as db:
        for scope in scopes:
            memory = db.scope(scope, actor="agent:a")
            await memory.remember("a note", tags=["scratch"])
            await memory.maintain.configure(
                keeping(ephemeralTags=["scratch"]), every={"retention": 60}, reason="tidy"
            )
        runs = await db._worker().run_due()

        done = {run.scope for run in runs if run.outcome == "done" and run.job == "retention"}
        assert done >= set(scopes)


def test_what_is_only_read_can_t_be_maintained(url: str) -> None:
    with pytest.raises(InvalidOption):
        memoranda.connect(url, maintain=True, read_only=True)


# ------------------------------------------------------------------------- a store of one's own


class FoldingShelf(ShelfStore):
    """A store that folds what belongs together when it is asked to."""

    capabilities = Capabilities(ShelfStore.capabilities.abilities | {Capability.CONSOLIDATE})
    folded = 0

    async def consolidate(self) -> None:
        self.folded += 1


@pytest.mark.rule("MEM-MAINT-1", "MEM-MAINT-2", "MEM-MAINT-3")
async def test_a_store_of_one_s_own_is_maintained_by_a_process_that_has_it(
    opens: Opens, clock: FrozenClock, tmp_path: Path
) -> None:
    shelf, heard = FoldingShelf(tmp_path / "shelf.json", clock), list[str]()
    hooks = MemoryHooks[Any](on_deleted=lambda id, _: heard.append(id))
    async with opens(store=shelf, hooks=hooks) as memory, opens() as other:
        await memory.remember("a fact")
        for id, tags in (("a", ["scratch"]), ("b", None)):
            await memory.records.create(MemoryRecordInput(id=id, data=1, tags=tags))
        await memory.maintain.configure(
            keeping(ephemeralTags=["scratch"]), every={"own_store": 60}, reason="tidy"
        )

        assert await of_scope(other) == {}  # it has no store, and leaves it to others
        assert await of_scope(memory) == {"own_store": "done"}

        assert heard == ["a"]
        assert await shelf.get("a") is None
        assert await shelf.get("b") is not None
        assert shelf.folded == 1
        (run,) = await said(memory, "job")
        assert (run["job"], run["counts"]) == ("own_store", {"deleted": 1, "folded": 0})
        clock.advance(60_000)
        assert await of_scope(memory) == {"own_store": "done"}
        assert len(await said(memory, "job")) == 1


async def test_a_store_without_the_ability_is_not_asked_to_consolidate(
    opens: Opens, tmp_path: Path
) -> None:
    async with opens(store=ShelfStore(tmp_path / "shelf.json")) as memory:
        await memory.remember("a fact")
        (run,) = await memory.maintain.run("own_store")

        assert (run.outcome, run.counts) == ("done", {"deleted": 0})
        assert Capability.CONSOLIDATE not in memory.records.capabilities


# ------------------------------------------------------------------------------- fencing


def new_row(id: str, clock: FrozenClock) -> Row:
    return Row(id, clock.now_ms(), clock.now_ms(), Content(b'"a note"', None, None))


async def test_a_worker_that_slept_past_its_lease_writes_nothing_more(
    memory: Memory[Any], clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stopped in the middle of a job, somebody else took that, and it does not know it."""
    leases, name = inside(memory).ledger.leases, JOB + "expiry"
    sizes: list[int] = []

    async def sleep_through(work: Work) -> Done:
        (lease,) = await leases.all(name)
        await work.table.insert([new_row("before", clock)], work.note)
        await leases.release(name, lease.holder)
        assert await leases.take(name, "another", for_ms=60_000, now=clock.now_ms()) is not None
        sizes.append((await memory.journal.head()).size)
        await work.table.insert([new_row("after", clock)], work.note)
        return Done({"expired": 2})

    monkeypatch.setitem(jobs.JOBS, "expiry", Job("expiry", sleep_through))
    await memory.remember("a note", id="a")

    (run,) = await memory.maintain.run("expiry")

    assert run.outcome == "lost"
    assert "store.lease_lost" in (run.error or "")
    assert (await memory.journal.head()).size == sizes[0]
    assert {item.id for item in await memory.list()} == {"a", "before"}
    (lease,) = await leases.all(name)
    assert lease.holder == "another"
