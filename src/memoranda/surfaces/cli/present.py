"""Showing a result: for people through rich, for machines as JSON."""

import io
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson
import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from memoranda.identity import canonical_bytes
from memoranda.kernel.json import JsonValue, parse
from memoranda.kernel.results import plain as as_json
from memoranda.ledger.object import data_of
from memoranda.ledger.time import format_time

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


def print_json(value: object) -> None:
    """A result as one JSON document, in UTF-8 whatever the locale; indented on a terminal."""
    option = orjson.OPT_INDENT_2 if _is_terminal() else None
    typer.echo(orjson.dumps(as_json(value), option=option))  # noqa: TID251 - shown, never hashed


def print_json_line(value: object) -> None:
    """A result as one line of JSON: a stream of them is read line by line."""
    print_line(orjson.dumps(as_json(value)).decode())  # noqa: TID251 - shown, never hashed


def _is_terminal() -> bool:
    return sys.stdout.isatty()


@dataclass(frozen=True, slots=True)
class Told:
    """A result that only the command line has: as a document, and in words."""

    document: JsonValue
    words: RenderableType

    def to_wire(self) -> JsonValue:
        """The document."""
        return self.document


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
    return json.dumps(parse(canonical_bytes(data)), ensure_ascii=False)  # noqa: TID251 - shown


def asked_for(action: str, input: JsonValue) -> str:
    """What an action was given; of an operation on memory, what it does to which object."""
    if not action.startswith("system.memory."):
        return statement(input)
    changes = [(one["event"], one["object"]) for one in input["changes"]]
    return "; ".join(
        f"{event} {plain(document['id'])}: {statement(data_of(document))}"
        for event, document in changes
    )


def when(ms: int | None) -> str:
    """A time in UTC, to the second; a dash for none."""
    return "-" if ms is None else f"{format_time(ms).partition('.')[0]}Z"


def short(hash: str) -> str:  # noqa: A002 - what it is
    """The beginning of a hash, enough to tell it from others at sight."""
    return hash if len(hash) <= _SHORT else f"{hash[:_SHORT]}…"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: ``1 entry``, ``2,000 entries``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def item(mark: str, text: str | Text, style: str = "") -> Table:
    """A sentence behind a mark; where it goes on, it goes on below itself."""
    made = Table.grid(padding=0)
    made.add_column(no_wrap=True)
    made.add_column(overflow="fold")
    made.add_row(Text(mark, style), Text(text, style) if isinstance(text, str) else text)
    return made


# ------------------------------------------------------------------------------ tables


class Column(NamedTuple):
    """A column of a table: its heading, and how its values stand in it."""

    name: str
    is_number: bool = False
    is_text: bool = False
    """It takes the width that is left, and goes on below itself."""
    is_cut: bool = False
    """The same, but on one line."""


def table(columns: Sequence[Column], rows: Iterable[Sequence[Any]]) -> RenderableType:
    """Rows under headings; on a narrow terminal each row line by line."""
    filled = list(rows)
    if console().width < NARROW and not any(one.is_cut for one in columns):
        names = [one.name for one in columns]
        return blocks(details(zip(names, row, strict=True)) for row in filled)
    made = Table(box=None, expand=True, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for one in columns:
        made.add_column(
            one.name,
            justify="right" if one.is_number else "left",
            ratio=1 if one.is_text or one.is_cut else None,
            no_wrap=not one.is_text,
            overflow="ellipsis" if one.is_cut else "fold",
        )
    for row in filled:
        made.add_row(*[Text(cell) if isinstance(cell, str) else cell for cell in row])
    return made


def details(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    """Names and values, a line each; long values go on below."""
    made = Table(box=None, expand=True, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(ratio=1, overflow="fold")
    for name, value in rows:
        made.add_row(name, Text(value) if isinstance(value, str) else value)
    return made


def blocks(parts: Iterable[RenderableType]) -> Group:
    """One below the other, with an empty line between them."""
    found: list[RenderableType] = []
    for one in parts:
        found += [Text(), one] if found else [one]
    return Group(*found)
