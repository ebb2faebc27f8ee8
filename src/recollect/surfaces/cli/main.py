"""The command ``recollect`` and its list of commands.

A command is a plain function in a module of its own, with its options as annotated parameters;
one line at the end of this file adds it.
"""

from importlib.metadata import version
from typing import Annotated

import typer

from recollect.surfaces.cli.demo import demo
from recollect.surfaces.cli.errors import PlainErrors
from recollect.surfaces.cli.rules import rules
from recollect.surfaces.cli.scopes import scopes

app = typer.Typer(
    name="recollect",
    cls=PlainErrors,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"recollect {version('recollect')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def recollect(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Memory for AI agents that can be audited, replayed and trusted."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command()(rules)
app.command()(scopes)
app.command()(demo)
