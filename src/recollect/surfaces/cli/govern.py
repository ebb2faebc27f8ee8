"""``recollect audit`` and ``recollect policy``: acts about the memory as a whole."""

from typing import Annotated, Any

import typer

from recollect.app.memory import Memory
from recollect.journeys.govern.receipts import Receipt
from recollect.kernel.json import parse
from recollect.ledger.policy import POLICY_KINDS, Policy, policy_of
from recollect.surfaces.cli.errors import wrong_use
from recollect.surfaces.cli.groups import group
from recollect.surfaces.cli.handles import Place
from recollect.surfaces.cli.memories import show_receipt
from recollect.surfaces.cli.options import Actor, AsJson, Database, Reason, Scope
from recollect.surfaces.cli.present import console, details, plain, print_json, statement

audit = group("Record audits.")
policy = group("Show and change policies.")


@audit.command("record")
def record_audit(
    ref: Annotated[str, typer.Argument(metavar="REF", help="Where the audit is to be found.")],
    reason: Reason,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Record a re-audit of the memory as it is: it lifts every break that stands."""

    async def act(memory: Memory[Any]) -> Receipt:
        return await memory.record_audit(ref, reason=reason)

    show_receipt("recorded", Place(database, scope, actor).run(act), json=json)


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

    found = Place(database, scope, actor).run(act)
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

    The file has a kind, a version above the one in force, and rules; `recollect policy show
    --json` shows how they look.
    """
    document = parse(file.read())
    if not isinstance(document, dict) or set(document) != {"kind", "version", "rules"}:
        raise wrong_use(f"{file.name} is not an object of a kind, a version and rules.")
    changed = policy_of(document)

    async def act(memory: Memory[Any]) -> Receipt:
        return await memory.change_policy(changed, reason=reason)

    show_receipt("changed", Place(database, scope, actor).run(act), json=json)
