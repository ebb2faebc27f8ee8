"""The command in this process: its own folder, an environment that says nothing."""

import os
from pathlib import Path

import pytest

from tests.cli.command import Command


@pytest.fixture
def recollect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, working in an empty folder beside which there are others."""
    for name in [one for one in os.environ if one.startswith("RECOLLECT_")]:
        monkeypatch.delenv(name)
    for name in ("data", "keys", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "data")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("RECOLLECT_ACTOR", "human:7")
    return Command(tmp_path, monkeypatch)
