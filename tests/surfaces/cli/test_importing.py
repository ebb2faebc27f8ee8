"""`memoranda import`: what `export --objects` wrote comes into another scope, and other exports."""

from pathlib import Path

import apsw
import pytest

from tests.surfaces.cli.command import Command


@pytest.fixture
def file(memoranda: Command, tmp_path: Path) -> str:
    """Two versions of one thing, in a file."""
    memoranda.json("remember", "The shop opens at 9", "--id", "a", "--source", "door/1")
    memoranda.json("govern", "revise", "a", "--verdict", "Factual", "--reason", "seen",
                   "--actor", "human:judge")  # fmt: skip
    path = str(tmp_path / "objects.ndjson")
    memoranda("export", "--kind", "objects", "--output", path)
    memoranda("export", "--kind", "log", "--output", path + ".log")
    return path


def test_what_was_exported_comes_into_another_scope(memoranda: Command, file: str) -> None:
    dry = memoranda.json("import", file, "--scope", "b", "--dry-run")
    report = memoranda.json("import", file, "--scope", "b", "--log", file + ".log")

    assert (dry["dryRun"], dry["versions"]) == (True, 2)
    assert [one["version"] for one in report.pop("receipts")] == [1, 2]
    assert report == {
        "dryRun": False, "lines": 2, "objects": 1, "versions": 2, "refused": [], "log": [],
    }  # fmt: skip
    found = memoranda.json("get", "a", "--scope", "b")
    assert (found["data"], found["trust"]) == ("The shop opens at 9", "untrusted")
    assert (found["verdict"], found["version"]) == ("Factual", 2)


def test_lines_that_are_refused_are_named(memoranda: Command, file: str) -> None:
    with Path(file).open("ab") as out:
        out.write(b"{}\n")

    assert "line 3" in memoranda.refused("import", file, "--scope", "b", status=2)
    shown = memoranda.text("import", file, "--scope", "b", "--lenient")
    assert "1 object with 2 versions came in" in shown
    assert "1 line of 3 refused" in shown
    assert memoranda.refused("export", "--kind", "objects", "--log", status=2)


def test_a_dry_run_makes_neither_a_database_nor_a_scope(
    memoranda: Command, file: str, tmp_path: Path
) -> None:
    elsewhere = f"sqlite:///{tmp_path}/elsewhere.db"

    dry = memoranda.json("import", file, "--dry-run", "-d", elsewhere)
    in_another_scope = memoranda.json("import", file, "--dry-run", "--scope", "b")

    assert dry["versions"] == in_another_scope["versions"] == 2
    assert not list(tmp_path.glob("elsewhere.db*"))
    assert "no scope 'b'" in memoranda.refused("list", "--scope", "b", status=4)


def test_a_dry_run_is_a_read_and_waits_for_nobody_who_writes(memoranda: Command, file: str) -> None:
    memoranda.json("remember", "Here already", "--scope", "b")
    writer = apsw.Connection("memoranda.db")
    writer.execute("BEGIN IMMEDIATE")

    dry = memoranda.json("import", file, "--dry-run", "--scope", "b")
    gone = memoranda.json("erase", "a", "--reason", "asked", "--dry-run")

    writer.close()
    assert (dry["versions"], gone["counts"]["versions"]) == (2, 2)


def test_the_command_brings_it_in_and_says_what_it_did(memoranda: Command, tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text('{"text": "Kim moved"}\n"A text"\n3\nno json\n')

    assert "1 refused" in memoranda.text("import", str(file), "--dry-run")
    assert "line 4" in memoranda.refused("import", str(file), status=2)
    shown = memoranda.json("import", str(file), "--lenient", "--from", "jsonl")
    assert (shown["new"], shown["format"], len(shown["refused"])) == (3, "jsonl", 1)
    assert "Kim moved" in memoranda.text("list")
    assert "no file" in memoranda.refused("import", "nowhere.json", status=2)
