"""``memoranda branches`` and ``memoranda restore``: the worlds that there are."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from memoranda.app.memory import Memory
from memoranda.journeys.intent.branching import BranchHead
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Scope
from memoranda.surfaces.cli.present import console, details, plain, print_json, print_line, when
from memoranda.worlds.snapshot import Snapshot


def branches(
    database: Database = None, scope: Scope = None, actor: Actor = None, json: AsJson = False
) -> None:
    """List the branches, with the world at the head of each."""

    async def act(memory: Memory[Any]) -> Sequence[BranchHead]:
        return await memory.branches()

    found = Place(database, scope, actor).run(act, reads=True)
    if json:
        print_json([one._asdict() for one in found])
        return
    if not found:
        print_line("There is no branch yet: the first action begins one.")
    out = console()
    for number, one in enumerate(found):
        if number:
            out.print()
        out.print(
            details(
                [
                    ("branch", Text(plain(one.name), "bold")),
                    ("head", one.world),
                    ("moved", when(one.moved_at)),
                    ("schema", one.schema_hash),
                ]
            )
        )


def restore(
    id: Annotated[
        str, typer.Argument(metavar="ID", help="The id of a world, or the key of an execution.")
    ],
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,  # noqa: ARG001 - a snapshot is JSON anyway
) -> None:
    """Print the snapshot of a world, or of an execution with what was frozen in it, as JSON."""

    async def act(memory: Memory[Any]) -> Snapshot:
        return await memory.restore(id)

    print_json(Place(database, scope, actor).run(act, reads=True).to_wire())
