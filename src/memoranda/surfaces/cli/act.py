"""``memoranda act``, ``run`` and ``resume``: actions of a domain, run from a shell."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.table import Table

from memoranda.app.memory import Memory
from memoranda.journeys.intent.acting import ABSENT
from memoranda.journeys.intent.app import Run
from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import JsonValue, parse
from memoranda.surfaces.cli.code import AuthorityName, DomainName, ProviderName, code
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.inbox import ProposalId
from memoranda.surfaces.cli.options import Actor, AsJson, Database, RetryKey, Scope
from memoranda.surfaces.cli.present import (
    console,
    details,
    plain,
    print_json,
    print_line,
    statement,
)
from memoranda.surfaces.errors import NOT_IN_STATE
from memoranda.worlds.world import MAIN


def act(
    action: Annotated[str, typer.Argument(metavar="ACTION", help="What the domain calls it.")],
    domain: DomainName,
    input: Annotated[
        str | None, typer.Option("--input", metavar="JSON", help="What the action takes.")
    ] = None,
    why: Annotated[
        str | None, typer.Option("--why", metavar="TEXT", help="Why; who decides reads it.")
    ] = None,
    trace: Annotated[
        list[str] | None,
        typer.Option(metavar="ID", help="A recall that it rests on, by its trace; repeatable."),
    ] = None,
    branch: Annotated[str, typer.Option(help="On which branch.")] = MAIN,
    allow: Annotated[
        list[str] | None,
        typer.Option(metavar="PATH", help="A path of the state that may change; may be repeated."),
    ] = None,
    wait: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long to wait for a decision.")
    ] = 0,
    authority: AuthorityName = None,
    provider: ProviderName = None,
    key: RetryKey = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Propose an action, and run it once it is approved.

    It gets the memory of the traces that are named, or what the provider says. Where somebody has
    to decide it is in the inbox, and `memoranda run` runs it later. Exits with 3 when it was
    rejected or has failed.
    """
    given = ABSENT if input is None else _json(input)
    own = code(domain, authority=authority, provider=provider)

    async def acted(memory: Memory[Any]) -> Run:
        return await memory.act(
            action,
            given,
            memory=trace or (),
            trace=why,
            branch=branch,
            scope=allow or None,
            wait=wait,
            idempotency_key=key,
        )

    _show([Place(database, scope, actor).run(acted, makes=True, code=own)], json=json)


def run(
    id: ProposalId,
    domain: DomainName,
    provider: ProviderName = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Run a proposal that was approved, or go on with a run that died.

    What was done before it died is taken from the journal, and not done again.
    """

    async def ran(memory: Memory[Any]) -> Run:
        return await memory.run(id)

    own = code(domain, provider=provider)
    _show([Place(database, scope, actor).run(ran, code=own)], json=json)


def resume(
    domain: DomainName,
    provider: ProviderName = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Run whatever was approved and has not ended: what waited, and what died."""

    async def resumed(memory: Memory[Any]) -> Sequence[Run]:
        return await memory.resume()

    own = code(domain, provider=provider)
    runs = Place(database, scope, actor).run(resumed, code=own)
    if json:
        print_json([_as_json(one) for one in runs])
    elif not runs:
        print_line("Nothing that was approved is left to run.")
    else:
        _show(runs, json=False)
        return
    _leave(runs)


def _json(text: str) -> JsonValue:
    try:
        return parse(text)
    except InvalidJson as refused:
        raise wrong_use(f"--input is no JSON: {refused.why}, at {refused.where}.") from None


# ------------------------------------------------------------------------- presenting


def _show(runs: Sequence[Run], *, json: bool) -> None:
    if json:
        print_json(_as_json(runs[0]))
    else:
        out = console()
        for number, one in enumerate(runs):
            if number:
                out.print()
            out.print(_in_words(one))
    _leave(runs)


def _leave(runs: Sequence[Run]) -> None:
    if any(one.status in ("failed", "rejected") for one in runs):
        raise typer.Exit(NOT_IN_STATE)


def _as_json(run: Run) -> dict[str, Any]:
    return {**run._asdict(), "error": None if run.error is None else dict(run.error)}


def _in_words(run: Run) -> Table:
    rows = [("waiting" if run.is_pending else run.status, run.proposal_id)]
    if run.error is not None:
        rows.append(("error", plain(f"{run.error['code']}: {run.error['message']}")))
    if run.world is not None:
        rows.append(("world", run.world))
    if run.recall is not None:
        rows.append(("recall", run.recall))
    if run.data is not None:
        rows.append(("state", statement(run.data)))
    if run.is_pending:
        rows.append(("", "Somebody has to decide it: memoranda inbox."))
    return details(rows)
