"""Commands that have commands: named without one, they show their help, or do the usual."""

from typing import Any

import typer
from typer.core import TyperGroup


def group(help: str, *, default: str | None = None) -> typer.Typer:  # noqa: A002 - typer's word
    """A group of commands. Where none of them is named, the arguments are for `default`."""
    made = typer.Typer(help=help, cls=TyperGroup if default is None else _defaulting(default))

    @made.callback(invoke_without_command=True, help=help)
    def show_help(context: typer.Context) -> Any:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return made


def _defaulting(name: str) -> type[TyperGroup]:
    class Defaulting(TyperGroup):
        """A group whose one command may go without its name."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            own = {*self.commands, *ctx.help_option_names}
            if args and args[0] not in own:
                args = [name, *args]
            return super().parse_args(ctx, args)

    return Defaulting
