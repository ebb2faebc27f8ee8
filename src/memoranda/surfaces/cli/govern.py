"""``memoranda audit`` and ``memoranda policy``: acts about the memory as a whole."""

from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from memoranda.app.memory import Memory
from memoranda.journeys.audit.whole import Audit
from memoranda.journeys.govern.receipts import Receipt
from memoranda.kernel.errors import AuditRefused
from memoranda.kernel.json import parse
from memoranda.ledger.damage import first_damages
from memoranda.ledger.policy import POLICY_KINDS, Policy, policy_of
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.groups import group
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.memories import show_receipt
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Reason, Scope
from memoranda.surfaces.cli.present import (
    console,
    details,
    listing,
    plain,
    print_json,
    statement,
)
from memoranda.surfaces.cli.report import part_as_json
from memoranda.surfaces.errors import NOT_SOUND

audit = group("Record audits.")
policy = group("Show and change policies.")


@audit.command("record")
def record_audit(
    ref: Annotated[str, typer.Argument(metavar="REF", help="Where the audit is to be found.")],
    reason: Reason,
    accept: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ENTRY",
            help="Damage to accept: its entry, or its check where it has none; may be repeated.",
        ),
    ] = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Verify the scope, and record a re-audit that rests on it: it lifts the breaks that stand.

    Damage is shown, and each is to be accepted with --accept: what is damaged is never used as a
    fact again. Exits with 5, and records nothing, while there is damage that was not accepted.
    """

    async def act(memory: Memory[Any]) -> Receipt | Audit:
        found = await memory.verify()
        try:
            return await memory.record_audit(ref, report=found, reason=reason, accept=accept or ())
        except AuditRefused as refused:
            if not refused.unaccepted:
                raise
            return found

    done = Place(database, scope, actor).run(act)
    if isinstance(done, Receipt):
        show_receipt("recorded", done, json=json)
        return
    if json:
        print_json(part_as_json(done))
    else:
        out = console()
        out.print(_damage(done))
        out.print(Text("Nothing was recorded: mend it, or accept each with --accept.", "bold red"))
    raise typer.Exit(NOT_SOUND)


def _damage(found: Audit) -> Table:
    """The damage that is listed, with what accepts it."""
    table = listing()
    table.add_column("kind", no_wrap=True)
    table.add_column("--accept", justify="right", no_wrap=True)
    table.add_column("what is wrong", ratio=1, overflow="fold")
    for one in first_damages(found.report.damages.found):
        table.add_row(Text(one.check, "red"), one.accepted_as, Text(plain(one.why)))
    return table


@policy.command("show")
def show_policy(
    kind: Annotated[
        str | None, typer.Argument(metavar="KIND", help=f"One of {', '.join(POLICY_KINDS)}.")
    ] = None,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Show the policies in force, or one of them."""
    if kind is not None and kind not in POLICY_KINDS:
        raise wrong_use(f"No policy is called {kind}. There are {', '.join(POLICY_KINDS)}.")

    async def act(memory: Memory[Any]) -> list[Policy]:
        policies = (await memory.status()).policies
        return [one for name, one in policies.items() if kind in {None, name}]

    found = Place(database, scope, actor).run(act, reads=True)
    if json:
        print_json([one.document for one in found])
        return
    rows = [(f"{one.kind} {one.version}", plain(statement(dict(one.rules)))) for one in found]
    console().print(details(rows))


@policy.command("set")
def set_policy(
    file: Annotated[
        typer.FileBinaryRead, typer.Argument(metavar="FILE", help="The policy as JSON.")
    ],
    reason: Reason,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Put a policy's next version into force.

    The file has a kind, a version above the one in force, and rules; `memoranda policy show
    --json` shows how they look.
    """
    document = parse(file.read())
    if not isinstance(document, dict) or set(document) != {"kind", "version", "rules"}:
        raise wrong_use(f"{file.name} is not an object of a kind, a version and rules.")
    changed = policy_of(document)

    async def act(memory: Memory[Any]) -> Receipt:
        return await memory.change_policy(changed, reason=reason)

    show_receipt("changed", Place(database, scope, actor).run(act), json=json)
