"""``memoranda remember --lines`` and ``--ndjson``, ``put``, bytes, and ``memoranda journal``."""

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from memoranda.kernel.json import parse
from memoranda.surfaces.cli.main import app
from tests.patience import PATIENCE
from tests.surfaces.cli.command import Command


def test_each_line_is_remembered_in_one_transaction(memoranda: Command) -> None:
    said = "one fact\n\n고객은 서울에 산다\n  \nthree\n"

    receipts = memoranda.json("remember", "--lines", "-", "--tag", "bulk", said=said)

    assert [one["size"] for one in receipts] == [2, 3, 4]
    found = memoranda.listed("--tag", "bulk")
    assert [one["data"] for one in found] == ["three", "고객은 서울에 산다", "one fact"]
    shown = memoranda.text("remember", "--lines", "-", said=said)
    assert shown.splitlines()[-1] == "remembered 3 things, entries 4 to 6"


def test_each_object_is_remembered_with_what_is_said_of_it_alone(memoranda: Command) -> None:
    said = (
        '{"data": "Lee prefers a call", "id": "lee", "tags": ["own"], "speaker": "Lee"}\n'
        '{"data": {"a": 1}}\n'
    )

    memoranda.json("remember", "--ndjson", "-", "--tag", "all", "--subject", "p7", said=said)

    lee = memoranda.json("get", "lee")
    assert (lee["tags"], lee["subject"]) == (["own"], "p7")
    assert [one["data"] for one in memoranda.listed("--tag", "all")] == [{"a": 1}]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no json", "Line 2 is not JSON"),
        ("[]", "Line 2 is not an object"),
        ('{"text": "x"}', "Line 2 is not an object"),
        ('{"data": "x", "tgas": []}', "tags"),
        ('{"data": " "}', "nothing in it that can be read"),
    ],
)
def test_all_of_a_file_is_remembered_or_nothing(memoranda: Command, line: str, said: str) -> None:
    memoranda.json("remember", "before")

    refused = memoranda.refused(
        "remember", "--ndjson", "-", status=2, said='{"data": "fine"}\n' + line
    )

    assert said in refused
    assert len(memoranda.listed()) == 1


@pytest.mark.parametrize(
    "words",
    [("--lines", "-", "text"), ("--lines", "-", "--ndjson", "-"), ("--lines", "-", "--id", "x")],
)
def test_what_is_remembered_is_named_once(memoranda: Command, words: tuple[str, ...]) -> None:
    memoranda.refused("remember", *words, status=2, said="one\n")


def test_put_creates_or_replaces_whole(memoranda: Command) -> None:
    first = memoranda.json("put", "x", "--data", '{"a": 1}', "--tag", "t", "--meta", '{"n": 1}')
    again = memoranda.json("put", "x", "--data", '{"b": 2}', "--reason", "counted again")

    assert (first["created"], again["created"]) == (True, False)
    found = memoranda.json("get", "x")
    assert (found["data"], found["tags"], found["meta"]) == ({"b": 2}, [], {})
    memoranda.refused("put", "x", "text", "--expected-version", "0", status=3)
    memoranda.refused("put", "x", "text", "--meta", "[]", status=2)


def test_bytes_come_from_standard_input(memoranda: Command) -> None:
    words = ["remember", "-", "--id", "x", "--media-type", "image/png"]

    assert CliRunner().invoke(app, words, input=b"\x89PNG\xff").exit_code == 0

    assert "5 bytes" in memoranda.text("get", "x")
    memoranda.refused("remember", "text", "--media-type", "image/png", status=2)


def test_what_is_not_indexed_is_kept_and_not_found(memoranda: Command) -> None:
    memoranda.json("remember", "secret tea", "--id", "x", "--no-indexed")

    assert memoranda.listed("--text", "tea") == []
    assert memoranda.json("get", "x")["data"] == "secret tea"


# -------------------------------------------------------------------------------- journal


def test_entries_are_listed_and_proved(memoranda: Command) -> None:
    memoranda.json("remember", "tea", "--id", "x")

    first, second = memoranda.json("journal", "entries")
    assert (second["seq"], second["actor"], second["body"]["id"]) == (1, "human:7", "x")
    assert [one["seq"] for one in memoranda.json("journal", "entries", "1")] == [1]
    assert memoranda.json("journal", "entries", "--limit", "1") == [first]
    assert "human:7" in memoranda.text("journal", "entries")
    proof = memoranda.json("journal", "proof", "1")
    assert (proof["entryHash"], proof["holds"]) == (second["hash"], True)
    assert "yes" in memoranda.text("journal", "proof", "1")
    assert "entry 9" in memoranda.refused("journal", "proof", "9", status=3)


def test_entries_are_told_as_they_are_written(memoranda: Command) -> None:
    memoranda.json("remember", "tea", "--id", "x")
    command = [sys.executable, "-m", "memoranda", "journal", "tail", "--after", "0", "--json"]

    with subprocess.Popen(command, stdout=subprocess.PIPE) as tail:  # noqa: S603 - our own command
        assert tail.stdout is not None
        assert parse(tail.stdout.readline())["body"]["id"] == "x"
        memoranda.json("remember", "coffee", "--id", "y")
        assert parse(tail.stdout.readline())["body"]["id"] == "y"
        tail.kill()
        tail.wait(PATIENCE)


def test_an_object_has_its_versions(memoranda: Command) -> None:
    memoranda.json("remember", "tea", "--id", "x")
    memoranda.json("update", "x", "coffee")

    said = [memoranda.json("journal", "object", "x", *v) for v in ((), ("--version", "1"))]

    assert [one["statement"] for one in said] == ["coffee", "tea"]


def test_history_says_what_was_done(memoranda: Command) -> None:
    memoranda.json("remember", "tea", "--id", "x", "--source", "ticket/1")
    why = ("--reason", "because")
    memoranda.json("update", "x", "green tea", *why, "--keep-sources")
    memoranda.json("govern", "revise", "x", "--verdict", "Inference", *why)
    memoranda.json("approve", "x", *why, "--actor", "human:8")
    memoranda.json("forget", "x", *why)
    memoranda.json("govern", "reinstate", "x", *why)
    acts = ["create", "update", "revise", "approve", "invalidate", "reinstate"]

    assert [one["act"] for one in memoranda.json("history", "x")] == acts
    why_tree = memoranda.json("why", "x")["parts"]
    assert [part["known"]["event"] for part in why_tree if part["what"] == "version"] == acts
    memoranda.json("erase", "x", *why)
    assert memoranda.json("history", "x")[-1]["act"] == "erase"
    assert "erase" in memoranda.text("history", "x")
