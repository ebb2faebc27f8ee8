"""``memoranda upgrade``: bring the schema of a database up to date."""

import asyncio

from memoranda.app.maintain import upgrade as upgraded
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import AsJson, Database
from memoranda.surfaces.cli.present import print_json, print_line


def upgrade(database: Database = None, json: AsJson = False) -> None:
    """Bring the schema of a database up to date, as the first write of a newer version does.

    Reading never does. Make a backup before: an older version can't read what a newer one wrote.
    """
    applied = asyncio.run(upgraded(Place(database).url))
    if json:
        print_json({"applied": list(applied)})
    elif applied:
        for name in applied:
            print_line(f"applied {name}")
    else:
        print_line("It is up to date: there was nothing to do.")
