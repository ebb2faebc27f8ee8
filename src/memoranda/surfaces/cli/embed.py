"""``memoranda embed``: give what is remembered its vectors, for the selector ``hybrid``."""

from typing import Any

from memoranda.app.memory import Memory
from memoranda.journeys.maintain.embedding import Brought
from memoranda.outside.embedders import embedder_from_environment
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Scope
from memoranda.surfaces.cli.present import console, details, plain, print_json
from memoranda.surfaces.cli.progress import bars


def embed(
    database: Database = None, scope: Scope = None, actor: Actor = None, json: AsJson = False
) -> None:
    """Give everything a vector that has none yet, with the embedder that the environment names.

    What was made is logged in the journal. The texts are sent to the embedder.
    """

    async def act(memory: Memory[Any]) -> Brought:
        with bars() as progress:
            return await memory.embed(progress=progress(memory.scope))

    made = Place(database, scope, actor).run(act, embedder=embedder_from_environment())
    if json:
        print_json({**made.document, "refused": list(made.refused)})
        return
    rows = [
        ("embedded", f"{made.embedded:,}"),
        ("vectors", f"{made.vectors:,}"),
        ("model", plain(made.model)),
        ("digest", made.digest),
    ]
    if made.refused:
        rows.append(("refused", plain(", ".join(made.refused))))
    console().print(details(rows))
