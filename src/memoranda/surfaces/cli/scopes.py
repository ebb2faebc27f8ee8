"""``memoranda scopes``: the scopes of a database."""

import asyncio

from memoranda.app.memory import scopes as scopes_of
from memoranda.surfaces.cli.options import AsJson, Database
from memoranda.surfaces.cli.present import print_json, print_line


def scopes(database: Database = None, json: AsJson = False) -> None:
    """List every scope that was ever written to in a database."""
    found = asyncio.run(scopes_of(database))
    if json:
        print_json(found)
    elif found:
        for scope in found:
            print_line(scope)
    else:
        print_line("Nothing was written to this database yet.")
