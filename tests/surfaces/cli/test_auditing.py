"""``memoranda verify``, ``status``, ``export``, ``validate``, ``audit`` and ``policy``."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import apsw
import pytest

import memoranda as library
from memoranda.kernel.json import parse
from memoranda.ledger.policy import POLICY_KINDS
from memoranda_verify import main as verify_export
from tests.campaigns.tampering.tables import SqliteTables
from tests.surfaces.cli import forger
from tests.surfaces.cli.command import Command

RECEIPT = ["id", "version", "entryHash", "size", "created"]
VERIFIED = ["sound", "scopes", "directory", "damage", "anchors", "cannotTell"]
PART = [
    *("scope", "origin", "sound", "size", "root", "erased", "versions", "indexed", "damage"),
    *("checkpoints", "signedBy", "keptOutside", "recorded"),
]
STATUS = [
    "scope", "origin", "size", "checkpoint", "policies", "breaks", "anchors", "unreachable",
]  # fmt: skip


@pytest.fixture
def anchored(memoranda: Command) -> Command:
    """A database of two scopes whose checkpoints go to an anchor."""
    memoranda.setenv("MEMORANDA_ANCHOR_FILE", memoranda.folder / "elsewhere" / "anchor")
    memoranda.json("remember", "Refunds above 500 EUR need a manager", "--id", "r")
    memoranda.json("remember", "고객", "--id", "k", "--scope", "한국")
    return memoranda


def without_anchor(command: Command) -> None:
    command.environment.delenv("MEMORANDA_ANCHOR_FILE")


# ----------------------------------------------------------------------------- verify


def test_a_sound_database_is_exit_0_and_every_part_is_told(anchored: Command) -> None:
    found = anchored.json("verify")

    assert list(found) == VERIFIED
    assert [list(part) for part in (*found["scopes"], found["directory"])] == [PART] * 3
    assert [part["scope"] for part in found["scopes"]] == ["default", "한국"]
    assert [part["size"] for part in found["scopes"]] == [2, 2]
    assert [part["keptOutside"] for part in found["scopes"]] == [2, 2]
    assert found["scopes"][0]["checkpoints"] == {"unsigned": 1}
    assert found["anchors"] == [
        {"name": str(anchored.folder / "elsewhere" / "anchor"), "reachable": True, "why": None}
    ]
    assert (found["sound"], found["cannotTell"]) == (True, [])
    shown = " ".join(anchored.text("verify").split())
    assert "unsigned checkpoints" in shown
    assert "was read." in shown
    assert shown.endswith("Sound: nothing that was looked at is damaged.")


def test_without_an_outside_checkpoint_it_says_what_it_can_not_tell(anchored: Command) -> None:
    without_anchor(anchored)

    (sentence,) = anchored.json("verify")["cannotTell"]
    assert "'default', '한국'" in sentence
    assert "written anew as a whole" in sentence
    assert sentence in " ".join(anchored.text("verify").split())


def test_what_came_after_the_newest_outside_checkpoint_is_counted(anchored: Command) -> None:
    without_anchor(anchored)
    anchored.json("remember", "later")
    anchored.setenv("MEMORANDA_ANCHOR_FILE", anchored.folder / "elsewhere" / "anchor")

    (sentence,) = anchored.json("verify")["cannotTell"]
    assert sentence.startswith("The last 1 entry of 'default' came after")


def test_a_forged_entry_is_named_with_its_place_and_is_exit_5(anchored: Command) -> None:
    forger.edit(anchored.folder / "data" / "memoranda.db", "500 EUR", "900 EUR")

    found = anchored.json("verify", status=5)
    damage = found["scopes"][0]["damage"]
    assert damage["counts"]["body"] == 1
    assert [list(one) for one in damage["found"][:1]] == [["check", "seq", "why"]]
    assert ("body", 1) in [(one["check"], one["seq"]) for one in damage["found"]]
    assert not found["sound"]
    assert found["scopes"][1]["sound"]
    shown = anchored.text("verify", status=5)
    assert "Damage in default, the first of each kind:" in shown
    assert "DAMAGED" in shown


def test_a_consistent_rewrite_is_only_caught_by_what_was_kept_outside(anchored: Command) -> None:
    without_anchor(anchored)
    anchor = anchored.folder / "elsewhere" / "anchor"
    note = anchored.folder / "elsewhere" / "note"
    note.write_text(anchored.json("status")[0]["checkpoint"]["note"])
    assert anchored.json("verify", "--checkpoint", str(note))["sound"]
    assert "agrees, at 2 entries." in anchored.text("verify", "--checkpoint", str(note))
    file = anchored.folder / "data" / "memoranda.db"
    forger.edit(file, "500 EUR", "900 EUR")
    forger.rehash(file)

    assert anchored.json("verify")["sound"]
    for kept in (note, anchor):
        found = anchored.json("verify", "--checkpoint", str(kept), status=5)
        (damage,) = found["scopes"][0]["damage"]["found"]
        assert damage["check"] == "anchor"
        assert "forked" in damage["why"]
    assert "disagrees" in anchored.text("verify", "--checkpoint", str(anchor), status=5)


def test_an_old_backup_is_noticed(anchored: Command) -> None:
    file = anchored.folder / "data" / "memoranda.db"
    shutil.copy(file, anchored.folder / "backup.db")
    anchored.json("remember", "later")
    shutil.copy(anchored.folder / "backup.db", file)

    found = anchored.json("verify", status=5)
    assert "rolled_back" in found["scopes"][0]["damage"]["found"][0]["why"]


def test_a_scope_that_vanished_is_noticed(anchored: Command) -> None:
    connection = apsw.Connection(str(anchored.folder / "data" / "memoranda.db"))
    connection.execute("DELETE FROM journals WHERE scope = '한국'")
    connection.close()

    found = anchored.json("verify", status=5)
    assert found["damage"]["counts"] == {"directory": 1}
    assert "the database as a whole" in anchored.text("verify", status=5)


def test_an_anchor_that_can_not_be_read_is_exit_4_after_the_report(anchored: Command) -> None:
    (anchored.folder / "elsewhere" / "anchor").unlink()

    found = anchored.json("verify", status=4)
    assert found["sound"]
    assert not found["anchors"][0]["reachable"]
    assert "could not be read" in anchored.text("verify", status=4)
    assert "not reachable" in anchored.text("status")


def test_some_scopes_are_verified_alone(anchored: Command) -> None:
    found = anchored.json("verify", "--scope", "한국")

    assert ([part["scope"] for part in found["scopes"]], found["directory"]) == (["한국"], None)
    anchored.refused("verify", "--scope", "nowhere", status=4)


def test_what_is_no_checkpoint_is_refused(anchored: Command) -> None:
    file = anchored.folder / "note"
    file.write_text("hello\n")
    assert "note" in anchored.refused("verify", "--checkpoint", str(file), status=2)
    anchored.refused("verify", "--checkpoint", "nowhere", status=2)
    file.write_text(anchored.json("status")[0]["checkpoint"]["note"])
    said = anchored.refused("verify", "--scope", "한국", "--checkpoint", str(file), status=2)
    assert "'default'" in said


# ----------------------------------------------------------------------------- status


def test_the_status_of_each_scope_is_told(anchored: Command) -> None:
    first, second = anchored.json("status")

    assert list(first) == STATUS
    assert (first["scope"], second["scope"]) == ("default", "한국")
    assert first["size"] == 2
    assert first["checkpoint"]["size"] == 2
    assert first["checkpoint"]["standing"] == "unsigned"
    assert [one["version"] for one in first["policies"].values()] == [1] * len(POLICY_KINDS)
    assert first["breaks"] == {}
    assert first["anchors"][0]["verdict"] == "agrees"
    assert "agrees, 1 checkpoint compared" in " ".join(anchored.text("status").split())
    assert [one["scope"] for one in anchored.json("status", "--scope", "한국")] == ["한국"]


async def opened_with(model: str) -> None:
    models = {"embedder": model}
    async with library.open("sqlite:///memoranda.db", scope="default", models=models) as memory:
        await memory.recall("anything", top_k=1)


def test_a_break_is_shown_and_a_recorded_audit_lifts_it(anchored: Command) -> None:
    for model in ("e5/1", "e5/2"):
        asyncio.run(opened_with(model))

    assert "BREAK" in anchored.text("status")
    assert len(anchored.json("status")[0]["breaks"]) == 1
    said = anchored.refused("list", "--factual", status=3)
    assert "memoranda govern record-audit" in said

    receipt = anchored.json(
        "govern", "record-audit", "audits/2026-11", "--reason", "compared answers"
    )
    assert list(receipt) == RECEIPT
    assert anchored.json("status")[0]["breaks"] == {}
    assert anchored.listed("--factual") == []
    anchored.refused("govern", "record-audit", "audits/2026-11", "--reason", " ", status=2)


@pytest.mark.rule("GOV-BREAK")
def test_damage_is_on_record_and_a_re_audit_accepts_it_by_its_entry(memoranda: Command) -> None:
    memoranda.json("remember", "the limit is 100 euro", "--id", "limit", "--source", "doc/1")
    memoranda.json("remember", "the price is 20 euro", "--id", "price", "--source", "doc/2")
    judged = ("--reason", "looked it up", "--verdict", "Factual", "--actor", "human:judge")
    for id in ("limit", "price"):
        memoranda.json("approve", id, *judged)
    with SqliteTables("memoranda.db") as tables:
        (row,) = [row for row in tables.rows("bodies", journal=1) if row["seq"] == 3]
        where = {"journal": 1, "seq": 3}
        tables.change("bodies", where, body=row["body"].replace(b"100", b"900"))
    record = ("govern", "record-audit", "audits/1", "--reason", "looked at it")

    (scope,) = memoranda.json("verify", status=5)["scopes"]
    assert (scope["sound"], scope["recorded"]) == (False, True)
    assert "on record as a conformance break" in " ".join(
        memoranda.text("verify", status=5).split()
    )
    assert len(memoranda.json("status")[0]["breaks"]) == 1
    assert memoranda.json(*record, status=5)["damage"]["counts"]["body"] == 1
    assert "--accept" in memoranda.text(*record, status=5)
    assert len(memoranda.json("status")[0]["breaks"]) == 1

    assert list(memoranda.json(*record, "--accept", "3")) == [
        "id",
        "version",
        "entryHash",
        "size",
        "created",
    ]

    assert memoranda.json("status")[0]["breaks"] == {}
    assert memoranda.json("get", "price", "--factual")["id"] == "price"
    memoranda.json("verify", status=5)
    assert memoranda.json("status")[0]["breaks"] == {}
    memoranda.refused(*record, "--actor", "agent:a", status=3)


def test_a_policy_is_shown_and_changed_in_the_open(anchored: Command) -> None:
    (before,) = anchored.json("govern", "policies", "source_hierarchy")
    assert before == {"kind": "source_hierarchy", "version": 1, "rules": {"order": []}}
    file = anchored.folder / "policy.json"
    file.write_text('{"kind":"source_hierarchy","version":2,"rules":{"order":["law/"]}}')
    change = ("govern", "change-policy", str(file), "--reason", "the law stands first")

    assert anchored.json(*change)["version"] == 2
    assert anchored.json("status")[0]["policies"]["source_hierarchy"]["version"] == 2
    assert anchored.json("status")[0]["breaks"] == {}
    assert "source_hierarchy 2" in anchored.text("govern", "policies")
    assert len(anchored.json("govern", "policies")) == len(POLICY_KINDS)
    anchored.refused(*change, status=2)
    anchored.refused("govern", "policies", "whims", status=2)
    file.write_text("[]")
    anchored.refused(*change, status=2)


# ------------------------------------------------------------------- export, validate


def lines(text: bytes | str) -> list[Any]:
    return [parse(line) for line in text.splitlines()]


def test_an_export_is_written_whole_and_verified_by_the_other_verifier(anchored: Command) -> None:
    file = anchored.folder / "export.ndjson"
    told = anchored("export", "--output", str(file))

    assert (told.exit_code, told.stdout) == (0, "")
    assert "4 lines" in told.stderr
    exported = lines(file.read_bytes())
    assert exported[0]["type"] == "memoranda-export"
    assert exported[-1]["type"] == "end"
    assert file.stat().st_mode & 0o077 == 0
    assert verified(file) == 0
    assert lines(anchored("export").stdout)[1:-1] == exported[1:-1]


def verified(file: Path) -> int:
    try:
        return int(verify_export([str(file)]) or 0)
    except SystemExit as left:
        return int(left.code or 0)


def test_the_summary_of_an_export_is_json_on_stderr(anchored: Command) -> None:
    told = anchored("export", "-o", "x.ndjson", "--scope", "한국", "--json")

    summary = parse(told.stderr)
    assert list(summary) == ["scope", "lines", "bytes", "output"]
    assert (summary["scope"], summary["lines"]) == ("한국", 4)
    assert summary["bytes"] == Path("x.ndjson").stat().st_size


def test_an_export_replaces_nothing_unless_told(anchored: Command) -> None:
    file = anchored.folder / "export.ndjson"
    file.write_text("precious")
    anchored.refused("export", "-o", str(file), status=2)
    assert file.read_text() == "precious"
    anchored.refused("export", "-o", "memoranda.db", "--replace", status=2)
    anchored.refused("export", "-o", "/dev/null", "--replace", status=2)
    anchored.refused("export", "-o", "no/folder", status=2)

    assert anchored("export", "-o", str(file), "--replace").exit_code == 0
    assert lines(file.read_bytes())[-1]["type"] == "end"
    assert sorted(one.name for one in anchored.folder.iterdir()) == [
        "data", "elsewhere", "export.ndjson", "keys",
    ]  # fmt: skip


def test_an_export_that_fails_leaves_no_file(anchored: Command) -> None:
    told = anchored("export", "--scope", "nowhere", "-o", "x.ndjson")

    assert told.exit_code == 4
    assert [one.name for one in Path().iterdir() if "x.ndjson" in one.name] == []


def test_the_log_is_exported_and_valid(anchored: Command) -> None:
    anchored.json("forget", "r", "--reason", "old")
    log = anchored("export", "--kind", "log").stdout

    assert [event["event_type"] for event in lines(log)] == ["create", "invalidate"]
    assert anchored.json("validate", "log", "-", said=log) == {
        "valid": True, "events": 2, "violations": [],
    }  # fmt: skip
    assert "The log of 2 events is valid." in anchored.text("validate", "log", "-", said=log)


def test_every_violation_of_a_log_is_listed_with_its_rule(memoranda: Command) -> None:
    log = '{"event_id":"e","event_type":"archive"}\nno json\n'
    found = memoranda.json("validate", "log", "-", said=log, status=5)

    assert not found["valid"]
    assert list(found["violations"][0]) == [
        "check", "rule", "where", "why", "severity", "line",
    ]  # fmt: skip
    assert {one["line"] for one in found["violations"]} == {1, 2}
    assert {"L1", "L3", "L4", "L5"} <= {one["check"] for one in found["violations"]}
    assert "GOV-FORGET" in memoranda.text("validate", "log", "-", said=log, status=5)
    lenient = memoranda.json("validate", "log", "-", "--lenient", said=log)
    assert (lenient["events"], lenient["violations"]) == (1, found["violations"])


def test_every_violation_of_an_object_is_listed_with_its_rule(anchored: Command) -> None:
    good = anchored("journal", "object", "r").stdout
    assert anchored.json("validate", "object", "-", said=good) == {
        "valid": True, "violations": [],
    }  # fmt: skip
    found = anchored.json(
        "validate", "object", "-", said=good.replace("500 EUR", "900 EUR"), status=5
    )
    assert [one["check"] for one in found["violations"]] == ["O10"]
    assert "is not valid: 1 error." in anchored.text(
        "validate", "object", "-", said=good.replace("500 EUR", "900 EUR"), status=5
    )
    anchored.refused("validate", "object", "nowhere", status=2)
