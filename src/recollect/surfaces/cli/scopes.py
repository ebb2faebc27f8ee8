"""``recollect scopes``: the scopes of a database."""

import asyncio
from typing import Annotated

import typer

from recollect.app.memory import scopes as scopes_of
from recollect.surfaces.cli.present import print_json, print_line

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        "-d",
        metavar="URL",
        help="Which database; by default RECOLLECT_DATABASE_URL, then sqlite:///recollect.db.",
    ),
]


def scopes(
    database: Database = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of lines.")] = False,
) -> None:
    """List every scope that was ever opened in a database."""
    found = asyncio.run(scopes_of(database))
    if json:
        print_json(found)
    elif found:
        for scope in found:
            print_line(scope)
    else:
        print_line("No scope was opened in this database yet.")
