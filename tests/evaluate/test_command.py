"""``memoranda eval``: a table for people, JSON for machines, refusals in one line."""

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from memoranda.identity import canonical_bytes
from memoranda.kernel.json import parse
from memoranda.surfaces.cli.main import app
from tests.evaluate.conversations import CONVERSATION


@pytest.fixture
def conversation(tmp_path: Path) -> str:
    path = tmp_path / "conversation.json"
    path.write_bytes(canonical_bytes([CONVERSATION]))
    return str(path)


def run(*arguments: str, said: str | None = None) -> Result:
    return CliRunner().invoke(app, ["eval", *arguments], input=said)


def test_a_table_fits_80_columns(conversation: str) -> None:
    result = run("locomo", conversation)

    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert lines[0][:2] == ["3", "questions"]
    assert ["selector", "category", "questions", "@5", "@10", "@20"] in lines
    assert ["context", "overall", "3", "1.000", "1.000", "1.000"] in lines
    assert ["hybrid", "not", "run"] in lines


def test_json_is_the_same_each_time(conversation: str) -> None:
    first, second = (run("locomo", conversation, "--json") for _ in range(2))

    assert first.stdout == second.stdout
    found = parse(first.stdout)
    assert isinstance(found, dict)
    assert found["texts"] == 5
    assert found["skipped"] == 1


def test_pairs_are_read_from_standard_input() -> None:
    result = run("pairs", "-", said="Q,A\n환불은 언제?,환불은 내일입니다\n누구?,모릅니다\n")

    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["context", "overall", "2", "0.500", "0.500", "0.500"] in lines
    assert sum(line[:1] == ["context"] for line in lines) == 1


@pytest.mark.parametrize("said", ["{}", "Q,A\nwhere?,here\n"])
def test_another_file_is_refused_and_says_what_it_is_not(said: str) -> None:
    result = run("locomo", "-", said=said)

    assert result.exit_code == 2
    assert result.stderr.startswith("error: standard input is not a LoCoMo file")
