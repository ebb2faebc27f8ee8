"""A stranger's first minutes: README, tutorial and demo, from a fresh clone.

The suite clones what is committed and uses the packages that are there. `make clone` also sets the
clone up as a stranger would, follows the whole tutorial, and says how long each took.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.patience import PATIENCE
from tests.project.docs import walking
from tests.project.docs.test_snippets import SNIPPET

ROOT = Path(__file__).parents[3]
IS_WHOLE = os.environ.get("MEMORANDA_CLONE") == "whole"
SETUP_S = 1800.0


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone itself, but an archive of the source")
    folder = tmp_path_factory.mktemp("stranger") / "memoranda"
    run("git", "clone", "--quiet", str(ROOT), str(folder), cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def python(clone: Path) -> str:
    """The interpreter of the clone; in the short form ours, which imports the clone's source."""
    if not IS_WHOLE:
        return sys.executable
    with timed("make setup"):
        run("make", "setup", cwd=clone, patience=SETUP_S)
    return str(clone / ".venv" / "bin" / "python")


def run(*command: str, cwd: Path, source: Path | None = None, patience: float = PATIENCE) -> str:
    given = {name: one for name, one in os.environ.items() if not name.startswith("MEMORANDA_")}
    given |= {"MEMORANDA_MEANING": "off", "COLUMNS": "80", "NO_COLOR": "1"}
    if source is not None and not IS_WHOLE:
        given["PYTHONPATH"] = str(source / "src")
    done = subprocess.run(  # noqa: S603 - our own commands
        command, cwd=cwd, env=given, check=False, capture_output=True, text=True, timeout=patience
    )
    assert (done.returncode, done.stderr if source else "") == (0, ""), done.stderr
    return done.stdout


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Say how long it took; the suite keeps that to itself."""
    start, before = time.monotonic(), os.times()
    yield
    after = os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    sys.stdout.write(f"\n{what}: {time.monotonic() - start:.1f} s, {cpu:.1f} s of CPU\n")


@pytest.mark.parametrize("name", ["README.md", "README.ko.md"])
def test_what_the_readme_shows_first_runs(
    clone: Path, python: str, tmp_path: Path, name: str
) -> None:
    shown = SNIPPET.search((clone / name).read_text())
    assert shown is not None

    with timed(f"first recall, {name}"):
        printed = run(python, "-c", shown["code"], cwd=tmp_path, source=clone)

    assert printed == shown["output"]


def test_the_demo_runs(clone: Path, python: str, tmp_path: Path) -> None:
    with timed("memoranda demo"):
        told = run(python, "-m", "memoranda", "demo", cwd=tmp_path, source=clone)

    assert "the carrier lost it" in told
    assert list(tmp_path.iterdir()) == []


def test_the_commands_of_the_readme_are_targets_of_make(clone: Path) -> None:
    commands = re.findall(r"^make (\w+)", (clone / "README.md").read_text(), re.MULTILINE)

    assert commands == ["run", "test"]
    for command in commands:
        assert run("make", "--dry-run", command, cwd=clone)


@pytest.mark.skipif(not IS_WHOLE, reason="make clone: the page itself is followed by the suite")
def test_the_tutorial_is_followed(
    clone: Path, python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walking, "_BIN", str(Path(python).parent))
    with timed("the tutorial, as a machine types it"):
        done = list(walking.walked((clone / "docs" / "tutorial.md").read_text(), tmp_path))

    assert [typed.step.line for typed in done if not typed.is_as_said()] == []
