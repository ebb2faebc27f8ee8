"""``memoranda copy`` and ``memoranda backup``: journals go elsewhere, and are verified there."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from memoranda.app.audit import DatabaseAudit
from memoranda.app.maintain import backup as backup_of
from memoranda.app.maintain import copy_scopes
from memoranda.app.maintain import restore as restored
from memoranda.app.url import hidden
from memoranda.surfaces.cli.groups import group
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import AsJson, Database, Scopes
from memoranda.surfaces.cli.present import (
    console,
    counted,
    listing,
    plain,
    print_item,
    print_json,
)
from memoranda.surfaces.cli.progress import bars
from memoranda.surfaces.cli.report import as_json, part_as_json, show, status_of

backup = group("Take backups, and put them back.", default="take")

Target = Annotated[
    str,
    typer.Argument(metavar="TO", help="The URL of a database; it must not have the scopes yet."),
]


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The URL of a database.")],
    target: Target,
    scope: Scopes = None,
    json: AsJson = False,
) -> None:
    """Copy scopes into another database, with chain, tree and checkpoints as they are.

    Each scope lands whole or not at all, and is verified where it arrived. The source stays.
    """
    from_url, to_url = Place(source).url, Place(target).url
    with bars() as progress:
        found = asyncio.run(copy_scopes(from_url, to_url, scopes=scope, progress=progress))
    _show_copies("copied", found, hidden(from_url), hidden(to_url), json=json)


@backup.command("take")
def take(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file that is not there yet.")],
    database: Database = None,
    json: AsJson = False,
) -> None:
    """Copy all scopes into a new SQLite file, while writing goes on, and verify it.

    The file has its name when all of it is on the disk and sound, never before. The word take may
    be left out.
    """
    url = Place(database).url
    with bars() as progress:
        found = asyncio.run(backup_of(url, file, progress=progress))
    _show_copies("backed up", found, hidden(url), str(file), json=json)


@backup.command("restore")
def restore(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", exists=True, dir_okay=False, readable=True, help="A backup."
        ),
    ],
    target: Target,
    json: AsJson = False,
) -> None:
    """Copy the scopes of a backup into a database, and compare them with the anchors.

    Exits with 5 when an anchor has seen entries that came after the backup: what it restores is
    complete, and those entries are gone.
    """
    place = Place(target)
    seal = place.seal()
    with bars() as progress:
        found = asyncio.run(restored(file, place.url, seal=seal, progress=progress))
    if json:
        print_json({"from": str(file), "to": hidden(place.url)} | as_json(found, seal))
    else:
        out = console()
        print_item(out, "", _summary("restored", found, str(file), hidden(place.url)))
        out.print()
        show(out, found, seal)
        out.print()
        print_item(out, "", _after_restoring(found))
    if status := status_of(found):
        raise typer.Exit(status)


def _after_restoring(found: DatabaseAudit) -> str:
    findings = [one for part in found.scopes for one in part.outside]
    if any(one.verdict == "rolled_back" for one in findings):
        return (
            "The backup is older than what an anchor has seen: that is the rollback above. The "
            "entries that came after the backup are not in it. The anchor will show a rollback "
            "from now on, and a fork once the journal has grown: nobody can tell a backup that "
            "was put back from a journal that was cut off. Keep this report, with the reason."
        )
    return (
        "A backup is as old as it is: an anchor that has seen entries from after it will show a "
        "rollback."
    )


def _summary(done: str, found: DatabaseAudit, source: str, target: str) -> str:
    entries = sum(part.report.size for part in found.scopes)
    what = f"{counted(len(found.scopes), 'scope')}, {counted(entries, 'entry', 'entries')}"
    return f"{done} {what}, from {plain(source)} to {plain(target)}"


def _show_copies(done: str, found: DatabaseAudit, source: str, target: str, *, json: bool) -> None:
    if json:
        scopes: list[dict[str, Any]] = [part_as_json(part) for part in found.scopes]
        print_json({"from": source, "to": target, "scopes": scopes})
        return
    out = console()
    print_item(out, "", _summary(done, found, source, target))
    if not found.scopes:
        return
    out.print()
    table = listing()
    table.add_column("scope", ratio=1, overflow="fold")
    for name in ("entries", "erased", "versions"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("on arrival", no_wrap=True)
    for part in found.scopes:
        counts = (part.report.size, part.report.erased, part.report.rows)
        sound = Text("sound", "green")  # what is not raises
        table.add_row(Text(plain(part.scope)), *(f"{count:,}" for count in counts), sound)
    out.print(table)
