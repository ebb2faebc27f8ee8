"""Showing a result: for people through rich, for machines as JSON."""

import orjson
import typer
from rich.console import Console


def console() -> Console:
    """Standard output for people: colours only on a terminal, and never with NO_COLOR set."""
    return Console(highlight=False, markup=False, emoji=False)


def print_json(value: object) -> None:
    """One JSON document on standard output, in UTF-8 whatever the locale, indented."""
    typer.echo(orjson.dumps(value, option=orjson.OPT_INDENT_2))
