"""``memoranda list``, ``get`` and ``history``: reading what is remembered."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, get_args

import typer

from memoranda.app.memory import Memory
from memoranda.journeys.govern.reading import Include
from memoranda.journeys.govern.remembered import Event, Remembered
from memoranda.kernel.errors import IllegalTransition, RecordNotFound
from memoranda.records import MemoryFilter
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.memories import (
    as_json,
    event_as_json,
    history_of,
    in_words,
    table_of,
)
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Id, Scope
from memoranda.surfaces.cli.present import console, print_json, print_line

AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="TIME", help="As it was known at this time.")
]
ValidAt = Annotated[
    str | None, typer.Option("--valid-at", metavar="TIME", help="What held at this time.")
]


class IncludeChoice(StrEnum):
    """What `Include` names, as an option that is repeated takes it."""

    EXPIRED = "expired"
    FALSE = "false"
    INVALIDATED = "invalidated"
    ARCHIVED = "archived"
    SUPERSEDED = "superseded"


Included = Annotated[
    list[IncludeChoice] | None,
    typer.Option("--include", help="Also what is not current; may be repeated."),
]
Factual = Annotated[
    bool, typer.Option("--factual", help="Only what may be used as a fact; refused in a break.")
]
_EVERYTHING: Final[tuple[Include, ...]] = get_args(Include)


def list_(
    tag: Annotated[
        list[str] | None, typer.Option(help="Only with this tag; repeated, with all of them.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=0, help="At most so many; all of them by default.")
    ] = None,
    offset: Annotated[int, typer.Option(min=0, help="Leave out the first ones.")] = 0,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    include: Included = None,
    factual: Factual = False,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """List what is remembered and current, newest first."""
    filter = MemoryFilter(tags=tag or None, limit=limit, offset=offset)

    async def act(memory: Memory[Any]) -> Sequence[Remembered[Any]]:
        return await memory.list(
            filter, as_of=as_of, valid_at=valid_at, include=_included(include), factual=factual
        )

    found = Place(database, scope, actor).run(act, reads=True)
    if json:
        print_json([as_json(one) for one in found])
    elif found:
        console().print(table_of(found))
    else:
        print_line("Nothing that is asked for is remembered.")


def get(
    id: Id,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    include: Included = None,
    factual: Factual = False,
    as_object: Annotated[
        bool, typer.Option("--object", help="Print its newest version as a MemoryObject.")
    ] = False,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Show one thing that is remembered, if it is current."""
    place = Place(database, scope, actor)
    if as_object:
        print_json(place.run(lambda memory: memory.memory_object(id), reads=True))
        return

    async def act(memory: Memory[Any]) -> Remembered[Any]:
        found = await memory.get(
            id, as_of=as_of, valid_at=valid_at, include=_included(include), factual=factual
        )
        if found is None:
            raise await _why_not(memory, id, as_of)
        return found

    found = place.run(act, reads=True)
    if json:
        print_json(as_json(found))
    else:
        console().print(in_words(found))


def _included(choices: Sequence[IncludeChoice] | None) -> Sequence[Include]:
    return [one.value for one in choices or ()]


async def _why_not(memory: Memory[Any], id: str, as_of: str | None) -> Exception:
    """Why something is not shown: it is not there, or what keeps it from being current."""
    hidden = await memory.get(id, as_of=as_of, include=_EVERYTHING)
    if hidden is None:
        known = (await memory.history(id))[-1]  # RecordNotFound, if it never was there
        erased = known.remembered is None
        return IllegalTransition(id, "erased", "shown") if erased else RecordNotFound(id)
    if hidden.status != "active":
        return IllegalTransition(id, hidden.status, f"shown without --include {hidden.status}")
    if hidden.verdict == "False":
        return IllegalTransition(id, "judged False", "shown without --include false")
    return IllegalTransition(id, "not current", "shown without --include expired")


def history(
    id: Id,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Show everything that happened to one thing, the first step first."""

    async def act(memory: Memory[Any]) -> Sequence[Event[Any]]:
        return await memory.history(id)

    events = Place(database, scope, actor).run(act, reads=True)
    if json:
        print_json([event_as_json(event) for event in events])
    else:
        console().print(history_of(events))
