"""docs/errors.md, made of the classes: `python -m tests.project.docs.errors` (`make names`)."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from memoranda import errors
from memoranda.errors import MemorandaError
from memoranda.surfaces.errors import exit_code, title_of

PAGE: Final = Path(__file__).parents[3] / "docs" / "errors.md"
_HEAD: Final = """\
# Errors

Whatever memoranda refuses or could not do is one of these, all of `memoranda.errors`. Each has a stable `code`, its data as
attributes, and a text that says what to do. Catch the class, or a class above it, and compare codes; texts may change. Over HTTP an
error is a problem with that code ([statuses](http.md#problems)), on the command line an exit code.

The table is made from the code by `make names`.
"""


def page() -> str:
    """The whole page: a part for each branch of the tree."""
    parts = [_HEAD]
    for branch in sorted(MemorandaError.__subclasses__(), key=lambda kind: kind.__name__):
        parts.append(f"\n## {branch.__name__}\n\n{title_of(branch)}\n")
        parts.append("\n| error | code | exit | what it says |\n|---|---|--:|---|\n")
        parts += [_row(kind) for kind in sorted(_tree(branch), key=lambda kind: kind.code)]
    return "".join(parts)


def _tree(kind: type[MemorandaError]) -> Iterator[type[MemorandaError]]:
    if kind.__name__ in errors.__all__:
        yield kind
    for below in kind.__subclasses__():
        yield from _tree(below)


def _row(kind: type[MemorandaError]) -> str:
    names = list(inspect.signature(kind).parameters)
    text = re.sub(r"\{(\w+)[^}]*\}", r"‹\1›", kind.text).replace("|", "\\|")
    called = f"{kind.__name__}({', '.join(names)})"
    code = exit_code(kind.__new__(kind))
    said = "" if kind.text == MemorandaError.text else f" *{text}*"
    return f"| `{called}` | `{kind.code}` | {code} | {title_of(kind)}{said} |\n"


if __name__ == "__main__":
    PAGE.write_text(page())
