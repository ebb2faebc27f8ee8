"""``python -m bench.evaluate``: tables for people, JSON for machines, refusals in one line."""

import json
from pathlib import Path

import pytest

from bench.evaluate.__main__ import main
from memoranda.formats import canonical_bytes
from tests.evaluate.conversations import CONVERSATION


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "locomo" / "locomo-dev.json"
    path.parent.mkdir()
    path.write_bytes(canonical_bytes([CONVERSATION]))
    return tmp_path


def test_a_set_is_a_table_for_each_part(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["locomo", "--data", str(data)])

    shown = capsys.readouterr().out
    assert "### locomo: all" in shown
    assert "### locomo: kept away" in shown
    assert "3 questions; 5 texts." in shown
    assert "| recall, no model | 1.000 |" in shown


def test_json_is_the_same_each_time(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["locomo", "--data", str(data), "--json"])
    first = capsys.readouterr().out
    main(["locomo", "--data", str(data), "--json"])

    assert capsys.readouterr().out == first
    assert json.loads(first)["locomo"]["texts"] == 5
    assert json.loads(first)["locomo"]["skipped"] == 1


def test_what_is_not_at_hand_is_skipped_with_a_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["locomo", "pairs", "--data", str(tmp_path), "--json"])

    shown = capsys.readouterr()
    assert json.loads(shown.out) == {}
    assert "locomo is skipped: there is no locomo-dev.json" in shown.err


def test_another_file_is_refused_and_says_what_it_is_not(data: Path) -> None:
    (data / "locomo" / "locomo-dev.json").write_text("{}")

    with pytest.raises(SystemExit) as refused:
        main(["locomo", "--data", str(data)])

    assert "is not a file of locomo: " in str(refused.value)
