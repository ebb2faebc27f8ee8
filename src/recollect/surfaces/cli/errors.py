"""Errors on the command line: one plain line on stderr and an exit code, never a traceback."""

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any, NoReturn

import orjson
import typer
from typer.core import TyperGroup

from recollect.kernel.errors import RecollectError
from recollect.surfaces.errors import WRONG_USE, exit_code

_UsageError: type[Exception] = typer.BadParameter.__mro__[1]
"""What typer raises for wrong use: click's class, or that of its own copy, by version."""


class PlainErrors(TyperGroup):
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
            status = run(**extra)
        except RecollectError as refused:
            _leave(exit_code(refused), refused.code, str(refused), as_json=as_json)
        except _UsageError as refused:
            message = refused.format_message()  # type: ignore[attr-defined]
            _leave(WRONG_USE, "usage", message, as_json=as_json)
        except typer.Abort:
            _leave(1, "aborted", "Aborted.", as_json=as_json)
        sys.exit(status if isinstance(status, int) else 0)


def wrong_use(message: str) -> Exception:
    """An error to raise when an argument can't be what was meant, beyond what typer checks."""
    return _UsageError(message)


def _leave(status: int, code: str, message: str, *, as_json: bool) -> NoReturn:
    if as_json:
        typer.echo(orjson.dumps({"error": {"code": code, "message": message}}), err=True)  # noqa: TID251 - shown
    else:
        typer.echo(f"error: {' '.join(message.split())}", err=True)
    sys.exit(status)
