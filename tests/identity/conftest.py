"""The vectors: our own, always; those of shared/data where that folder stands beside the repo."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

OURS = Path(__file__).parent / "vectors"
SHARED = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture
def vectors() -> Callable[[str], Any]:
    """Read one of our own files of vectors (`vectors/make.mjs` wrote them)."""
    return lambda name: json.loads((OURS / f"{name}.json").read_bytes())


@pytest.fixture
def shared() -> Callable[[str], Path]:
    """A folder of shared/data, or a skipped test."""

    def folder(name: str) -> Path:
        if not (SHARED / name).is_dir():
            pytest.skip(f"the shared vectors are not here: {SHARED / name}")
        return SHARED / name

    return folder
