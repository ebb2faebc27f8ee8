"""What holds for the source as a whole."""

import ast
from collections import defaultdict
from pathlib import Path

import memoranda

PACKAGE = Path(memoranda.__file__).parent
GENERATED = PACKAGE / "app" / "blocking.py"


def test_every_class_name_has_one_meaning() -> None:
    defined: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        if path == GENERATED:  # twins of classes, under their names
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                defined[node.name].append(f"{path.relative_to(PACKAGE)}:{node.lineno}")

    assert {name: places for name, places in defined.items() if len(places) > 1} == {}
