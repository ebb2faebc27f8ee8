"""``memoranda replay``: one, a branch, a whole history, an export."""

import re
import sys
from typing import Any

import pytest

from memoranda.kernel.json import parse
from tests.surfaces.cli.command import Command
from tests.surfaces.cli.shops import CHANGED, SHOP, SMALL, acted, wrote

OTHER = '{"ticket": "t3", "customer": "eve", "amount": 30}'
NEW = ("--domain", "changed_shop:shop")


@pytest.fixture
def history(memoranda: Command, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Two refunds, and a module with an action that somebody changed."""
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "modules", sys.modules.copy())
    wrote(memoranda, "changed_shop", CHANGED)
    return [acted(memoranda, SMALL), acted(memoranda, OTHER)]


def test_a_world_an_execution_and_a_proposal_come_out_the_same(
    memoranda: Command, history: list[Any]
) -> None:
    for name in ("world", "executionKey", "proposalId"):
        found = memoranda.json("worlds", "replay", history[1][name], *SHOP)
        assert (found["verdict"], found["action"]) == ("same", "refund")
        assert found["executionKey"] == history[1]["executionKey"]
    assert memoranda.text("worlds", "replay", history[0]["world"], *SHOP).startswith("same")


def test_a_change_of_code_is_told_with_its_first_difference(
    memoranda: Command, history: list[Any]
) -> None:
    result = memoranda("worlds", "replay", history[0]["world"], *NEW, "--json")
    found = parse(result.stdout)

    assert result.exit_code == 5
    assert result.stderr == "this is for standard error\n"
    assert found["difference"] == {
        "action": "refund",
        "what": "field",
        "path": "$.data.paid.t1.receipt",
        "where": "$.data.paid.t1.receipt",
        "expected": '"receipt-ann-20"',
        "found": '"RECEIPT-ANN-20"',
    }
    shown = memoranda.text("worlds", "replay", history[0]["world"], *NEW, status=5)
    assert "$.data.paid.t1.receipt" in shown


def test_a_branch_is_told_line_by_line(memoranda: Command, history: list[Any]) -> None:
    shown = memoranda.text("worlds", "replay", "--branch", "main", *SHOP)

    assert shown.splitlines() == [
        f"same     refund  {history[0]['executionKey']}",
        f"same     refund  {history[1]['executionKey']}",
        "2 executions: 2 same.",
    ]
    memoranda.refused("worlds", "replay", "--branch", "other", *SHOP, status=3)


def test_a_report_counts_and_lists_what_would_be_altered(
    memoranda: Command, history: list[Any]
) -> None:
    assert memoranda.text("worlds", "replay", "--report", *SHOP) == "2 executions: 2 same.\n"

    shown = memoranda.text("worlds", "replay", "--report", *NEW, status=5)
    assert shown.endswith("2 executions: 2 differs.\n")
    assert history[0]["executionKey"] in shown
    assert "refund: $.data.paid.t1.receipt" in " ".join(shown.split())


def test_a_report_as_json_is_a_line_for_each_and_a_summary(
    memoranda: Command, history: list[Any]
) -> None:
    result = memoranda("worlds", "replay", "--report", *NEW, "--json")
    *each, summary = [parse(line) for line in result.stdout.splitlines()]

    assert result.exit_code == 5
    assert [one["executionKey"] for one in each] == [one["executionKey"] for one in history]
    assert summary == {
        "type": "summary", "executions": 2, "same": 0, "differs": 2, "erased": 0, "not run": 0,
    }  # fmt: skip


def test_an_export_is_replayed_without_its_database(memoranda: Command, history: list[Any]) -> None:
    assert memoranda("export", "--output", "kept.ndjson").exit_code == 0
    for file in (memoranda.folder / "data").glob("memoranda.db*"):
        file.unlink()

    words = ("worlds", "replay", "--report", "--export", "kept.ndjson")
    assert memoranda.text(*words, *SHOP) == "2 executions: 2 same.\n"
    memoranda.text(*words, *NEW, status=5)
    one = ("worlds", "replay", history[0]["world"], "--export", "kept.ndjson")
    assert memoranda.json(*one, *SHOP)["verdict"] == "same"
    assert sorted(file.name for file in (memoranda.folder / "data").glob("*.db*")) == []


def test_replaying_writes_nothing(memoranda: Command, history: list[Any]) -> None:
    before = memoranda.json("status")[0]["size"]

    memoranda.text("worlds", "replay", "--report", *SHOP)

    assert memoranda.json("status")[0]["size"] == before
    assert len(history) == 2


@pytest.mark.parametrize("words", [(), ("x", "--report"), ("x", "--branch", "main")])
def test_what_to_replay_is_named_once(memoranda: Command, words: tuple[str, ...]) -> None:
    assert "Name an ID" in memoranda.refused("worlds", "replay", *words, *SHOP, status=2)


def test_a_file_that_is_no_export_is_refused(memoranda: Command) -> None:
    (memoranda.folder / "data" / "no.ndjson").write_text("{}\n")

    words = ("worlds", "replay", "--report", *SHOP, "--export")
    assert "is no export" in memoranda.refused(*words, "no.ndjson", status=2)
    assert "There is no file" in memoranda.refused(*words, "nothing.ndjson", status=2)


@pytest.mark.parametrize(
    "content",
    [
        b"\xff\xfe\x00",
        b'{"type":"memoranda-export"}\n',
        b'{"type":"memoranda-export","scope":7,"origin":"x","size":0}\n',
        b'{"type":"memoranda-export","scope":" ","origin":"x","size":0}\n',
        b"",
        b"[]\n",
    ],
    ids=["not UTF-8", "no scope", "a number", "a space", "empty", "a list"],
)
def test_a_file_that_only_begins_like_an_export_is_refused(
    memoranda: Command, content: bytes
) -> None:
    (memoranda.folder / "data" / "no.ndjson").write_bytes(content)

    memoranda.refused("worlds", "replay", "--report", *SHOP, "--export", "no.ndjson", status=2)


@pytest.mark.parametrize("of_salt", ['"zz"', '"0"', "null", "7", '""'])
def test_an_export_with_a_salt_that_is_none_is_refused(
    memoranda: Command, history: list[Any], of_salt: str
) -> None:
    _ = history
    assert memoranda("export", "--output", "kept.ndjson").exit_code == 0
    kept = memoranda.folder / "data" / "kept.ndjson"
    lines = kept.read_text().splitlines()
    lines[1] = re.sub(r'"salt":"[0-9a-f]+"', f'"salt":{of_salt}', lines[1])
    kept.write_text("\n".join(lines) + "\n")

    memoranda.refused("worlds", "replay", "--report", *SHOP, "--export", "kept.ndjson", status=2)
