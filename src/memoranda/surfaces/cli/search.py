"""``memoranda search``: what is remembered, by its words."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from memoranda.app.memory import Memory
from memoranda.journeys.govern.reading import SEARCH_LIMIT
from memoranda.journeys.govern.remembered import Remembered
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.memories import as_json, table_of
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Scope
from memoranda.surfaces.cli.present import console, print_json, print_line
from memoranda.surfaces.cli.read import Factual, ValidAt


def search(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The words to look for.")],
    any_: Annotated[
        bool, typer.Option("--any", help="Any of the words; by default, every one.")
    ] = False,
    limit: Annotated[int, typer.Option(min=0, help="At most so many.")] = SEARCH_LIMIT,
    valid_at: ValidAt = None,
    factual: Factual = False,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Find what is current by its words, newest first."""

    async def act(memory: Memory[Any]) -> Sequence[Remembered[Any]]:
        return await memory.search(
            text, every=not any_, limit=limit, valid_at=valid_at, factual=factual
        )

    found = Place(database, scope, actor).run(act, reads=True)
    if json:
        print_json([as_json(one) for one in found])
    elif found:
        console().print(table_of(found))
    else:
        print_line("Nothing current says that.")
