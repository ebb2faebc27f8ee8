"""Errors on the command line: one plain line on stderr and an exit code, never a traceback."""

import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

import orjson
import typer

from memoranda.kernel.errors import MemorandaError
from memoranda.surfaces.cli.help import PlainGroup
from memoranda.surfaces.cli.present import plain
from memoranda.surfaces.errors import WRONG_USE, exit_code

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
        typer.echo(orjson.dumps({"error": {"code": code, "message": said}}), err=True)  # noqa: TID251 - shown
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
        self._told: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Show one."""
        why = "" if record.exc_info is None else f": {record.exc_info[1]}"
        line = f"warning: {plain(record.getMessage() + why)}"
        if line not in self._told:  # once is enough
            self._told.add(line)
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
