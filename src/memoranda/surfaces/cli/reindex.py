"""``memoranda reindex``: make the word index anew."""

import asyncio
from collections.abc import Sequence

from memoranda.app.memory import open, scopes
from memoranda.journeys.maintain.reindex import Reindexed
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Scopes
from memoranda.surfaces.cli.present import console, details, plain, print_json, print_line


def reindex(
    database: Database = None, scope: Scopes = None, actor: Actor = None, json: AsJson = False
) -> None:
    """Make the word index anew: after another tokenizer came, or when it is damaged.

    It is logged in the journal of each scope. Writing goes on meanwhile; searches of the scope
    are refused until its index is whole.
    """
    place = Place(database, None, actor)
    found = asyncio.run(_made(place, scope))
    if json:
        print_json([{"scope": name, **one.document} for name, one in found])
    elif found:
        for name, one in found:
            rows = [("reindexed", plain(name)), ("objects", f"{one.objects:,}")]
            console().print(details([*rows, ("digest", one.digest)]))
    else:
        print_line("Nothing was written to this database yet.")


async def _made(place: Place, named: Sequence[str] | None) -> list[tuple[str, Reindexed]]:
    found = []
    seal = place.seal()
    for scope in await scopes(place.url) if named is None else named:
        async with open(
            place.url, scope=scope, actor=place.actor_name, seal=seal, create=False
        ) as memory:
            found.append((scope, await memory.reindex()))
    return found
