"""``recollect scopes``: the scopes of a database."""

import asyncio

from recollect.app.memory import scopes as scopes_of
from recollect.surfaces.cli.options import AsJson, Database
from recollect.surfaces.cli.present import print_json, print_line


def scopes(database: Database = None, json: AsJson = False) -> None:
    """List every scope that was ever opened in a database."""
    found = asyncio.run(scopes_of(database))
    if json:
        print_json(found)
    elif found:
        for scope in found:
            print_line(scope)
    else:
        print_line("No scope was opened in this database yet.")
