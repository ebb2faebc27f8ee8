"""Names that are imported when they are first used (PEP 562).

A public module has its imports under ``if TYPE_CHECKING:``, where readers and type checkers see
them. At run time its `__getattr__` carries out only the one that is asked for, so that
``import memoranda`` loads none of the rooms, and a program those alone that it uses.
"""

import ast
import inspect
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any


def lazy_names(module: str) -> tuple[Callable[[str], Any], Callable[[], Iterable[str]]]:
    """`__getattr__` and `__dir__` of a module; the imports are read from its own source."""

    @cache
    def imports() -> dict[str, tuple[str, str]]:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
        return {
            alias.asname or alias.name: (statement.module, alias.name)
            for block in tree.body
            if isinstance(block, ast.If)
            for statement in block.body
            if isinstance(statement, ast.ImportFrom) and statement.module is not None
            for alias in statement.names
        }

    def find(name: str) -> Any:
        if name.startswith("__") or name not in imports():
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        source, original = imports()[name]
        value = getattr(import_module(source), original)
        setattr(sys.modules[module], name, value)
        return value

    def names() -> Iterable[str]:
        return sorted({*vars(sys.modules[module]), *sys.modules[module].__all__})

    return find, names
