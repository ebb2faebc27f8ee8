"""Databases to attack."""

from pathlib import Path

import pytest

from tests.tampering.attacked import Attacked
from tests.tampering.tables import PostgresTables, SqliteTables


@pytest.fixture(
    params=[
        pytest.param("sqlite", marks=pytest.mark.backend("sqlite")),
        pytest.param("postgres", marks=pytest.mark.backend("postgres")),
    ]
)
def attacked(request: pytest.FixtureRequest, tmp_path: Path) -> Attacked:
    if request.param == "sqlite":
        path = f"{tmp_path}/memory.db"
        return Attacked(f"sqlite:///{path}", lambda: SqliteTables(path))
    url = str(request.getfixturevalue("postgres_url"))
    return Attacked(url, lambda: PostgresTables(url))
