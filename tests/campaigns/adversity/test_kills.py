"""kill -9, in short form: `make adversity` kills a thousand."""

from pathlib import Path

import pytest

from tests.campaigns.adversity.chance import Random
from tests.campaigns.adversity.kills import POINTS, Kills


@pytest.mark.parametrize("seed", [1, 2])
def test_writers_that_are_killed_lose_no_acknowledged_write_and_double_none(
    tmp_path: Path, seed: int
) -> None:
    counts = Kills(tmp_path, Random(seed)).run(3)

    assert counts.broken == {}, counts.texts
    # One may have made all its calls before its time came.
    assert counts["kills"] + counts["ended by themselves"] == 6
    assert counts["kills"] > 0
    assert counts["acknowledged"] > 0


def test_at_every_named_point_a_writer_may_die(tmp_path: Path) -> None:
    kills = Kills(tmp_path, Random(1), points=list(POINTS))
    counts = kills.run((len(POINTS) + 1) // 2)

    assert counts.broken == {}, counts.texts
    assert all(counts[f"killed {point}"] for point in POINTS)
