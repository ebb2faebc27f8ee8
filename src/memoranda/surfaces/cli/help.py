"""How commands show their help: plain words where typer shows Python's types."""

from collections.abc import Sequence
from difflib import get_close_matches
from enum import Enum
from pathlib import Path
from typing import Any, Final, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

DESTRUCTIVE: Final = frozenset(
    {"archive", "erase", "forget", "reject", "restore", "retire", "scrub"}
)
"""What is never suggested to somebody who typed something else."""
_WORDS: Final = {bool: "", int: "N", float: "NUMBER", str: "TEXT", Path: "FILE"}


def metavar(kind: Any) -> str:
    """What stands for a value of this type in a help text."""
    if get_origin(kind) is Literal:
        return "|".join(map(str, get_args(kind)))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(one.value) for one in kind)
    if kind in _WORDS:
        return _WORDS[kind]
    return next((metavar(one) for one in get_args(kind) if one is not type(None)), "FILE")


class Plain(TyperCommand):
    """A command whose help names its values in plain words."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its arguments and options, with --help."""
        return _in_plain_words(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """A group of commands; for a word that is none of them, nothing destructive is suggested."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Its options, with --help."""
        return _in_plain_words(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that is named; else an error that says which one may be meant."""
        try:
            return super().resolve_command(ctx, args)
        except Exception as refused:
            if args and hasattr(refused, "message"):
                refused.message = self._unknown(ctx.command_path, args[0])
            raise

    def _unknown(self, path: str, word: str) -> str:
        known = [name for name in self.commands if name not in DESTRUCTIVE]
        near = [f"'{path} {name}'" for name in get_close_matches(word, known, n=3)]
        hint = f"Did you mean {' or '.join(near)}?" if near else f"'{path} --help' lists them."
        return f"There is no command '{path} {word}'. {hint}"


def group(help: str) -> typer.Typer:  # noqa: A002 - typer's word
    """A group of commands; named without one of them, it shows its help."""
    made = typer.Typer(help=help, cls=PlainGroup)

    @made.callback(invoke_without_command=True, help=help)
    def show_help(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return made


def _in_plain_words(parameters: Sequence[Any]) -> list[Any]:
    for one in parameters:
        if one.param_type_name == "argument":  # its name is all that is said of it
            vars(one)["display_type_rich"] = _nothing
        elif getattr(one, "is_flag", False) and one.metavar is None:
            one.metavar = ""
    return list(parameters)


def _nothing(ctx: Any) -> str:  # noqa: ARG001 - typer's signature
    return ""


def opt(help: str, *names: str, **more: Any) -> Any:  # noqa: A002 - typer's word
    """An option, by what its help says; it has the name of its parameter, unless others are."""
    return typer.Option(*names, help=help, **more)


def arg(name: str, help: str, **more: Any) -> Any:  # noqa: A002 - typer's word
    """An argument, by the name that the help shows and what is said of it."""
    return typer.Argument(metavar=name, help=help, **more)
