"""Showing a result: for people through rich, for machines as JSON."""

import io
import sys
from collections.abc import Iterable
from typing import Any, Final

import orjson
import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from memoranda.identity import canonical_bytes
from memoranda.kernel.json import JsonValue
from memoranda.ledger.object import data_of
from memoranda.ledger.time import format_time

_SHORT: Final = 12


def console() -> Console:
    """Standard output for people: colours only on a terminal, and never with NO_COLOR set.

    A terminal that can't show a character shows a question mark instead of ending the program.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    return Console(highlight=False, markup=False, emoji=False)


def print_line(line: str) -> None:
    """One line as it is, in UTF-8 whatever the locale: scripts read it."""
    typer.echo((line + "\n").encode(), nl=False)


def print_json(value: object) -> None:
    """One JSON document on standard output, in UTF-8 whatever the locale, indented."""
    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))  # noqa: TID251 - shown, never hashed


def print_item(out: Console, mark: str, text: str, style: str = "") -> None:
    """A sentence behind a mark; where it goes on, it goes on below itself."""
    for number, part in enumerate(Text(text).wrap(out, out.width - len(mark))):
        start = mark if number == 0 else " " * len(mark)
        out.print(Text(f"{start}{part.plain.rstrip()}", style), soft_wrap=True)


# ------------------------------------------------------------------------------- texts


def plain(text: str) -> str:
    """A text on one line, without a character that would steer a terminal or hide what is there."""
    return "".join(one if one.isprintable() else "\ufffd" for one in " ".join(text.split()))


def statement(data: Any) -> str:
    """What is remembered, as a text: itself, or its canonical JSON."""
    return plain(data if isinstance(data, str) else canonical_bytes(data).decode())


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


# ------------------------------------------------------------------------------ tables


def listing() -> Table:
    """A table without lines that takes the width there is."""
    return Table(box=None, expand=True, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")


def details(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    """Names and values, a line each; long values go on below."""
    table = Table(box=None, expand=True, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(ratio=1, overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(value) if isinstance(value, str) else value)
    return table
