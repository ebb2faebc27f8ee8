"""A day of a busy scope, in short: a frozen clock, and all jobs when they are due."""

from pathlib import Path

import pytest

from bench.maintenance import day

QUARTERS = 40
WRITES = 12
MOST = 120


@pytest.mark.rule("MEM-MAINT-1", "MEM-MAINT-2", "MEM-MAINT-4")
async def test_a_scope_that_is_maintained_stays_as_small_as_its_policy_says(
    fresh_url: str, tmp_path: Path
) -> None:
    found = await day(fresh_url, quarters=QUARTERS, writes=WRITES, most=MOST, maintained=True)

    assert max(found.active) <= MOST + 4 * WRITES * 2  # what came since the hour's retention
    assert set(found.outcomes) == {"done"}
    hours = QUARTERS // 4
    assert (found.jobs["retention"], found.jobs["expiry"]) == (hours, hours)
    assert (found.jobs["index"], found.jobs["checkpoint"]) == (QUARTERS, QUARTERS)
    assert found.jobs["consolidate"] == 1  # the first time; the next one is due tomorrow
    for job in (
        "retention ephemeral", "retention beyond_max_records", "expiry expired",
        "consolidate duplicates", "index merged", "checkpoint checkpoints",
    ):  # fmt: skip
        assert found.did[job] > 0, job
    if found.bytes:
        url = f"sqlite:///{tmp_path}/left-alone.db"
        alone = await day(url, quarters=QUARTERS, writes=WRITES, most=MOST, maintained=False)
        assert alone.active[-1] > 3 * found.active[-1]
