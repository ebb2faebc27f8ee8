"""How commands show their help and refuse: plain words, one line, an exit code, no traceback."""

import inspect
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from enum import Enum
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final, Literal, NoReturn, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from memoranda.errors import MemorandaError
from memoranda.surfaces.cli.present import json_bytes, plain
from memoranda.surfaces.errors import WRONG_USE, exit_code

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
        return "|".join(str(member.value) for member in kind)
    if kind in _WORDS:
        return _WORDS[kind]
    return next((metavar(value) for value in get_args(kind) if value is not type(None)), "FILE")


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
            name, command, rest = super().resolve_command(ctx, args)
        except Exception as refused:
            if args and hasattr(refused, "message"):
                refused.message = self._unknown(ctx.command_path, args[0])
            raise
        return name, getattr(command, "loaded", command), rest

    def _unknown(self, path: str, word: str) -> str:
        known = [name for name in self.commands if name not in DESTRUCTIVE]
        near = [f"'{path} {name}'" for name in get_close_matches(word, known, n=3)]
        hint = f"Did you mean {' or '.join(near)}?" if near else f"'{path} --help' lists them."
        return f"There is no command '{path} {word}'. {hint}"


class Stub(TyperCommand):
    """A command at the top that the help can name before it is `loaded`."""

    def __init__(self, name: str, module: str, summary: str, panel: str) -> None:
        super().__init__(name, help=summary, rich_help_panel=panel)
        self._module = module

    @cached_property
    def loaded(self) -> Any:
        """The command itself: what has its name in its module, with _ where Python has it too."""
        module = vars(import_module(f"memoranda.surfaces.cli.{self._module}"))
        found = typer.main.get_command(module.get(f"{self.name}_") or module[str(self.name)])
        found.name = self.name
        return found


def as_typer(run: Callable[..., None], name: str | None = None) -> typer.Typer:
    """A command of a function; the paragraphs of its docstring are its help."""
    paragraphs = (inspect.getdoc(run) or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    made = typer.Typer(add_completion=False)
    made.command(name, cls=Plain, help=text)(run)
    return made


def group(help: str, *commands: typer.Typer, **groups: typer.Typer) -> typer.Typer:  # noqa: A002 - typer's word
    """A group of commands, and of groups; named without one of them, it shows its help."""
    made = typer.Typer(help=help, cls=PlainGroup, add_completion=False)
    for command in commands:
        made.add_typer(command)
    for name, below in groups.items():
        made.add_typer(below, name=name)

    @made.callback(invoke_without_command=True, help=help)
    def show_help(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return made


def _in_plain_words(parameters: Sequence[Any]) -> list[Any]:
    for parameter in parameters:
        if parameter.param_type_name == "argument":  # its name is all that is said of it
            vars(parameter)["display_type_rich"] = _nothing
        elif getattr(parameter, "is_flag", False) and parameter.metavar is None:
            parameter.metavar = ""
    return list(parameters)


def _nothing(ctx: Any) -> str:  # noqa: ARG001 - typer's signature
    return ""


def opt(help: str, *names: str, **more: Any) -> Any:  # noqa: A002 - typer's word
    """An option, by what its help says; it has the name of its parameter, unless others are."""
    return typer.Option(*names, help=help, **more)


def arg(name: str, help: str, **more: Any) -> Any:  # noqa: A002 - typer's word
    """An argument, by the name that the help shows and what is said of it."""
    return typer.Argument(metavar=name, help=help, **more)


_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for wrong use: click's class, or that of its own copy, by version."""


class PlainErrors(PlainGroup):
    """The group of all commands; whatever one of them refuses leaves through here.

    With ``--json`` among the arguments the line is ``{"error": {"code": …, "message": …}}``.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run one command line and exit; without `standalone_mode` errors reach the caller."""
        arguments = list(sys.argv[1:] if args is None else args)
        run = partial(super().main, arguments, prog_name, complete_var, False, windows_expand_args)
        if not standalone_mode:
            return run(**extra)
        as_json = "--json" in arguments
        try:
            with _plain_warnings():
                status = run(**extra)
            if sys.stdout is not None:
                sys.stdout.flush()
        except MemorandaError as refused:
            _leave(exit_code(refused), refused.code, str(refused), as_json=as_json)
        except _UsageError as refused:
            message = refused.format_message()  # type: ignore[attr-defined]
            _leave(WRONG_USE, "usage", message, as_json=as_json)
        except typer.Abort:
            _leave(1, "aborted", "Aborted.", as_json=as_json)
        except BrokenPipeError:  # whoever reads has left, and wants no words
            _drop_output()
            sys.exit(1)
        except OSError as failed:
            _drop_output()
            why = f"{failed.filename}: {failed.strerror}" if failed.filename else failed.strerror
            _leave(1, "output", f"It could not be written: {why or failed}.", as_json=as_json)
        sys.exit(status if isinstance(status, int) else 0)


def wrong_use(message: str) -> Exception:
    """An error to raise when an argument can't be what was meant, beyond what typer checks."""
    return _UsageError(message)


def _leave(status: int, code: str, message: str, *, as_json: bool) -> NoReturn:
    if as_json:
        said = message.encode(errors="backslashreplace").decode()  # bytes of a shell may be no text
        typer.echo(json_bytes({"error": {"code": code, "message": said}}), err=True)
    else:
        typer.echo(error_lines(message), err=True)
    sys.exit(status)


def error_lines(message: str) -> str:
    """What is wrong, for people: a message that is a list keeps its lines."""
    first, *rest = message.strip().splitlines() or [""]
    return "\n".join([f"error: {plain(first)}", *(f"  {plain(line)}" for line in rest)])


class _Warnings(logging.Handler):
    """What the library logs, as a plain line each."""

    def __init__(self, level: int) -> None:
        super().__init__(level)
        self._shown: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Show one."""
        why = "" if record.exc_info is None else f": {record.exc_info[1]}"
        line = f"warning: {plain(record.getMessage() + why)}"
        if line not in self._shown:  # once is enough
            self._shown.add(line)
            typer.echo(line, err=True)


@contextmanager
def _plain_warnings() -> Iterator[None]:
    log, handler = logging.getLogger("memoranda"), _Warnings(logging.WARNING)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def _drop_output() -> None:
    """Let the interpreter not try again, at its end, what just failed."""
    try:
        number = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
