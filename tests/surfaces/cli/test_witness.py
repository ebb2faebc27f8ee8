"""``memoranda witness`` and ``verify --witness``: what is said, and with which exit code."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from memoranda.ledger.checkpoint import parse_checkpoint
from tests.surfaces.cli.command import Command
from tests.witnesses import LOG_KEY, WitnessFiles, WitnessProcess


@pytest.fixture
def files(tmp_path: Path) -> WitnessFiles:
    return WitnessFiles.make(tmp_path / "witness")


@pytest.fixture
def running(files: WitnessFiles) -> Iterator[WitnessProcess]:
    process = WitnessProcess(files)
    yield process
    process.end()


@pytest.fixture
def witness(running: WitnessProcess) -> str:
    """How the witness is named: its URL, and its key."""
    return f"{running.anchor.url}#{running.anchor.key}"


@pytest.fixture
def sealed(memoranda: Command, witness: str) -> Command:
    """A database whose checkpoints are signed and cosigned."""
    memoranda.setenv("MEMORANDA_SIGNING_KEY", LOG_KEY.secret_text())
    memoranda.setenv("MEMORANDA_WITNESSES", witness)
    memoranda.json("remember", "one")
    memoranda.environment.delenv("MEMORANDA_WITNESSES")
    return memoranda


def checks(found: dict[str, object], scope: int = 0) -> list[str]:
    scopes: list[dict[str, dict[str, dict[str, int]]]] = found["scopes"]  # type: ignore[assignment]
    return list(scopes[scope]["damage"]["counts"])


def test_the_witness_is_asked_and_its_signature_is_named(sealed: Command, witness: str) -> None:
    found = sealed.json("verify", "--witness", witness, "--quorum", "1")

    assert found["scopes"][0]["keptOutside"] == 2
    assert [name.partition("+")[0] for name in found["scopes"][0]["signedBy"]] == ["w1.example"]
    assert found["anchors"][0]["name"] == witness.partition("#")[0]
    assert "The witness http://127.0.0.1" in sealed.text("verify", "--witness", witness)
    keyless = sealed.text("verify", "--witness", witness.partition("#")[0])
    assert "of no known key" in keyless


def test_a_backup_that_is_passed_off_is_found_and_exits_with_5(
    sealed: Command, witness: str
) -> None:
    sealed.json("backup", "take", "old.db")
    sealed.setenv("MEMORANDA_WITNESSES", witness)
    sealed.json("remember", "two")

    found = sealed.json("verify", "-d", "old.db", status=5)
    assert checks(found) == ["anchor"]
    assert "rolled_back" in found["scopes"][0]["damage"]["found"][0]["why"]
    assert sealed.json("verify", "--quorum", "1")["sound"]


def test_a_database_that_was_swapped_is_found_by_the_origin_of_its_directory(
    sealed: Command, witness: str
) -> None:
    origin = sealed.json("verify")["directory"]["origin"]
    assert sealed.json("verify", "--witness", witness, "--origin", origin)["sound"]
    Path("memoranda.db").unlink()
    sealed.json("remember", "another")

    found = sealed.json("verify", "--witness", witness, "--origin", origin, status=5)
    assert found["damage"]["counts"] == {"anchor": 1}
    assert sealed.json("verify", "--witness", witness)["sound"], "it knows nothing of this one"
    assert checks(sealed.json("verify", "--witness", witness, "--quorum", "1", status=5)) == [
        "signature"
    ]


def test_a_witness_that_is_down_is_no_success_unless_there_are_enough(
    sealed: Command, witness: str, tmp_path: Path
) -> None:
    other = WitnessFiles.make(tmp_path / "other", name="w2.example").key
    both = ("--witness", witness, "--witness", f"http://127.0.0.1:1#{other}")

    found = sealed.json("verify", *both, status=4)
    assert [anchor["reachable"] for anchor in found["anchors"]] == [True, False]
    assert sealed.json("verify", *both, "--quorum", "1")["sound"]
    assert checks(sealed.json("verify", *both, "--quorum", "2", status=5)) == ["signature"]


def test_writing_goes_on_while_a_witness_is_down(memoranda: Command, files: WitnessFiles) -> None:
    memoranda.setenv("MEMORANDA_WITNESSES", f"http://127.0.0.1:1#{files.key}")

    result = memoranda("remember", "one")

    assert result.exit_code == 0
    assert "can't be reached" in result.stderr
    assert "0 cosignatures, not 1" in result.stderr
    (status,) = memoranda.json("status")
    assert list(status["unreachable"]) == ["http://127.0.0.1:1"]


def test_wrong_use_is_said_in_a_line(
    memoranda: Command, files: WitnessFiles, running: WitnessProcess
) -> None:
    memoranda.json("remember", "one")
    url, named = running.anchor.url, {name: str(path) for name, path in files.named.items()}

    for wrong in (
        ("--witness", "nowhere"),
        ("--witness", f"{url}#key"),
        ("--witness", f"{url}#{LOG_KEY.key}"),
        ("--witness", url, "--quorum", "1"),
        ("--quorum", "1"),
    ):
        memoranda.refused("verify", *wrong, status=2)
    of = ("--key-file", named["key_file"], "--memory", named["memory"])
    memoranda.refused("witness", "--logs", "nowhere", *of, status=2)
    Path("logs").write_text("memoranda/\n")
    assert "line 1" in memoranda.refused("witness", "--logs", "logs", *of, status=2)
    serving = ("witness", "--logs", named["logs"], "--memory", "w.db")
    Path("log.key").write_text(f"{LOG_KEY.secret_text()}\n")
    Path("log.key").chmod(0o600)
    assert "no witness's" in memoranda.refused(*serving, "--key-file", "log.key", status=2)
    port = url.rpartition(":")[2]
    key = ("--key-file", named["key_file"])
    assert port in memoranda.refused(*serving, *key, "--port", port, status=2)
    shutil.copy("memoranda.db", "theirs.db")
    theirs = ("witness", "--logs", named["logs"], "--memory", "theirs.db")
    memoranda.refused(*theirs, *key, status=4)


def test_the_key_of_a_witness_can_not_sign_checkpoints(
    memoranda: Command, files: WitnessFiles
) -> None:
    made = memoranda.json(
        *("keys", "signer", "create", "--witness", "--name", "w3.example"),
        *("--key-file", "../keys/w3", "--keyring", "../keys/w3.ring"),
    )
    memoranda.setenv("MEMORANDA_SIGNING_KEY_FILE", files.folder / "key")

    assert made["key"].startswith("w3.example+")
    assert "witness" in memoranda.refused("remember", "one", status=2)


def test_what_it_cosigned_stands_in_the_notes_of_the_database(sealed: Command) -> None:
    (status,) = sealed.json("status")

    note = parse_checkpoint(status["checkpoint"]["note"]).note
    assert [one.name for one in note.signatures] == [LOG_KEY.name, "w1.example"]
