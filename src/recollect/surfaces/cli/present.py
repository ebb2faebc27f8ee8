"""Showing a result: for people through rich, for machines as JSON."""

import io
import sys

import orjson
import typer
from rich.console import Console


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
