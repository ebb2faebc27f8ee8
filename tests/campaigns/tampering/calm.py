"""Clean runs: nobody tampers, and no verifier may say that somebody did."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import memoranda
from tests.campaigns.adversity.chance import Random
from tests.campaigns.tampering.clean import SCOPES, SEAL, Kept, build, kept_in, work
from tests.campaigns.tampering.judge import exported, seen_in_database, seen_in_export
from tests.campaigns.tampering.tables import SqliteTables
from tests.campaigns.tampering.worlds import work_in_worlds

EVERY_FOURTH = 4
"""So often it is verified while somebody writes."""


def calm_runs(
    seed: int, runs: int, tell: Callable[[int], None] = lambda _: None, folder: Path | None = None
) -> list[str]:
    """Every false alarm of this many clean runs, in words."""
    alarms = []
    for number in range(runs):
        chance = Random(f"{seed}/calm/{number}")
        with TemporaryDirectory(prefix="memoranda-calm-", dir=folder) as made:
            path = Path(made) / "memory.db"
            is_busy = number % EVERY_FOURTH == 0
            found = asyncio.run(_busy(path, chance) if is_busy else _quiet(path, chance))
        alarms += [f"run {number}: {one}" for one in found]
        tell(number + 1)
    return alarms


async def _quiet(path: Path, chance: Random) -> list[str]:
    url = f"sqlite:///{path}"
    scopes = chance.sample(SCOPES, chance.randrange(1, 4))
    worlds = chance.choice((None, 0, 5, 30))
    turns = {scope: chance.randrange(1, 60) for scope in scopes}
    await build(url, chance, turns, in_worlds=worlds)
    kept = kept_in(SqliteTables(str(path)))
    if chance.random() < 0.5:  # what was kept may be older than what there is
        turns = {scope: chance.randrange(1, 30) for scope in scopes}
        await build(url, chance, turns, in_worlds=worlds)
    return await _alarms(url, kept)


async def _busy(path: Path, chance: Random) -> list[str]:
    """Somebody writes, and somebody else verifies and exports again and again meanwhile."""
    url = f"sqlite:///{path}"
    scope = chance.choice(SCOPES)
    await build(url, chance, {scope: 20})
    kept = kept_in(SqliteTables(str(path)))

    async def write() -> None:
        async with memoranda.open(url, scope=scope, seal=SEAL) as memory:
            await work(memory, chance, 40, beside_readers=True)
        await work_in_worlds(url, chance, 20, beside_readers=True, seal=SEAL)

    writing = asyncio.create_task(write())
    alarms = await _alarms(url, kept)
    while not writing.done():
        alarms += await _alarms(url, kept)
    await writing
    return alarms + await _alarms(url, kept)


async def _alarms(url: str, kept: Kept) -> list[str]:
    seen = await seen_in_database(url, list(kept.notes.values()))
    for scope in await memoranda.scopes(url):
        notes = [kept.notes[scope]] if scope in kept.notes else []
        seen += seen_in_export(await exported(url, scope), scope, notes)
    return [str(sight) for sight in seen]
