"""``memoranda import``: MemoryObjects of others, or of another scope, come into this one."""

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.text import Text

from memoranda.app.memory import Memory
from memoranda.journeys.govern.importing import ImportReport
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Scope
from memoranda.surfaces.cli.present import console, counted, listing, plain, print_json


def import_(
    file: Annotated[
        typer.FileBinaryRead,
        typer.Argument(metavar="FILE", help="MemoryObjects as NDJSON; - is standard input."),
    ],
    log: Annotated[
        typer.FileBinaryRead | None,
        typer.Option(metavar="FILE", help="Their MemoryLog, which is compared with them."),
    ] = None,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Take what can be taken, and name every other line.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would come in.")
    ] = False,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Bring MemoryObjects into a scope: all of a file, or nothing. They are untrusted.

    What they say is kept; versions and hashes are made anew, and the journal says who imported
    them, and when.
    """
    lines, events = file.read(), None if log is None else log.read()

    async def act(memory: Memory[Any]) -> ImportReport:
        return await memory.import_objects(lines, log=events, lenient=lenient, dry_run=dry_run)

    report = Place(database, scope, actor).run(act, makes=True)
    if json:
        print_json(_as_json(report))
    else:
        _show(report)


def _as_json(report: ImportReport) -> dict[str, Any]:
    return {
        "dry_run": report.is_dry_run,
        "lines": report.lines,
        "objects": report.objects,
        "versions": report.versions,
        "refused": [asdict(one) for one in report.refused],
        "log": [asdict(one) for one in report.log],
    }


def _show(report: ImportReport) -> None:
    out = console()
    if report.refused:
        table = listing()
        table.add_column("line", justify="right", no_wrap=True)
        table.add_column("why it is refused", ratio=1, overflow="fold")
        for one in report.refused:
            table.add_row(f"{one.line:,}", Text(plain(str(one))))
        out.print(table)
        out.print()
    for fault in report.log:
        out.print(Text(plain(f"log: {fault}")))
    done = "would come in" if report.is_dry_run else "came in, untrusted"
    out.print(
        f"{counted(report.objects, 'object')} with {counted(report.versions, 'version')} {done};"
        f" {counted(len(report.refused), 'line')} of {report.lines:,} refused."
    )
