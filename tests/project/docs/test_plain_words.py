"""User pages are for a stranger: no codes of rules, no names of documents that nobody has."""

import re
from pathlib import Path

import pytest

from memoranda.kernel.rules import load_book
from tests.project.docs.test_snippets import DOCUMENTS, ROOT

RULES = ROOT / "docs" / "rules.md"
PAGES = [one for one in DOCUMENTS if one != RULES and one.parent.name != "adr"]
NAMES = {name for rule in load_book().rule for name in rule.names}
CODE = re.compile(r"\b[A-Z]+(?:-[A-Z0-9]+)+\b")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
SOURCE = re.compile(r"\bseeds? 0\d\d")


def wrong_words(page: str) -> list[str]:
    """What a stranger can't look up, outside of what programs print."""
    prose = FENCE.sub("", page)
    return [code for code in CODE.findall(prose) if code in NAMES] + SOURCE.findall(prose)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_page_has_no_codes(page: Path) -> None:
    assert wrong_words(page.read_text()) == []


def test_a_code_in_a_sentence_is_noticed() -> None:
    assert wrong_words("It is kept (MEM-CRUD-2), as seed 003 says.") == ["MEM-CRUD-2", "seed 003"]


def test_the_navigation_has_each_page_once() -> None:
    index = ROOT / "docs" / "index.md"
    listed = re.findall(r"^- \[[^]]+\]\(([\w/-]+\.md)\)", index.read_text(), re.MULTILINE)
    pages = [
        str(one.relative_to(index.parent))
        for one in index.parent.rglob("*.md")
        if one != index and one.parent.name != "adr"
    ]

    assert sorted(listed) == sorted([*pages, "adr/README.md"])
