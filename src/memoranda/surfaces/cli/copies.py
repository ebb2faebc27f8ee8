"""``memoranda copy``, ``backup`` and ``upgrade``: whole databases, and journals that travel."""

import asyncio
from pathlib import Path
from typing import Annotated

from memoranda.app.maintain import backup as backup_of
from memoranda.app.maintain import copy_scopes
from memoranda.app.maintain import restore as restored
from memoranda.app.maintain import upgrade as upgraded
from memoranda.app.url import hidden
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.help import arg
from memoranda.surfaces.cli.place import Place
from memoranda.surfaces.cli.present import Told
from memoranda.surfaces.cli.progress import bars
from memoranda.surfaces.cli.report import Copied, Verified


@command(common=("scopes",))
def copy(
    place: Place,
    source: Annotated[str, arg("FROM", "A database: a URL or a file.")],
    target: Annotated[str, arg("TO", "Another one, which must not have the scopes yet.")],
) -> Copied:
    """Copy scopes into another database, with chain, tree and checkpoints as they are.

    Each scope lands whole or not at all, and is verified where it arrived. The source stays.
    """
    from_url, to_url = Place(source).url, Place(target).url
    with bars() as progress:
        found = asyncio.run(copy_scopes(from_url, to_url, scopes=place.scopes, progress=progress))
    return Copied("copied", found, hidden(from_url), hidden(to_url))


@command(common=("database",))
def take(
    place: Place,
    file: Annotated[Path, arg("FILE", "A file that is not there yet.")],
) -> Copied:
    """Copy all scopes into a new SQLite file, while writing goes on, and verify it.

    The file has its name when all of it is on the disk and sound, never before.
    """
    with bars() as progress:
        found = asyncio.run(backup_of(place.url, file, progress=progress))
    return Copied("backed up", found, hidden(place.url), str(file))


@command(common=("database",))
def restore(
    place: Place,
    file: Annotated[Path, arg("FILE", "A backup.", exists=True, dir_okay=False, readable=True)],
) -> Verified:
    """Copy the scopes of a backup into a database, and compare them with the anchors.

    Exits with 5 when an anchor has seen entries that came after the backup: what it restores is
    complete, and those entries are gone.
    """
    seal = place.seal()
    with bars() as progress:
        found = asyncio.run(restored(file, place.url, seal=seal, progress=progress))
    done = Copied("restored", found, str(file), hidden(place.url))
    return Verified(found, seal, restored=done)


@command(common=("database",))
def upgrade(place: Place) -> Told:
    """Bring the schema of a database up to date, as the first write of a newer version does.

    Reading never does. Make a backup before: an older version can't read what a newer one wrote.
    """
    applied = asyncio.run(upgraded(place.url))
    lines = [f"applied {name}" for name in applied] or [
        "It is up to date: there was nothing to do."
    ]
    return Told({"applied": list(applied)}, "\n".join(lines))
