"""A full disk, in short form."""

from pathlib import Path

import pytest

from tests.campaigns.adversity.full import NOT_POSSIBLE, Kind, fill


@pytest.mark.parametrize("kind", ["limit", "tmpfs"])
def test_a_full_disk_is_told_in_words_and_nothing_is_lost(tmp_path: Path, kind: Kind) -> None:
    counts = fill(tmp_path, 1, kind)
    if counts[NOT_POSSIBLE]:
        pytest.skip("the kernel lets us mount no tmpfs; the limit on files shows the same")

    assert counts.broken == {}, counts.texts
    assert counts["writes until it was full"] > 0
    assert counts["writes refused"] > 0
    if kind == "tmpfs":
        assert counts["told that the disk is full"] == counts["writes refused"]
