"""Rooms load when they are used: counted in modules, in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

DRIVERS = {"apsw", "cryptography", "httpx2", "numpy", "psycopg", "pytest", "yaml"}
FRAMEWORKS = {"click", "pydantic", "rich", "typer"}
LOADED = "import sys; {}; print(*sys.modules)"


def loaded(code: str, folder: Path) -> set[str]:
    """The modules of a process that ran this code."""
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", LOADED.format(code)],
        capture_output=True,
        check=True,
        text=True,
        cwd=folder,
        timeout=PATIENCE,
    )
    return set(done.stdout.split("\n")[-2].split())


def ours(modules: set[str]) -> set[str]:
    """The rooms of memoranda that were entered, but for the first."""
    rooms = {".".join(name.split(".")[:2]) for name in modules if name.startswith("memoranda.")}
    return rooms - {"memoranda.kernel"}


PUBLIC = ("types", "policies", "selectors", "models", "formats")


@pytest.mark.parametrize("module", ["", *(f".{name}" for name in PUBLIC)])
def test_to_import_a_public_module_loads_no_room_and_no_dependency(
    module: str, tmp_path: Path
) -> None:
    found = loaded(f"import memoranda{module}", tmp_path)

    assert ours(found) <= {f"memoranda{module}"}
    assert found.isdisjoint(DRIVERS | FRAMEWORKS)


def test_a_name_loads_what_it_stands_in_and_not_the_others(tmp_path: Path) -> None:
    found = loaded("from memoranda.types import JsonValue, ActorRef", tmp_path)

    assert ours(found) == {"memoranda.types"}


def test_a_handle_loads_no_driver_but_its_own_and_no_framework_of_the_command_line(
    tmp_path: Path,
) -> None:
    code = "import memoranda; memoranda.connect_sync('sqlite:///m.db').close()"

    found = loaded(code, tmp_path)

    assert "apsw" in found
    assert found.isdisjoint(DRIVERS - {"apsw"})
    assert found.isdisjoint(FRAMEWORKS - {"pydantic"})
    assert not any(name.startswith("memoranda.surfaces") for name in found)


def test_help_loads_no_command_and_no_room(tmp_path: Path) -> None:
    code = "sys.argv[1:] = ['--help']; from memoranda.surfaces.cli.main import app"
    found = loaded(f"{code}; app(standalone_mode=False)", tmp_path)

    assert ours(found) <= {"memoranda.errors", "memoranda.formats", "memoranda.surfaces",
                           "memoranda.app"}  # fmt: skip
    assert found.isdisjoint(DRIVERS | {"pydantic"})
    assert "memoranda.surfaces.cli.command" not in found
