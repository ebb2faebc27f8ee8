"""The Korean sentences of shared/data, where that folder stands beside the repo."""

import csv
from pathlib import Path

import pytest

PAIRS = Path(__file__).parents[3] / "shared" / "data" / "korean" / "chatbot-dev.csv"


@pytest.fixture(scope="session")
def sentences() -> list[str]:
    """The different sentences of the Korean pairs, or a skipped test."""
    if not PAIRS.is_file():
        pytest.skip(f"the Korean pairs are not here: {PAIRS}")
    with PAIRS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return list(dict.fromkeys(row[column] for row in rows for column in ("Q", "A")))
