"""The command in this process: its own folder, an environment that says nothing."""

import os
from pathlib import Path

import pytest

from tests.surfaces.cli.command import Command


@pytest.fixture
def memoranda(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, working in an empty folder beside which there are others."""
    for name in [one for one in os.environ if one.startswith("MEMORANDA_")]:
        monkeypatch.delenv(name)
    for name in ("data", "keys", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "data")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("MEMORANDA_ACTOR", "human:7")
    monkeypatch.setenv(
        "MEMORANDA_MEANING", "off"
    )  # what is found does not depend on what is installed
    return Command(tmp_path, monkeypatch)
