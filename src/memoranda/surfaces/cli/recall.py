"""``memoranda recall`` and ``memoranda original``: memory that is selected, and what it was."""

from typing import Annotated, Any, Final

import typer
from rich.console import Console
from rich.text import Text

from memoranda.app.memory import Memory
from memoranda.journeys.recall.originals import Original
from memoranda.journeys.recall.recalled import Item, Recalled
from memoranda.outside.embedders import embedder_from_environment
from memoranda.recall.hybrid import Hybrid
from memoranda.recall.selectors import SHIPPED, USUAL
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.memories import as_json, in_words
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Scope
from memoranda.surfaces.cli.present import (
    console,
    details,
    plain,
    print_item,
    print_json,
    print_line,
    short,
    statement,
)
from memoranda.surfaces.cli.read import AsOf, ValidAt
from memoranda.worlds.world import MAIN

_OUTCOMES: Final = {"found": "green", "empty": "", "degraded": "yellow", "failed": "bold red"}


def recall(
    query: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked.")],
    top_k: Annotated[
        int, typer.Option("--top-k", "-k", min=0, help="At most so many; always said.")
    ],
    selector: Annotated[
        str, typer.Option(help=f"Who selects: {', '.join(sorted(SHIPPED))}.")
    ] = USUAL,
    min_confidence: Annotated[
        float, typer.Option(min=0, max=1, help="Only what it is at least so sure of.")
    ] = 0.0,
    verified: Annotated[
        bool, typer.Option("--verified", help="Only what is verified, and not untrusted.")
    ] = False,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only with this tag; repeated, with all of them.")
    ] = None,
    as_of: AsOf = None,
    valid_at: ValidAt = None,
    created_from: Annotated[
        str | None, typer.Option("--from", metavar="TIME", help="Only what was made since then.")
    ] = None,
    created_to: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Only what was made until then.")
    ] = None,
    branch: Annotated[str, typer.Option(help="The branch that the work is for.")] = MAIN,
    budget: Annotated[
        int | None, typer.Option(min=0, metavar="TOKENS", help="As much as fits, by an estimate.")
    ] = None,
    subject: Annotated[
        str | None,
        typer.Option(help="The person the question is about: it is erased with them."),
    ] = None,
    framed: Annotated[
        bool, typer.Option("--framed", help="Print it as it is shown to a model.")
    ] = False,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Select memory for a question; who asked, what was found and why is on record.

    `memoranda why TRACE` tells it again later, `memoranda act --trace TRACE` rests on it.
    """

    async def act(memory: Memory[Any]) -> Recalled[Any]:
        return await memory.recall(
            query,
            top_k=top_k,
            selector=selector,
            min_confidence=min_confidence,
            verified_only=verified,
            tags=tag or (),
            as_of=as_of,
            valid_at=valid_at,
            created_from=created_from,
            created_to=created_to,
            token_budget=budget,
            subject=subject,
            branch=branch,
        )

    embedder = embedder_from_environment() if selector == Hybrid.name else None
    found = Place(database, scope, actor).run(act, embedder=embedder)
    if json:
        print_json(found.to_wire())
    elif framed:
        print_line(found.framed)
    else:
        _show(console(), found)
    _ = found.items  # a failed recall is told as one, whatever was printed


def original(
    ref: Annotated[
        str,
        typer.Argument(metavar="REF", help="The reference of a recall: an address, or a world."),
    ],
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Load what a reference leads to, and verify it: only the original is what was."""

    async def act(memory: Memory[Any]) -> Original[Any]:
        return await memory.original(ref)

    found = Place(database, scope, actor).run(act, reads=True)
    if json:
        print_json(_as_json(found))
        return
    out = console()
    if found.record is not None:
        out.print(in_words(found.record))
    else:
        out.print(details([("world", found.ref.world_id), ("data", statement(found.data))]))
    out.print(_verified(found.why_not))


def _show(out: Console, found: Recalled[Any]) -> None:
    out.print(Text(found.outcome, _OUTCOMES[found.outcome]), end="")
    out.print(Text(f"  {found.trace_id}", "dim"))
    for note in (*found.notes, *([found.error] if found.error else [])):
        print_item(out, "  ", plain(note), _OUTCOMES[found.outcome])
    for number, item in enumerate(found.selected_items, 1):
        _show_item(out, f"{number:>2}. ", item)


def _show_item(out: Console, mark: str, item: Item[Any]) -> None:
    print_item(out, mark, statement(item.data))
    under = " " * len(mark)
    print_item(out, under, plain(item.reason), "dim")
    said = f"{item.confidence:.2f} sure; {item.trust}; ref {short(item.ref.world_id)}; "
    line = Text(f"{under}{said}", "dim")
    line.append_text(_verified(item.why_not_verified))
    out.print(line, soft_wrap=True)


def _verified(why_not: str | None) -> Text:
    if why_not is None:
        return Text("verified", "green")
    return Text(f"not verified: {plain(why_not)}", "yellow")


def _as_json(found: Original[Any]) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "ref": found.ref.to_wire(),
        "kind": found.kind,
        "verified": found.verified,
    }
    if found.why_not is not None:
        wire["whyNot"] = found.why_not
    wire["evidence"] = found.evidence.to_wire()
    if found.record is not None:
        wire["record"] = as_json(found.record)
    if found.snapshot is not None:
        wire["snapshot"] = found.snapshot.to_wire()
    return wire
