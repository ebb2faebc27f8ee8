"""Items and sessions don't know each other; nothing makes keywords or vectors for items."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "src" / "memoranda"
OF_ITEMS = (
    "plans/items.py",
    "plans/items.py",
    "plans/items.py",
    "stores/items.py",
    "stores/items.py",
    "stores/sqlite/items.py",
    "stores/sqlite/items.py",
    "stores/postgres/items.py",
)
OF_SESSIONS = tuple(
    str(path.relative_to(SOURCE))
    for path in SOURCE.rglob("*session*.py")
    if path.parent.name in {"plans", "stores", "sqlite", "postgres", "outside"}
)

ENDINGS = {"LONGEST_ENDING", "ends_of_nouns", "is_ending"}


def imports(path: str) -> set[str]:
    """The modules that a file imports."""
    found = set()
    for node in ast.walk(ast.parse((SOURCE / path).read_text())):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
    return found


@pytest.mark.rule("ING-SESSION")
@pytest.mark.parametrize("path", OF_ITEMS)
def test_the_item_store_does_not_know_the_session_store(path: str) -> None:
    assert [name for name in imports(path) if "session" in name or "recording" in name] == []


@pytest.mark.rule("ING-SESSION")
def test_the_session_store_does_not_know_the_item_store() -> None:
    assert OF_SESSIONS, "they are looked for where they are"
    for path in OF_SESSIONS:
        known = {name.rpartition(".")[2] for name in imports(path)}
        assert not known & {"items", "matching", "keywords", "item_dictionary"}, path


@pytest.mark.rule("ING-KEYWORDS", "ING-SCOPE")
@pytest.mark.parametrize("path", OF_ITEMS)
def test_the_item_store_has_nothing_to_make_keywords_or_vectors_with(path: str) -> None:
    allowed = {"memoranda.text": {"fold"}, "memoranda.text.stems": ENDINGS}
    for name in imports(path):
        room = name.split(".")[1] if name.startswith("memoranda.") else ""
        assert room not in {"recall", "journeys", "outside"}, name
        assert room != "text" or name in allowed, name
    # Of the texts' room folding, and where a Korean noun ends: nothing that makes a keyword.
    tree = ast.parse((SOURCE / path).read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in allowed:
            assert {alias.name for alias in node.names} <= allowed[node.module]
