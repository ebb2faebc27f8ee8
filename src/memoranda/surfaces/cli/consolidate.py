"""``memoranda consolidate``: memory made of memory, through gates."""

from typing import Annotated, Any, Literal

import typer
from rich.text import Text

from memoranda.app.memory import Memory
from memoranda.journeys.govern.receipts import Receipt
from memoranda.ledger.consolidate import Refusal
from memoranda.ledger.object import VerdictType
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.memories import show_receipt
from memoranda.surfaces.cli.options import (
    Actor,
    AsJson,
    Database,
    Scope,
    Sources,
    Tags,
    Temporal,
    ValidFrom,
    ValidTo,
)
from memoranda.surfaces.cli.present import console, counted, listing, plain, print_json
from memoranda.surfaces.errors import NOT_IN_STATE


def consolidate(
    ids: Annotated[
        list[str], typer.Argument(metavar="ID…", help="What is summed up: two, or more.")
    ],
    statement: Annotated[str, typer.Option(metavar="TEXT", help="What they say together.")],
    justification: Annotated[str, typer.Option(help="Why it follows; it is kept with it.")],
    verdict: Annotated[
        VerdictType, typer.Option(help="What is known of its truth; no more than of its inputs'.")
    ] = "Unanswered",
    fragment: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", help="A part that no source covers; may be repeated."),
    ] = None,
    on_conflict: Annotated[
        Literal["refuse", "record"], typer.Option(help="What to do if the inputs conflict.")
    ] = "refuse",
    valid_from: ValidFrom = None,
    valid_to: ValidTo = None,
    temporal_scope: Temporal = None,
    widening: Annotated[
        str | None, typer.Option(help="Why it holds at more times than its inputs do.")
    ] = None,
    source: Sources = None,
    tag: Tags = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Sum several things up in one, if every gate passes; the inputs stay as they are.

    Exits with 3 when it is refused, and names every gate that failed.
    """

    async def act(memory: Memory[Any]) -> Receipt | Refusal:
        return await memory.consolidate(
            ids,
            statement,
            justification=justification,
            verdict=verdict,
            source=source or None,
            derived_fragments=fragment or (),
            on_conflict=on_conflict,
            valid_from=valid_from,
            valid_to=valid_to,
            temporal_scope=temporal_scope,
            widening=widening,
            tags=tag or None,
        )

    made = Place(database, scope, actor).run(act)
    if isinstance(made, Receipt):
        show_receipt("consolidated", made, json=json)
        return
    if json:
        print_json(_as_json(made))
    else:
        _show(made)
    raise typer.Exit(NOT_IN_STATE)


def _as_json(refusal: Refusal) -> dict[str, Any]:
    return {
        "refused": True,
        "gates": list(refusal.gates),
        "failures": [
            {"gate": one.gate, "rule": one.rule, "why": one.why, "ids": list(one.ids)}
            for one in refusal.failures
        ],
    }


def _show(refusal: Refusal) -> None:
    table = listing()
    table.add_column("gate", no_wrap=True)
    table.add_column("rule", no_wrap=True)
    table.add_column("what keeps it shut", ratio=1, overflow="fold")
    for one in refusal.failures:
        about = f": {', '.join(one.ids)}" if one.ids else ""
        table.add_row(Text(one.gate, "red"), one.rule, Text(plain(f"{one.why}{about}")))
    out = console()
    out.print(table)
    gates = counted(len(refusal.gates), "gate")
    out.print(
        Text(f"\nRefused by {gates}: {', '.join(refusal.gates)}. Nothing was changed.", "bold red")
    )
