"""The vectors that are kept here are those of shared/data, where that stands beside the repo."""

from pathlib import Path

import pytest

from tests.worlds.making import DATA

SHARED = Path(__file__).parents[3] / "shared" / "data" / "vectors"


@pytest.mark.parametrize("name", ["proposal-states", "snapshot-hash", "tribunal"])
def test_our_copies_are_the_shared_vectors(name: str) -> None:
    shared = SHARED / f"{name}.json"
    if not shared.is_file():
        pytest.skip(f"the shared vectors are not here: {shared}")

    assert (DATA / f"{name}.json").read_bytes() == shared.read_bytes()
