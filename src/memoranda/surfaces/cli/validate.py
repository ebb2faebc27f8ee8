"""``memoranda validate``: is this a MemoryObject, is this a MemoryLog; if not, everything why."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from memoranda.ledger.log import read_log
from memoranda.ledger.validate import validate_object
from memoranda.ledger.violation import Violation
from memoranda.surfaces.cli.groups import group
from memoranda.surfaces.cli.options import AsJson
from memoranda.surfaces.cli.present import console, counted, listing, plain, print_json
from memoranda.surfaces.errors import NOT_SOUND

validate = group("Validate a document of others, or of ours.")

File = Annotated[
    typer.FileBinaryRead, typer.Argument(metavar="FILE", help="The file; - is standard input.")
]


@validate.command("object")
def validate_object_file(file: File, json: AsJson = False) -> None:
    """Validate a MemoryObject: every violation, with the rule it breaks. Exits with 5 for any."""
    _tell(validate_object(file.read()), json=json)


@validate.command("log")
def validate_log_file(
    file: File,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="List what is wrong, and let it through.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Validate a MemoryLog as NDJSON: every violation, with the rule it breaks. Exits with 5.

    With --lenient, for logs of others, what is wrong is listed, and the exit code is 0.
    """
    reading = read_log(file.read(), lenient=True)
    _tell(reading.let_through, json=json, lenient=lenient, events=len(reading.documents))


def _tell(
    found: Sequence[Violation], *, json: bool, lenient: bool = False, events: int | None = None
) -> None:
    errors = sum(one.severity == "error" for one in found)
    if json:
        violations = [asdict(one) for one in found]
        is_log = {} if events is None else {"events": events}
        print_json({"valid": not errors, **is_log, "violations": violations})
    else:
        _show(found, errors, events)
    if errors and not lenient:
        raise typer.Exit(NOT_SOUND)


def _show(found: Sequence[Violation], errors: int, events: int | None) -> None:
    out = console()
    if found:
        table = listing()
        if events is not None:
            table.add_column("line", justify="right", no_wrap=True)
        for name in ("check", "rule", "severity"):
            table.add_column(name, no_wrap=True)
        table.add_column("what is wrong", ratio=1, overflow="fold")
        for one in found:
            line = [] if events is None else ["-" if one.line is None else f"{one.line:,}"]
            why = Text(plain(f"{one.where}: {one.why}"))
            table.add_row(*line, one.check, one.rule, one.severity, why)
        out.print(table)
        out.print()
    what = "The object" if events is None else f"The log of {counted(events, 'event')}"
    if errors:
        warnings = len(found) - errors
        also = f" and {counted(warnings, 'warning')}" if warnings else ""
        out.print(f"{what} is not valid: {counted(errors, 'error')}{also}.")
    else:
        out.print(f"{what} is valid.")
