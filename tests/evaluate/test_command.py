"""``python -m bench.evaluate``: a table for people, JSON for machines, refusals in one line."""

import json
from pathlib import Path

import pytest

from bench.evaluate.__main__ import main
from memoranda.formats import canonical_bytes
from tests.evaluate.conversations import CONVERSATION


@pytest.fixture
def conversation(tmp_path: Path) -> str:
    path = tmp_path / "conversation.json"
    path.write_bytes(canonical_bytes([CONVERSATION]))
    return str(path)


def test_a_table_fits_80_columns(conversation: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["locomo", conversation])

    shown = capsys.readouterr().out
    lines = [line.split() for line in shown.splitlines()]
    assert max(map(len, shown.splitlines())) <= 80
    assert lines[0][:2] == ["3", "questions"]
    assert ["selector", "category", "questions", "@5", "@10", "@20"] in lines
    assert ["context", "overall", "3", "1.000", "1.000", "1.000"] in lines
    assert ["hybrid", "not", "run"] in lines


def test_json_is_the_same_each_time(conversation: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["locomo", conversation, "--json"])
    first = capsys.readouterr().out
    main(["locomo", conversation, "--json"])

    assert capsys.readouterr().out == first
    assert json.loads(first)["texts"] == 5
    assert json.loads(first)["skipped"] == 1


def test_pairs_are_one_category(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("Q,A\n환불은 언제?,환불은 내일입니다\n누구?,모릅니다\n")

    main(["pairs", str(path)])

    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["context", "overall", "2", "0.500", "0.500", "0.500"] in lines
    assert sum(line[:1] == ["context"] for line in lines) == 1


@pytest.mark.parametrize("said", ["{}", "Q,A\nwhere?,here\n"])
def test_another_file_is_refused_and_says_what_it_is_not(said: str, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_text(said)

    with pytest.raises(SystemExit) as refused:
        main(["locomo", str(path)])

    assert str(refused.value).startswith(f"{path} is not a file of locomo: ")
