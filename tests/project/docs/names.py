"""The table of public names: docs/names.md, made from `__all__` and the docstrings.

`python -m tests.project.docs.names` writes it (`make names`); a test compares.
"""

import ast
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple, get_origin, get_type_hints

PAGE: Final = Path(__file__).parents[3] / "docs" / "names.md"
MODULES: Final = (
    *("memoranda", "memoranda.types", "memoranda.errors", "memoranda.policies"),
    *("memoranda.selectors", "memoranda.models", "memoranda.plans", "memoranda.formats"),
    *("memoranda.testkit", "memoranda.integrations"),
)
HANDLES: Final = ("Database", "Memory")
"""Classes of `memoranda` whose verbs are listed, too."""
_RULES: Final = re.compile(r"\s*\((?:[A-Z]+(?:-[A-Z0-9]+)+(?:, )?)+\)")
_HEAD: Final = """\
# Public names

Everything that memoranda promises to keep is imported from one of these modules. Every other module
is private, and may change at any time. The table is made from the code by `make names`.
"""


class Name(NamedTuple):
    """A public name, and what it is in one line; empty where nobody has said it."""

    name: str
    what: str


def public(module: ModuleType) -> list[Name]:
    """The names of a module, sorted, with the verbs of its handles."""
    found = []
    for name in sorted(getattr(module, "__all__", ()), key=str.lower):
        value = getattr(module, name)
        found.append(Name(name, _said(value) if _has_doc(value) else _said_beside(module, name)))
        if module.__name__ == "memoranda" and name in HANDLES:
            found += verbs(value, name.lower())
    return found


def verbs(handle: type, start: str) -> Iterator[Name]:
    """The public methods of a handle, and those of its groups."""
    for name, member in members(handle):
        if isinstance(member, property | cached_property):
            yield Name(f"{start}.{name}", _said(member))
            inner = group(member)
            if inner is not None:
                yield from verbs(inner, f"{start}.{name}")
        elif inspect.isfunction(member):
            yield Name(f"{start}.{name}()", _said(member))


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for name in MODULES:
        module = importlib.import_module(name)
        said = " ".join((module.__doc__ or "").partition("\n\n")[0].split())
        parts.append(f"\n## `{name}`\n\n{re.sub('^Room [0-9]: ', '', said)}\n")
        if rows := public(module):
            parts.append("\n| name | what it is |\n|---|---|\n")
            parts += [f"| `{one.name}` | {one.what} |\n" for one in rows]
    return "".join(parts)


# -------------------------------------------------------------------------- docstrings


def members(handle: type) -> Iterator[tuple[str, Any]]:
    """What a class and its bases define, in the order in which it is written."""
    seen: dict[str, Any] = {}
    for base in reversed(handle.__mro__):
        if base.__module__.startswith("memoranda"):
            seen |= {name: one for name, one in vars(base).items() if not name.startswith("_")}
    yield from seen.items()


def getter(member: Any) -> Any:
    """The function behind a property."""
    return member.fget if isinstance(member, property) else member.func


def group(member: Any) -> type | None:
    """The class of ours whose verbs a property leads to, if it does."""
    hint = get_type_hints(getter(member)).get("return")
    kind = get_origin(hint) or hint
    is_ours = isinstance(kind, type) and kind.__module__.startswith("memoranda.")
    return kind if is_ours and not hasattr(kind, "model_fields") else None


def _has_doc(value: object) -> bool:
    return inspect.isclass(value) or inspect.isroutine(value)


def _said(value: object) -> str:
    return _first_line(inspect.getdoc(value) if not inspect.isclass(value) else value.__doc__)


def _first_line(doc: str | None) -> str:
    paragraph = " ".join((doc or "").strip().partition("\n\n")[0].split())
    return without_rules(paragraph).replace("|", "\\|")


def without_rules(text: str) -> str:
    """A docstring without the rules that it cites: users don't have them."""
    return _RULES.sub("", text)


def _said_beside(module: ModuleType, name: str) -> str:
    """What stands below the assignment of a name, in the module that has it first."""
    tree = _tree(module.__name__)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _said_beside(importlib.import_module(node.module), alias.name)
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if any(isinstance(one, ast.Name) and one.id == name for one in targets):
            match after:
                case ast.Expr(ast.Constant(str(text))):
                    return _first_line(text)
    return ""


@cache
def _tree(name: str) -> ast.Module:
    return ast.parse(inspect.getsource(importlib.import_module(name)))


if __name__ == "__main__":
    PAGE.write_text(page())
