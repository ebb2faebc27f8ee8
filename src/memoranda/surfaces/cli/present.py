"""Showing a result: for people through rich, for machines as JSON."""

import io
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import orjson
import typer
from rich.console import Console, Group, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from memoranda import formats
from memoranda.app import surfaces

if TYPE_CHECKING:
    from memoranda.types import JsonValue

NARROW: Final = 72
"""Below so many columns what would be a row of a table stands line by line."""
WIDE: Final = 100
"""From so many columns on a table shows ids whole."""
_SHORT: Final = 12


# ------------------------------------------------------------------------------ output


def console() -> Console:
    """Standard output for people: colours only on a terminal, and never with NO_COLOR set.

    A terminal that can't show a character shows a question mark instead of ending the program.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False, markup=False, emoji=False)


def show(shown: RenderableType) -> None:
    """Something for people, without the spaces that fill its lines."""
    out = console()
    with out.capture() as captured:
        out.print(shown)
    for line in captured.get().splitlines():
        out.print(Text.from_ansi(line.rstrip()), soft_wrap=True)


def print_line(line: str) -> None:
    """One line as it is, in UTF-8 whatever the locale: scripts read it."""
    typer.echo((line + "\n").encode(), nl=False)


def json_bytes(value: object, *, indented: bool = False) -> bytes:
    """A result as JSON that is shown, and never hashed."""
    option = orjson.OPT_INDENT_2 if indented else None
    return orjson.dumps(surfaces.plain_json(value), option=option)  # noqa: TID251 - shown


def print_json(value: object) -> None:
    """A result as one JSON document, in UTF-8 whatever the locale; indented on a terminal."""
    typer.echo(json_bytes(value, indented=_is_terminal()))


def print_json_line(value: object) -> None:
    """A result as one line of JSON: a stream of them is read line by line."""
    print_line(json_bytes(value).decode())


def _is_terminal() -> bool:
    return sys.stdout.isatty()


# ----------------------------------------------------------------------------- results


@dataclass(frozen=True, slots=True)
class Output:
    """A result that only the command line has: as a document, and in words."""

    document: Any
    words: RenderableType
    exit_status: int = 0

    def to_wire(self) -> "JsonValue":
        """The document as plain JSON."""
        return surfaces.plain_json(self.document)


@dataclass(frozen=True, slots=True)
class _View:
    """How results of a type are shown."""

    words: Callable[[Any], RenderableType]
    exit_status: Callable[[Any], int]
    table: Callable[[Sequence[Any]], RenderableType] | None


_VIEWS: Final[dict[type, _View]] = {}


def shows(
    kind: type,
    *,
    table: Callable[[Sequence[Any]], RenderableType] | None = None,
    exit_status: Callable[[Any], int] = lambda _: 0,
) -> Callable[[Callable[[Any], RenderableType]], Callable[[Any], RenderableType]]:
    """Register the words for results of a type; several are a table, or stand below each other.

    The exit code is 0, unless a result says that something is not as it should be.
    """

    def register(words: Callable[[Any], RenderableType]) -> Callable[[Any], RenderableType]:
        _VIEWS[kind] = _View(words, exit_status, table)
        return words

    return register


@shows(str)
def _line(line: str) -> RenderableType:
    return Text(plain(line))


@shows(Output, exit_status=lambda output: int(output.exit_status))
def _output(output: Output) -> RenderableType:
    return Text(output.words) if isinstance(output.words, str) else output.words


def in_words(result: Any) -> RenderableType:
    """A result for people, by its type; what has no words of its own is shown as JSON."""
    if isinstance(result, Sequence) and not isinstance(result, str):
        view = _VIEWS.get(type(result[0])) if result else None
        if view is not None and view.table is not None:
            return view.table(result)
        parts = map(in_words, result)
        return Group(*parts) if result and isinstance(result[0], str) else blocks(parts)
    if (view := _VIEWS.get(type(result))) is not None:
        return view.words(result)
    return Text(json_bytes(result, indented=True).decode())


def exit_status(result: Any) -> int:
    """The exit code of a result; of several, the highest."""
    if isinstance(result, Sequence) and not isinstance(result, str):
        return max(map(exit_status, result), default=0)
    view = _VIEWS.get(type(result))
    return 0 if view is None else view.exit_status(result)


# ------------------------------------------------------------------------------- texts


def plain(text: str) -> str:
    """A text on one line, without a character that would steer a terminal or hide what is there."""
    return "".join(one if one.isprintable() else "\ufffd" for one in " ".join(text.split()))


def statement(data: Any) -> str:
    """What is remembered, as a text: itself, or its canonical JSON; of bytes, how many they are."""
    if isinstance(data, bytes):
        return counted(len(data), "byte")
    return plain(data if isinstance(data, str) else _spaced(data))


def _spaced(data: Any) -> str:
    """The canonical JSON of data, with spaces where a line may end."""
    return json.dumps(formats.parse_json(formats.canonical_bytes(data)), ensure_ascii=False)  # noqa: TID251 - shown


def asked_for(action: str, input: "JsonValue") -> str:
    """What an action was given; of an operation on memory, what it does to which object."""
    if not action.startswith("system.memory."):
        return statement(input)
    changes = [(value["event"], value["object"]) for value in input["changes"]]
    return "; ".join(
        f"{event} {plain(document['id'])}: {statement(surfaces.data_of(document))}"
        for event, document in changes
    )


def when(ms: int | None) -> str:
    """A time in UTC, to the second; a dash for none."""
    return "-" if ms is None else f"{surfaces.format_time(ms).partition('.')[0]}Z"


def short(hash: str) -> str:  # noqa: A002 - what it is
    """The beginning of a hash, enough to tell it from others at sight."""
    return hash if len(hash) <= _SHORT else f"{hash[:_SHORT]}…"


def counted(number: int, text: str, many: str | None = None) -> str:
    """A number with its noun: ``1 entry``, ``2,000 entries``."""
    return f"{number:,} {text if number == 1 else many or text + 's'}"


def item(mark: str, text: str | Text, style: str = "") -> Table:
    """A sentence behind a mark; where it goes on, it goes on below itself."""
    made = Table.grid(padding=0)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    made.add_row(Text(mark, style), Text(text, style) if isinstance(text, str) else text)
    return made


# ------------------------------------------------------------------------------ tables


def cell(value: Any) -> RenderableType:
    """A value as it stands in a row: texts on one line, numbers with commas, lists with commas."""
    match value:
        case bool():
            return Text("yes" if value else "no")
        case int():
            return Text(f"{value:,}")
        case str():
            return Text(plain(value))
        case list() | tuple():
            return Text(plain(", ".join(map(str, value))))
        case dict() | float() | bytes():
            return Text(statement(value))
    return cast("RenderableType", value)


def table(columns: str, rows: Iterable[Sequence[Any]]) -> RenderableType:
    """Rows under headings; on a narrow terminal each row line by line.

    The columns are named with commas between them. A name that ends with ``#`` is that of numbers;
    with ``+`` its column takes the width that is left, and goes on below itself; with ``…`` it
    takes it, and is cut.
    """
    filled = [list(map(cell, row)) for row in rows]
    marked = columns.split(", ")
    names = [name.rstrip("#+…") for name in marked]
    if console().width < NARROW and "…" not in columns:
        return blocks(details(zip(names, row, strict=True)) for row in filled)
    made = Table(box=None, expand=True, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for name, mark in zip(names, marked, strict=True):
        made.add_column(
            name,
            justify="right" if mark.endswith("#") else "left",
            ratio=1 if mark.endswith(("+", "…")) else None,
            no_wrap=not mark.endswith("+"),
            overflow="ellipsis" if mark.endswith("…") else "fold",
        )
    for row in filled:
        made.add_row(*row)
    return made


def details(rows: Iterable[tuple[str, Any]]) -> Table:
    """Names and values, a line each; long values go on below. None and empty lists are left out."""
    made = Table(box=None, expand=True, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(ratio=1, overflow="fold")
    for name, value in rows:
        if value is not None and value not in ((), [], {}):
            made.add_row(name, cell(value))
    return made


def blocks(parts: Iterable[RenderableType]) -> Group:
    """One below the other, with an empty line between them."""
    found: list[RenderableType] = []
    for part in parts:
        found += [Text(), part] if found else [part]
    return Group(*found)


@contextmanager
def bars() -> Iterator[Callable[[str], Callable[[str, int, int], None]]]:
    """Bars, one for each walk over a scope; they are gone when the next scope has its turn."""
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:

        def of(scope: str) -> Callable[[str, int, int], None]:
            tasks: dict[str, TaskID] = {}
            for before in progress.tasks:  # a database may have more scopes than a screen lines
                progress.update(before.id, visible=False)

            def report(what: str, done: int, total: int) -> None:
                if what not in tasks:
                    name = plain(scope) or "directory"
                    tasks[what] = progress.add_task(f"{name}: {what}", total=total)
                progress.update(tasks[what], completed=done, total=max(done, total))

            return report

        yield of
