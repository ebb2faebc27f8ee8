"""The rules as data: read strictly, and the same as the page they come from."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.rules import (
    Proof,
    find_rule,
    load_book,
    load_proofs,
    load_rules,
    parse_proofs,
    parse_rules,
)

RULES_PAGE = Path(__file__).parents[4] / "shared" / "RULES.md"
RULE = """
[family]
EXT = "External"

[[rule]]
id = "MEM-CRUD-1"
aliases = ["D-MEM-1"]
family = "EXT"
level = "MUST"
text = "works"
source = "seed"
state = "planned"
missing = "everything"
"""
SECOND = RULE.partition("\n\n")[2].replace("MEM-CRUD-1", "MEM-CRUD-2")


def test_a_rule_is_found_by_its_id_and_by_its_aliases() -> None:
    rules = load_rules()

    assert find_rule("MEM-INT-1", rules) == find_rule("D-MEM-2", rules)
    assert find_rule("MEM-INT-1", rules) is not None
    assert find_rule("MEM-INT-99", rules) is None


def test_a_rule_can_not_be_changed() -> None:
    with pytest.raises(ValidationError):
        load_rules()[0].text = "something easier"


OF_STORES = (
    "D-MEM-1", "D-MEM-REC", "MEM-CRUD-", "MEM-REC-", "MEM-PATCH-", "MEM-FILTER", "MEM-HOOK-",
)  # fmt: skip


def test_every_proved_rule_of_the_stores_must_hold_on_all_three() -> None:
    of_stores = [rule for rule in load_rules() if rule.id.startswith(OF_STORES)]

    assert len(of_stores) > len(OF_STORES)
    for rule in of_stores:
        assert rule.backends == ("dict", "sqlite", "postgres")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('source = "seed"', 'source = "seed"\nowner = "me"'),
        ('source = "seed"\n', ""),
        ('missing = "everything"', ""),
        ('missing = "everything"', 'missing = " "'),
        ('state = "planned"', 'state = "proved"'),
        ('state = "planned"', 'state = "deferred"'),
        ('level = "MUST"', 'level = "must"'),
        ('text = "works"', "text = 1"),
        ('id = "MEM-CRUD-1"', 'id = "mem crud 1"'),
        ('family = "EXT"', 'family = "XYZ"'),
        ('aliases = ["D-MEM-1"]', 'aliases = "D-MEM-1"'),
        ('aliases = ["D-MEM-1"]', 'aliases = ["MEM-CRUD-1"]'),
        ('aliases = ["D-MEM-1"]', 'aliases = ["D-MEM-1", "D-MEM-1"]'),
    ],
)
def test_rules_that_are_not_as_they_must_be_are_refused(before: str, after: str) -> None:
    assert len(parse_rules(RULE).rule) == 1
    assert before in RULE

    with pytest.raises(ValueError, match=r"."):
        parse_rules(RULE.replace(before, after))


def test_an_id_or_alias_that_two_rules_share_is_refused() -> None:
    two = RULE + SECOND.replace('"D-MEM-1"', '"D-MEM-2"')
    assert len(parse_rules(two).rule) == 2

    with pytest.raises(ValueError, match="D-MEM-1"):
        parse_rules(RULE + SECOND)
    with pytest.raises(ValueError, match="MEM-CRUD-1"):
        parse_rules(two.replace("MEM-CRUD-2", "MEM-CRUD-1"))


def test_the_shipped_proofs_are_of_rules_that_exist_and_none_is_of_a_planned_one() -> None:
    for rule_id, proof in load_proofs().items():
        rule = find_rule(rule_id, load_rules())
        assert rule is not None
        assert rule.state == "proved" or not proof.tests


def test_proofs_that_are_damaged_are_refused() -> None:
    assert parse_proofs('{"A-1": {}}') == {"A-1": Proof()}

    with pytest.raises(InvalidJson):
        parse_proofs('{"A-1": {}, "A-1": {}}')
    with pytest.raises(ValidationError):
        parse_proofs('{"A-1": {"passed": true}}')


@pytest.mark.skipif(not RULES_PAGE.exists(), reason="../shared is not here")
def test_the_rules_are_those_of_the_shared_page_word_for_word() -> None:
    rows = [
        tuple(cell.strip() for cell in line.strip("|").split(" | ", 2))
        for line in RULES_PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ") and not line.startswith("| id |")
    ]

    assert rows == [(", ".join(rule.names), rule.level, rule.text) for rule in load_book().rule]
