"""The reference of the verbs: docs/python.md, made from their signatures and docstrings.

`python -m tests.project.docs.signatures` writes it (`make names`); a test compares.
"""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import pairwise
from types import FunctionType
from typing import Any, Final, cast

import memoranda
from memoranda.app.groups import ActOptions, ConsolidationOptions
from memoranda.app.memory import ListOptions, RecallOptions
from memoranda.app.options import ConnectOptions
from memoranda.journeys.govern.find import Filters
from tests.project.docs import names

PAGE: Final = names.PAGE.with_name("python.md")
OPENING: Final = ("connect", "open", "connect_sync", "open_sync", "exists", "replay_export")
OPTIONS: Final = (
    *(ConnectOptions, memoranda.About, ListOptions, RecallOptions),
    *(Filters, ActOptions, ConsolidationOptions),
)
"""What several verbs take by name, as `**options`."""
SHARED: Final = {one.__name__ for one in OPTIONS}
ELSEWHERE: Final = {"given", "capabilities"}
"""Groups that repeat what stands on this page already."""
_WIDTH: Final = 96
_HEAD: Final = """\
# Python: the verbs and their arguments

This page lists how a database is opened, what an `App` takes, and every verb of a database and of a
handle, with all arguments. What else can be imported is in [the table of public names](names.md).
`make names` writes both pages from the code.

A signature is shown as you call it. `await` in front means that the call has to be awaited. The
handles of `open_sync` and `connect_sync` have the same verbs with the same arguments, without
`await`. `T` is the type of the data: any JSON value, or the `model` of the handle.
"""


def page() -> str:
    """The whole page."""
    parts = [_HEAD, "\n## Opening\n"]
    for name in OPENING:
        parts += _entry(f"memoranda.{name}", inspect.unwrap(getattr(memoranda, name)))
    parts += ["\n## `App`\n\n", *_fields("App", memoranda.App)]
    for handle in (memoranda.Database, memoranda.Memory):
        parts += _verbs(handle, handle.__name__.lower())
    parts.append("\n## Options that several verbs take\n")
    for options in OPTIONS:
        title = options.__name__
        parts += [f"\n### `{title}`\n\n", *_fields(title, options)]
    return "".join(parts)


def _verbs(handle: type, start: str) -> Iterator[str]:
    """The methods of a handle first, then each of its groups under a heading of its own."""
    yield f"\n## `{start}`\n\n{_said(handle)}"
    groups: list[tuple[str, type]] = []
    for name, member in names.members(handle):
        if isinstance(member, property | cached_property):
            group = names.group(member)
            if group is None:
                yield from _entry(f"{start}.{name}", names.getter(member))
            elif name not in ELSEWHERE:
                groups.append((f"{start}.{name}", group))
        elif isinstance(member, FunctionType):
            yield from _entry(f"{start}.{name}", inspect.unwrap(member))
    for name, group in groups:
        yield from _verbs(group, name)


def _entry(name: str, function: Callable[..., Any]) -> Iterator[str]:
    yield f"\n### `{name}`\n\n```py\n{_signature(name, function)}\n```\n\n{_said(function)}"


# ------------------------------------------------------------------------- signatures


def _signature(name: str, function: Callable[..., Any]) -> str:
    """As the source has it, without `self`; a property is a name and its type."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    node = cast("ast.FunctionDef | ast.AsyncFunctionDef", tree)
    result = ast.unparse(node.returns) if node.returns else "None"
    if any("property" in ast.unparse(one) for one in node.decorator_list):
        return f"{name}: {result}"
    awaited = "await " if isinstance(node, ast.AsyncFunctionDef) else ""
    if result.startswith(("AsyncIterator", "AsyncGenerator")):
        awaited = "async for each in "
    if any("contextmanager" in ast.unparse(one) for one in node.decorator_list):
        awaited = "async with "
    known = getattr(function, "__globals__", {})
    return _call(f"{awaited}{name}", list(_parameters(node.args, known)), f" -> {result}")


def _parameters(given: ast.arguments, known: dict[str, Any]) -> Iterator[str]:
    """Each parameter with its type and its default."""
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + given.defaults
    for argument, default in zip(plain, defaults, strict=True):
        if argument.arg != "self":
            yield _parameter(argument, default, known)
    if given.vararg:
        yield f"*{_parameter(given.vararg, None, known)}"
    elif given.kwonlyargs:
        yield "*"
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        yield _parameter(argument, default, known)
    if given.kwarg:
        yield f"**{_parameter(given.kwarg, None, known)}"


def _parameter(argument: ast.arg, default: ast.expr | None, known: dict[str, Any]) -> str:
    kind = ast.unparse(argument.annotation).strip("'\"") if argument.annotation else ""
    kind = re.sub(r"^Unpack\[(.*)\]$", r"\1", kind)
    text = f"{argument.arg}: {kind}" if kind else argument.arg
    if default is None:
        return text
    said = ast.unparse(default)
    if isinstance(known.get(said), str | int | float):
        said = repr(known[said])
    return f"{text}{' = ' if kind else '='}{said}"


def _fields(name: str, kind: type) -> Iterator[str]:
    """A class of plain fields as a call, then what is said beside each of them."""
    known = vars(sys.modules[kind.__module__])
    tree = cast("ast.ClassDef", ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0])
    bases = [one.id for one in tree.bases if isinstance(one, ast.Name) and one.id in SHARED]
    fields, said = [f"**{base}" for base in bases], []
    for node, after in pairwise([*tree.body, ast.Pass()]):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            argument = ast.arg(node.target.id, node.annotation)
            fields.append(_parameter(argument, node.value, known))
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                said.append(f"- `{node.target.id}`: {_markdown(str(after.value.value))}\n")
    yield f"```py\n{_call(name, fields, '')}\n```\n\n"
    yield _said(kind)
    if said:
        yield "".join(["\n", *said])


def _call(name: str, parameters: list[str], result: str) -> str:
    line = f"{name}({', '.join(parameters)}){result}"
    if len(line) <= _WIDTH:
        return line
    inside = "".join(f"    {one},\n" for one in parameters)
    return f"{name}(\n{inside}){result}"


# ------------------------------------------------------------------------- docstrings


def _said(value: object) -> str:
    """A docstring as Markdown: without rules, and with links to the pages that it names."""
    return _markdown(value.__doc__ or "") + "\n"


def _markdown(doc: str) -> str:
    text = names.without_rules(inspect.cleandoc(doc))
    text = re.sub(r"`*\bdocs/([\w-]+)\.md`*", r"[\1](\1.md)", text)
    text = re.sub(r"^::\n\n|:(?=:\n)", "", text, flags=re.MULTILINE)
    return text.replace("``", "`")


if __name__ == "__main__":
    PAGE.write_text(page())
