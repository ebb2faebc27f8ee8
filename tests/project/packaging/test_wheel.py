"""The wheel holds everything that the package needs, and works on its own."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import (
    Distribution,
    PathDistribution,
    distribution,
    packages_distributions,
)
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.project.packaging.building import built

ROOT = Path(__file__).parents[3]
# What the script of an installed command does.
COMMAND = """
import sys
from importlib.metadata import entry_points
(command,) = entry_points(group="console_scripts", name=sys.argv.pop(1))
sys.exit(command.load()())
"""

# Before it: where these modules are not installed.
ABSENT = """
import sys
sys.modules.update(dict.fromkeys(sys.argv.pop(1).split()))
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return built(ROOT, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def wheel(made: tuple[Path, Path]) -> Path:
    return made[0]


def test_wheel_and_source_archive_are_the_same_bytes_whoever_builds_them(
    made: tuple[Path, Path], tmp_path: Path
) -> None:
    # What the archive holds, with other times, is another folder's checkout: build from that.
    shutil.unpack_archive(made[1], tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    for path in source.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))

    again = built(source, tmp_path / "again")

    assert [one.name for one in again] == [one.name for one in made]
    assert [one.read_bytes() for one in again] == [one.read_bytes() for one in made]


def test_types_and_licence_are_shipped(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()

    assert "memoranda/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def pinned() -> dict[str, list[Version]]:
    """Every version that the requirement files pin."""
    found: dict[str, list[Version]] = {}
    for file in (ROOT / "requirements").glob("*.txt"):
        for name, number in re.findall(r"^([\w.-]+)==([\w.]+)", file.read_text(), re.MULTILINE):
            found.setdefault(canonicalize_name(name), []).append(Version(number))
    return found


def test_every_requirement_and_extra_is_met_by_what_is_pinned(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    (about,) = tmp_path.glob("memoranda-*.dist-info")
    needed = [Requirement(line) for line in PathDistribution(about).requires or ()]
    versions = pinned()

    assert len(needed) > 20
    unmet = [
        str(one)
        for one in needed
        if not any(one.specifier.contains(v) for v in versions.get(canonicalize_name(one.name), ()))
    ]
    assert [one for one in unmet if not one.startswith("model2vec")] == []  # pinned by nobody


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    source = ROOT / "src"
    files = {
        str(path.relative_to(source))
        for path in (source / "memoranda").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    with zipfile.ZipFile(wheel) as archive:
        assert files - set(archive.namelist()) == set()
    assert any(name.endswith(".sql") for name in files)


def test_the_command_works_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    command = [sys.executable, "-m", "memoranda", "rules", "--json"]
    alone = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    where = "import memoranda; print(memoranda.__file__)"
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-c", where], cwd=tmp_path, env=alone, check=True, capture_output=True
    )
    told = subprocess.run(  # noqa: S603
        command, cwd=tmp_path, env=alone, check=True, capture_output=True
    )

    assert found.stdout.decode().startswith(str(tmp_path))
    assert len(json.loads(told.stdout)) > 80


def test_the_command_needs_no_extra(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    (about,) = (tmp_path / "installed").glob("memoranda-*.dist-info")
    brought = brought_by(PathDistribution(about)) | {"memoranda"}
    absent = [
        module
        for module, packages in packages_distributions().items()
        if not brought & set(map(canonicalize_name, packages))
    ]
    assert {"psycopg", "yaml", "cryptography", "httpx2", "pytest"} <= set(absent)
    alone = [sys.executable, "-c", ABSENT + COMMAND, " ".join(absent), "memoranda"]
    database = f"sqlite:///{tmp_path / 'm.db'}"

    def run(*arguments: str) -> str:
        return subprocess.run(  # noqa: S603
            [*alone, *arguments, "--database", database],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(tmp_path / "installed")},
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    run("remember", "The customer prefers a call")
    assert "The customer prefers a call" in run("recall", "customer", "--top-k", "1")
    assert "sound" in run("verify")


def brought_by(package: Distribution) -> set[str]:
    """The packages that a base install brings, and what these need in turn."""
    found, waiting = set[str](), [package]
    while waiting:
        for line in waiting.pop().requires or ():
            needed = Requirement(line)
            applies = needed.marker is None or needed.marker.evaluate({"extra": ""})
            name = canonicalize_name(needed.name)
            if applies and name not in found:
                found.add(name)
                waiting.append(distribution(needed.name))
    return found


def test_the_verifier_works_from_the_wheel_alone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    alone = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    where = "import memoranda_verify; print(memoranda_verify.__file__)"
    found = subprocess.run(  # noqa: S603
        [sys.executable, "-c", where], cwd=tmp_path, env=alone, check=True, capture_output=True
    )
    told = subprocess.run(  # noqa: S603
        [sys.executable, "-c", COMMAND, "memoranda-verify", "--help"],
        cwd=tmp_path,
        env=alone,
        check=True,
        capture_output=True,
    )

    assert found.stdout.decode().startswith(str(tmp_path))
    assert b"usage: memoranda-verify" in told.stdout
