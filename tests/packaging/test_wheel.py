"""The wheel holds everything that the package needs, and works on its own."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = """
import sys
from hatchling.builders.wheel import WheelBuilder
print(*WheelBuilder(sys.argv[1]).build(directory=sys.argv[2], versions=["standard"]))
"""

# What the script of an installed command does.
COMMAND = """
import sys
from importlib.metadata import entry_points
(command,) = entry_points(group="console_scripts", name=sys.argv.pop(1))
sys.exit(command.load()())
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-c", BUILD, str(ROOT), str(folder)]
    built = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return Path(built.stdout.strip())


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    source = ROOT / "src"
    files = {
        str(path.relative_to(source))
        for path in (source / "recollect").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    with zipfile.ZipFile(wheel) as archive:
        assert files - set(archive.namelist()) == set()
    assert any(name.endswith(".sql") for name in files)


def test_the_command_works_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    command = [sys.executable, "-m", "recollect", "rules", "--json"]
    alone = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    where = "import recollect; print(recollect.__file__)"
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-c", where], cwd=tmp_path, env=alone, check=True, capture_output=True
    )
    told = subprocess.run(  # noqa: S603
        command, cwd=tmp_path, env=alone, check=True, capture_output=True
    )

    assert found.stdout.decode().startswith(str(tmp_path))
    assert len(json.loads(told.stdout)) > 80


def test_the_verifier_works_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    alone = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    where = "import recollect_verify; print(recollect_verify.__file__)"
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-c", where], cwd=tmp_path, env=alone, check=True, capture_output=True
    )
    told = subprocess.run(  # noqa: S603
        [sys.executable, "-c", COMMAND, "recollect-verify", "--help"],
        cwd=tmp_path,
        env=alone,
        check=True,
        capture_output=True,
    )

    assert found.stdout.decode().startswith(str(tmp_path))
    assert b"usage: recollect-verify" in told.stdout
