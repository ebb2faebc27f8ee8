"""``memoranda doctor``: each thing that can be wrong is named, with what to do."""

import re
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as true_version
from pathlib import Path
from typing import Any

import pytest

import memoranda.surfaces
from memoranda.surfaces.cli import doctor
from tests.surfaces.cli.command import Command

SOURCE = Path(memoranda.surfaces.__file__).parents[1]


def found(command: Command, *arguments: str, status: int = 0) -> dict[str, dict[str, Any]]:
    """What the doctor says, by what it is about; of several, the last."""
    told = command.json("doctor", *arguments, status=status)
    return {one["about"]: one for one in told}


def test_it_knows_every_variable_that_is_read() -> None:
    texts = [path.read_text() for path in SOURCE.rglob("*.py") if path.name != "doctor.py"]
    read = {name for text in texts for name in re.findall(r"MEMORANDA_[A-Z_]*[A-Z]\b", text)}

    assert read == doctor.VARIABLES


def test_a_sound_installation_has_no_problem_and_nothing_is_made(memoranda: Command) -> None:
    told = memoranda.text("doctor")

    assert "There is no memoranda.db yet" in " ".join(told.split())
    assert told.endswith("Nothing is wrong.\n")
    assert list(Path().iterdir()) == []


def test_a_database_is_looked_at_scope_by_scope(memoranda: Command) -> None:
    memoranda("remember", "The customer prefers email")
    Path("memoranda.db").chmod(0o644)

    told = found(memoranda)

    assert told["file"]["level"] == "warning"
    assert told["file"]["remedy"] == "Run: chmod 600"
    assert told["database"]["says"] == "It answers, and has 1 scope."
    assert told["scope default"]["says"] == "2 entries, with a checkpoint"


def test_what_a_scope_rests_on_and_was_changed_is_a_problem(memoranda: Command) -> None:
    memoranda("remember", "The customer prefers email")
    content = Path("memoranda.db").read_bytes()
    Path("memoranda.db").write_bytes(content.replace(b"prefers email", b"prefers a fax"))
    memoranda("verify")  # logs the break

    told = found(memoranda, status=4)

    assert told["scope default"]["level"] == "problem"


def test_a_variable_that_nothing_reads_is_named(memoranda: Command) -> None:
    memoranda.setenv("MEMORANDA_DATABSE_URL", "memory.db")

    line = memoranda.json("doctor")
    (told,) = [one for one in line if one["level"] == "warning"]

    assert told["says"] == "MEMORANDA_DATABSE_URL is not read by anything."
    assert told["remedy"] == "Did you mean MEMORANDA_DATABASE_URL?"


@pytest.mark.parametrize(
    ("versions", "level", "says"),
    [
        ({"orjson": "3.1"}, "problem", "orjson 3.1 is older than 3.11."),
        ({"psycopg": None}, "note", "psycopg is not installed."),
        ({"cryptography": "44.9"}, "problem", "cryptography 44.9 is older than 45."),
    ],
)
def test_packages_that_are_missing_or_too_old_are_named(
    memoranda: Command,
    monkeypatch: pytest.MonkeyPatch,
    versions: dict[str, str | None],
    level: str,
    says: str,
) -> None:
    def version(name: str) -> str:
        if name in versions:
            if (known := versions[name]) is None:
                raise PackageNotFoundError(name)
            return known
        return true_version(name)

    monkeypatch.setattr(doctor, "version", version)

    told = memoranda.json("doctor", status=4 if level == "problem" else 0)

    (named,) = [one for one in told if one["says"] == says]
    assert named["level"] == level
    assert named["remedy"].startswith("Run: pip install 'memoranda")


def test_what_can_not_be_reached_is_a_problem_with_a_remedy(
    memoranda: Command, tmp_path: Path
) -> None:
    Path("junk.db").write_text("no database at all, but long enough to be read as one" * 20)
    memoranda.setenv("MEMORANDA_SIGNING_KEY_FILE", tmp_path / "nowhere")

    junk = found(memoranda, "-d", "junk.db", status=4)
    folder = found(memoranda, "-d", "no/such/folder/m.db", status=4)
    server = found(memoranda, "-d", "http://127.0.0.1:1", status=4)

    assert junk["database"]["level"] == junk["signing"]["level"] == "problem"
    assert folder["file"]["remedy"] == "Make it."
    assert server["server"]["remedy"] == "Is memoranda serve running?"


def test_a_network_disk_and_a_full_one_are_named(
    memoranda: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_file_system", lambda _: "nfs4")
    monkeypatch.setattr(doctor, "LEAST_FREE", 2**63)

    told = found(memoranda, status=4)

    assert told["folder"]["remedy"] == "Use a local disk, or PostgreSQL."
    assert told["disk"]["level"] == "warning"


def test_a_role_that_passes_by_the_walls_is_a_warning(
    memoranda: Command, postgres_url: str
) -> None:
    memoranda("remember", "The customer prefers email", "-d", postgres_url)

    told = memoranda.json("doctor", "-d", postgres_url)

    assert any("a superuser" in one["says"] for one in told if one["level"] == "warning")
