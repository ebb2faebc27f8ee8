"""``memoranda rules``, in this process."""

from typing import Any

import pytest
from typer.testing import CliRunner

from memoranda.kernel.json import parse
from memoranda.kernel.rules import load_proofs, load_rules
from memoranda.surfaces.cli.main import app

MEMBERS = ["id", "level", "text", "source", "aliases", "state", "tests", "backends", "missing"]


def run(*arguments: str, **environment: str) -> Any:
    return CliRunner().invoke(app, ["rules", *arguments], env=environment)


def test_the_json_lists_every_rule_with_its_proofs() -> None:
    result = run("--json")

    listed = parse(result.stdout)
    assert result.exit_code == 0
    assert [list(rule) for rule in listed] == [MEMBERS] * len(load_rules())
    for shown, rule in zip(listed, load_rules(), strict=True):
        proof = load_proofs().get(rule.id)
        assert shown["id"] == rule.id
        assert shown["aliases"] == list(rule.aliases)
        assert shown["tests"] == (list(proof.tests) if proof else [])
        assert shown["backends"] == (list(proof.backends) if proof else [])
        assert (shown["missing"] is None) == (rule.state == "proved")


def test_korean_stays_readable_in_json() -> None:
    assert "요구사항" in run("R-1", "--json").stdout


@pytest.mark.parametrize("arguments", [(), ("--state", "planned"), ("D-MEM-1",)])
def test_what_people_see_fits_80_columns_and_has_no_colour_off_a_terminal(
    arguments: tuple[str, ...],
) -> None:
    result = run(*arguments, COLUMNS="80")

    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80
    assert "\x1b" not in result.stdout


def test_the_table_names_every_rule_in_full() -> None:
    lines = run(COLUMNS="80").stdout.splitlines()

    named = {line.split(" ")[0] for line in lines}
    assert {rule.id for rule in load_rules()} <= named


def test_colour_is_used_on_a_terminal_unless_no_color_is_set() -> None:
    assert "\x1b[32m" in run(FORCE_COLOR="1", TERM="xterm").stdout
    assert "\x1b[32m" not in run(FORCE_COLOR="1", TERM="xterm", NO_COLOR="1").stdout


def test_brackets_in_a_rule_are_not_taken_for_markup() -> None:
    assert "MemoryStore[T]" in run("D-MEM-1").stdout


def test_one_rule_is_shown_in_full_by_id_or_alias_in_any_case() -> None:
    by_id, by_alias = run("D-MEM-2"), run("mem-int-1")

    assert by_id.stdout == by_alias.stdout
    assert "an App takes a MemoryStore at construction" in by_id.stdout


@pytest.mark.parametrize("state", ["planned", "proved"])
def test_the_state_selects(state: str) -> None:
    listed = parse(run("--state", state, "--json").stdout)

    assert [rule["id"] for rule in listed] == [
        rule.id for rule in load_rules() if rule.state == state
    ]


def test_what_is_missing_is_shown_for_planned_rules() -> None:
    shown = " ".join(run("--state", "planned", COLUMNS="300").stdout.split())

    for rule in load_rules():
        if rule.missing:
            assert rule.missing in shown


def test_the_family_selects() -> None:
    listed = parse(run("--family", "gov", "--json").stdout)

    assert {rule["id"].partition("-")[0] for rule in listed} == {"GOV"}


@pytest.mark.parametrize(
    "arguments", [("NO-SUCH-RULE",), ("--family", "XYZ"), ("--state", "maybe"), ("--nonsense",)]
)
def test_wrong_use_is_one_plain_line_and_exit_2(arguments: tuple[str, ...]) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1


def test_wrong_use_with_json_is_json_on_stderr() -> None:
    result = run("NO-SUCH-RULE", "--json")

    assert result.exit_code == 2
    assert result.stdout == ""
    assert parse(result.stderr)["error"]["code"] == "usage"
