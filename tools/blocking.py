"""Write `memoranda/app/blocking.py`, the blocking twin of the handle, from the async source.

``python -m tools.blocking`` writes it; ``--check`` says whether it is current. The twin of a class
has the same public methods with the same signatures and docstrings; each waits for the async one.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent / "src"
TARGET: Final = ROOT / "memoranda/app/blocking.py"


class Source(NamedTuple):
    """A class that has a twin: where it stands, and what it is called there."""

    module: str
    name: str


SOURCES: Final = (
    Source("memoranda.journeys.records.store", "Records"),
    Source("memoranda.journeys.govern.batch", "Batch"),
    Source("memoranda.app.groups", "Inbox"),
    Source("memoranda.app.groups", "Worlds"),
    Source("memoranda.journeys.turn.turns", "Turns"),
    Source("memoranda.app.groups", "TurnsOf"),
    Source("memoranda.app.groups", "Govern"),
    Source("memoranda.app.journal", "Journal"),
    Source("memoranda.app.groups", "Maintain"),
    Source("memoranda.journeys.recall.reasoning", "Reasoning"),
    Source("memoranda.app.memory", "Memory"),
    Source("memoranda.app.database", "Database"),
)
TWINS: Final = {source.name: f"Blocking{source.name}" for source in SOURCES}
HEAD: Final = '''"""The blocking twin of the handle, for scripts, notebooks and threads.

Every call waits on the process's one loop thread (`portal`) for the async one of the same name.
`make twin` writes this file from the async source: change that, not this.
"""
'''


NOT_OURS: Final = {"check_loop", "opened", "scoped"}
"""Methods that are for handles alone, and not for users."""

OWN_IMPORTS: Final = {"TypeVar", "Unpack", "Self"}
"""What comes from one of two modules: imported once, here."""

ENTERED: Final = """
    def __enter__(self) -> Self:
        PORTAL.call(self._twin.__aenter__())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        PORTAL.call(self._twin.__aexit__(kind, error, traceback))
""".splitlines()


def written() -> str:
    """The module's text, formatted."""
    trees = {source.module: _parsed(source.module) for source in SOURCES}
    parts = [HEAD, *_imports(trees)]
    for source in SOURCES:
        body = trees[source.module].body
        (found,) = [n for n in body if isinstance(n, ast.ClassDef) and n.name == source.name]
        parts.append(_twin(found))
    return _formatted("\n".join(parts))


def _parsed(module: str) -> ast.Module:
    path = ROOT / f"{module.replace('.', '/')}.py"
    return ast.parse(path.read_text())


def _imports(trees: dict[str, ast.Module]) -> Iterator[str]:
    yield "from contextlib import contextmanager"
    yield "from types import TracebackType"
    yield "from typing import Self"
    yield "from collections.abc import Iterator"
    yield "from memoranda.app.portal import PORTAL"
    lines: dict[str, None] = {}
    for module, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ImportFrom):
                names = [one for one in node.names if one.name not in OWN_IMPORTS]
                named = ", ".join(map(ast.unparse, names))
                lines[f"from {node.module} import {named}" if names else ""] = None
            elif isinstance(node, ast.Import):
                lines[ast.unparse(node)] = None
            elif isinstance(node, ast.If):  # imports for types alone
                lines.update(dict.fromkeys(map(ast.unparse, node.body)))
            elif isinstance(node, ast.ClassDef | ast.Assign | ast.AnnAssign):
                for name in _names(node):
                    lines[f"from {module} import {name}"] = None
    yield from lines
    yield "from typing_extensions import TypeVar, Unpack"
    yield 'T = TypeVar("T", default=Any)'
    yield 'M = TypeVar("M")'


def _names(node: ast.ClassDef | ast.Assign | ast.AnnAssign) -> Iterator[str]:
    """The public names that a module's statement makes, but for its type variables."""
    if isinstance(node, ast.ClassDef):
        yield node.name
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    is_variable = isinstance(node.value, ast.Call) and "TypeVar" in ast.unparse(node.value.func)
    for target in targets:
        if isinstance(target, ast.Name) and target.id[0] != "_" and not is_variable:
            yield target.id


def _twin(source: ast.ClassDef) -> str:
    is_generic = any("Generic" in ast.unparse(base) for base in source.bases)
    base = "(Generic[T])" if is_generic else ""
    own = f"{source.name}[T]" if is_generic else source.name
    lines = [f"class {TWINS[source.name]}{base}:", f'    """{_first_line(source)}"""', ""]
    lines += [f"    def __init__(self, twin: {own}) -> None:", "        self._twin = twin", ""]
    lines += ["    def __repr__(self) -> str:", '        return f"<blocking {self._twin!r}>"', ""]
    if any(isinstance(n, ast.AsyncFunctionDef) and n.name == "__aenter__" for n in source.body):
        lines += ENTERED
    for node in source.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name == "__init__":
            lines += _attributes(node)
        elif node.name == "__dir__":
            lines += ["", "    def __dir__(self) -> list[str]:", "        return dir(self._twin)"]
        elif node.name[0] != "_" and node.name not in NOT_OURS:
            lines += ["", _method(node)]
    return "\n".join(lines)


def _attributes(made: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """A property for each public attribute that is what `__init__` was given."""
    given = {one.arg: one.annotation for one in (*made.args.args, *made.args.kwonlyargs)}
    for node in made.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        annotation = given.get(ast.unparse(node.value)) if node.value else None
        if isinstance(target, ast.Attribute) and target.attr[0] != "_" and annotation:
            yield from ("", "    @property")
            yield f"    def {target.attr}(self) -> {ast.unparse(annotation)}:"
            yield '        """The same as that of the async one."""'
            yield f"        return self._twin.{target.attr}"


def _first_line(source: ast.ClassDef) -> str:
    return (ast.get_docstring(source) or "").partition("\n")[0]


def _method(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    decorators = {ast.unparse(one) for one in node.decorator_list}
    returned = ast.unparse(node.returns) if node.returns else "None"
    if decorators & {"property", "cached_property"}:
        return _property(node, returned)
    if "overload" in decorators:
        signature = f"def {node.name}({ast.unparse(node.args)}) -> {_blocking(returned)}: ..."
        return f"    @overload\n    {signature}"
    call = f"self._twin.{node.name}({_forwarded(node.args)})"
    given = f"({ast.unparse(node.args)})"
    doc = ast.get_docstring(node, clean=False)
    said = [] if doc is None else [f'        """{doc}"""']
    if "asynccontextmanager" in decorators:
        inner = returned.removeprefix("AsyncIterator[").removesuffix("]")
        return "\n".join(
            [
                "    @contextmanager",
                f"    def {node.name}{given} -> Iterator[{_blocking(inner)}]:",
                *said,
                f"        with PORTAL.entered({call}) as twin:",
                f"            yield {_wrapped(inner, 'twin')}",
            ]
        )
    if returned.startswith("AsyncGenerator["):
        inner = returned.removeprefix("AsyncGenerator[").removesuffix(", None]")
        return "\n".join(
            [
                f"    def {node.name}{given} -> Iterator[{inner}]:",
                *said,
                f"        return PORTAL.iterate({call})",
            ]
        )
    waited = f"PORTAL.call({call})" if isinstance(node, ast.AsyncFunctionDef) else call
    return "\n".join(
        [
            f"    def {node.name}{given} -> {_blocking(returned)}:",
            *said,
            f"        return {_wrapped(returned, waited)}",
        ]
    )


def _property(node: ast.FunctionDef | ast.AsyncFunctionDef, returned: str) -> str:
    doc = ast.get_docstring(node) or ""
    value = _wrapped(returned, f"self._twin.{node.name}")
    head = f"    @property\n    def {node.name}(self) -> {_blocking(returned)}:"
    return f'{head}\n        """{doc}"""\n        return {value}'


def _forwarded(given: ast.arguments) -> str:
    """The arguments of a call that hands on what a method was given."""
    positional = [one.arg for one in (*given.posonlyargs, *given.args)][1:]
    keywords = [f"{one.arg}={one.arg}" for one in given.kwonlyargs]
    rest = [] if given.kwarg is None else [f"**{given.kwarg.arg}"]
    return ", ".join([*positional, *keywords, *rest])


def _blocking(returned: str) -> str:
    name, bracket, rest = returned.partition("[")
    return TWINS.get(name, name) + bracket + rest


def _wrapped(returned: str, value: str) -> str:
    name = returned.partition("[")[0]
    return f"{TWINS[name]}({value})" if name in TWINS else value


def _formatted(text: str) -> str:
    for command in (
        ["check", "--fix", "--quiet", "--exit-zero", "--unsafe-fixes", "-"],
        ["format", "-"],
    ):
        ruff = [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(TARGET)]
        text = subprocess.run(ruff, input=text, text=True, capture_output=True, check=True).stdout  # noqa: S603 - ours
    return text


def main() -> None:
    """Write the twin, or check it."""
    text = written()
    if "--check" in sys.argv:
        if TARGET.read_text() != text:
            sys.exit("src/memoranda/app/blocking.py is not current: run `make twin`")
    else:
        TARGET.write_text(text)


if __name__ == "__main__":
    main()
