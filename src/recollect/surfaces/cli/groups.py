"""Commands that have commands: named without one, they show their help."""

from typing import Any

import typer


def group(help: str) -> typer.Typer:  # noqa: A002 - typer's word for it
    """A group of commands."""
    made = typer.Typer(help=help)

    @made.callback(invoke_without_command=True, help=help)
    def show_help(context: typer.Context) -> Any:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return made
