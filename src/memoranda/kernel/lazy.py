"""Names that are imported when they are first used (PEP 562).

A public module has its imports under ``if TYPE_CHECKING:``, where readers and type checkers see
them. At run time its `__getattr__` carries out only the one that is asked for, so that
``import memoranda`` loads none of the rooms, and a program those alone that it uses.
"""

import dis
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any


def lazy_names(module: str) -> tuple[Callable[[str], Any], Callable[[], Iterable[str]]]:
    """`__getattr__` and `__dir__` of a module; its imports are read from its own compiled code.

    An import that is never carried out is compiled like any other. So no source file is needed:
    a wheel of .pyc files, or a zip, will do.
    """

    @cache
    def imports() -> dict[str, tuple[str, str]]:
        found, source, original = {}, "", ""
        for step in dis.get_instructions(sys.modules[module].__spec__.loader.get_code(module)):  # type: ignore[union-attr]
            if step.opname == "IMPORT_NAME":
                source = step.argval
            elif step.opname == "IMPORT_FROM":
                original = step.argval
            elif step.opname == "STORE_NAME" and original:
                found[step.argval], original = (source, original), ""
        return found

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
