"""Finding rule ids in source files."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from memoranda.kernel.rules import Rule

TESTS_SHIPPED_AS_CODE = "testkit"
"""The folder of the package that holds tests: its ids are checked, but it is no rule's code."""


@dataclass(frozen=True)
class Citation:
    """A token that looks like a rule id, and where it stands."""

    token: str
    module: str
    place: str
    """Path and line, relative to the project."""

    @property
    def is_in_tests(self) -> bool:
        """Whether it stands in the shipped tests."""
        return TESTS_SHIPPED_AS_CODE in self.module.split(".")


def id_pattern(rules: Iterable[Rule]) -> re.Pattern[str]:
    """What looks like a rule id, learned from the ids that exist.

    Ids are known by their first word (``MEM-``, ``GOV-``, ``WORLD-``); one letter alone is too
    common, so that it needs a number (``C-2``) or its second word (``D-MEM-``) as well. Words
    such as UTF-8 begin like no rule and are left alone. Shorthand for several ids (two dots, a
    tilde, a slash or a star after the first) is taken in whole: no rule is called that.
    """
    heads = {_head(name) for rule in rules for name in rule.names}
    word = r"[A-Z0-9*]+"
    tail = r"(?:\.\.+\d+|[~…/]\d+|[a-z_]\w*)?"
    return re.compile(rf"(?<![\w-])(?:{'|'.join(sorted(heads))})(?:-{word})*{tail}(?!\w)")


def citations(files: Iterable[Path], pattern: re.Pattern[str], root: Path) -> Iterator[Citation]:
    """Every token that looks like a rule id, file by file."""
    for file in sorted(files):
        lines = file.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            for found in pattern.finditer(line):
                place = f"{file.relative_to(root).as_posix()}:{number}"
                yield Citation(found[0], _module(file), place)


def _head(name: str) -> str:
    first, second, *_ = name.split("-")
    if len(first) > 1:
        return rf"{first}-[A-Z0-9*]+"
    return rf"{first}-\d+" if second.isdigit() else rf"{first}-{second}"


def _module(file: Path) -> str:
    """The dotted name: up through every folder that is a package."""
    parts = [] if file.stem == "__init__" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").exists():
        parts.insert(0, folder.name)
        folder = folder.parent
    return ".".join(parts)
