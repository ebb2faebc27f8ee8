"""Processes that are killed: a worker whose jobs take their time, and an agent that never answers.

``python -m tests.journeys.maintain.mortal work URL FILE`` appends a line to the file when a job
begins, and one when it ends; ``… act URL FILE`` begins a run, says so, and hangs in its effect.
"""

import asyncio
import json
import os
import sys
import time
from pathlib import Path
from typing import Any, Final

import memoranda
from memoranda import App, Domain, Set
from memoranda.identity import canonical_bytes
from memoranda.journeys.intent import hold
from memoranda.journeys.maintain import jobs, schedule, worker
from memoranda.journeys.maintain.jobs import Done, Job, Work

LEASE_MS: Final = 3_000
"""Long enough for a busy machine to renew it, short enough to be waited for."""
TAKES_S: Final = 0.4

domain = Domain("mortal", "1")


def note(file: Path, **said: Any) -> None:
    """One line, whole, at the time of the machine's own steady clock."""
    said |= {"pid": os.getpid(), "at": time.monotonic()}
    with os.fdopen(os.open(file, os.O_APPEND | os.O_CREAT | os.O_WRONLY), "ab", 0) as out:
        out.write(canonical_bytes(said) + b"\n")


def noted(file: Path) -> list[dict[str, Any]]:
    """All lines so far."""
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


@domain.action
async def hang(ctx: Any) -> Set:
    """Call the outside, which never answers."""

    async def call() -> int:
        note(Path(sys.argv[3]), says="called")
        await asyncio.Event().wait()
        return 1

    return Set("found", await ctx.effect("call", call))


async def _slow(work: Work) -> Done:
    file, scope = Path(sys.argv[3]), work.drafts.scope
    note(file, says="begin", scope=scope)
    try:
        await asyncio.sleep(TAKES_S)
    finally:
        note(file, says="end", scope=scope)
    return Done({})


async def _main(what: str, url: str) -> None:
    for module in (hold, schedule):
        vars(module)["LEASE_MS"] = LEASE_MS
    vars(worker)["POLL_S"] = 0.05
    if what == "act":
        async with memoranda.open(url, scope="s", app=App(domain=domain)) as memory:
            await memory.act("hang")
        return
    jobs.JOBS["expiry"] = Job("expiry", _slow)  # type: ignore[index]
    async with memoranda.connect(url, maintain=True):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1], sys.argv[2]))
