"""Workers and agents that are killed: no job runs twice at once, none is lost, runs are taken over.

Real processes, and SIGKILL in the middle of their work; `make adversity` kills many more.
"""

import asyncio
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import memoranda
from memoranda import App
from memoranda.errors import RunElsewhere
from tests.journeys.maintain.conftest import keeping
from tests.journeys.maintain.mortal import domain, noted
from tests.patience import PATIENCE, eventually

KILLS = int(os.environ.get("MEMORANDA_KILLS", "3"))
SCOPES = [f"scope-{n}" for n in range(2 * KILLS)]
WORKERS = 3


@contextmanager
def started(what: str, url: str, file: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of `mortal`, which is gone when the block ends."""
    module = "tests.journeys.maintain.mortal"
    process = subprocess.Popen([sys.executable, "-m", module, what, url, str(file)])  # noqa: S603
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.rule("MEM-MAINT-4")
async def test_of_workers_that_are_killed_no_job_runs_twice_at_once_and_none_is_lost(
    fresh_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "jobs"
    async with memoranda.connect(fresh_url) as db:
        for name in SCOPES:
            memory = db.scope(name, actor="agent:a")
            await memory.remember("a fact")
            await memory.maintain.configure(keeping(), every={"expiry": 86_400}, reason="tidy")
    died: dict[int, float] = {}
    workers = [started("work", fresh_url, file) for _ in range(WORKERS + KILLS)]
    alive: dict[int, Any] = {}
    try:
        for _ in range(WORKERS):
            process = (opened := workers.pop()).__enter__()
            alive[process.pid] = opened
        for _ in range(KILLS):
            pid = await _at_work(file, died)
            died[pid] = time.monotonic()  # it was alive until now
            alive.pop(pid).__exit__(None, None, None)
            process = (opened := workers.pop()).__enter__()
            alive[process.pid] = opened
        await eventually(lambda: set(SCOPES) <= _ended(file).keys())
        async with memoranda.connect(fresh_url) as db:
            for name in SCOPES:
                await _is_done(db.scope(name, actor="agent:a"))
    finally:
        for opened in alive.values():
            opened.__exit__(None, None, None)

    lines = noted(file)
    for name in SCOPES:
        holder: int | None = None
        for line in (line for line in lines if line.get("scope") == name):
            if line["says"] == "begin":
                was_alive = holder is not None and line["at"] < died.get(holder, line["at"] + 1)
                assert not was_alive, f"{name} was run twice at once: {lines}"
                holder = line["pid"]
            elif line["pid"] == holder:
                holder = None
    assert len(died) == KILLS
    begun = Counter(line["scope"] for line in lines if line["says"] == "begin")
    assert sum(begun.values()) >= len(SCOPES) + 1  # what the dead had begun was begun again


def _ended(file: Path) -> Counter[str]:
    return Counter(line["scope"] for line in noted(file) if line["says"] == "end")


async def _at_work(file: Path, died: dict[int, float]) -> int:
    """A worker in the middle of a job; any that lives, if all of them are done."""
    found: list[int] = []

    def is_there() -> bool:
        begun: dict[int, str] = {}
        for line in noted(file):
            begun[line["pid"]] = line["says"]
        found[:] = [pid for pid, says in begun.items() if pid not in died and says == "begin"]
        idle = [pid for pid in begun if pid not in died]
        if not found and set(SCOPES) <= _ended(file).keys():
            found[:] = idle
        return bool(found)

    await eventually(is_there)
    return found[0]


async def _is_done(memory: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while True:
            job = (await memory.maintain.status()).jobs[0]
            if job.holder is None and job.last_at is not None:
                break
            await asyncio.sleep(0.05)
    assert (job.attempts, job.last_error) == (0, None)
    assert job.due_at is not None


async def test_a_run_that_another_process_has_is_left_to_it_until_that_has_died(
    fresh_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "runs"
    async with memoranda.open(fresh_url, scope="s", app=App(domain=domain)) as memory:
        await memory.remember("a fact")
        with started("act", fresh_url, file):
            await eventually(lambda: noted(file))  # the effect is under way
            (seen,) = await memory.worlds.resume()
            assert seen.status == "executing"
            with pytest.raises(RunElsewhere) as refused:
                await memory.worlds.run(seen.proposal_id)
            assert refused.value.code == "world.run_elsewhere"

        async with asyncio.timeout(PATIENCE):
            while True:
                (run,) = await memory.worlds.resume()
                if run.status != "executing":
                    break
                await asyncio.sleep(0.05)

        assert run.error is not None
        assert run.error["code"] == "effect.unknown"  # taken over: nobody knows whether it happened
        assert len(noted(file)) == 1  # and it was not called again
        assert await memory.worlds.resume() == []
