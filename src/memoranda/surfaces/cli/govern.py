"""``memoranda govern``: governed acts on memory, its policies and its audits."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypedDict

import typer
from rich.console import Group
from rich.text import Text
from typing_extensions import Unpack

from memoranda import Memory
from memoranda.app.surfaces import (
    POLICY_KINDS,
    TemporalScope,
    VerdictType,
    first_damages,
    policy_of,
)
from memoranda.errors import AuditRefused
from memoranda.policies import Policy
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.groups import arg, group, opt, wrong_use
from memoranda.surfaces.cli.memory import given
from memoranda.surfaces.cli.options import (
    SINCE,
    UNTIL,
    Data,
    File,
    ForgetOptions,
    Id,
    IdKind,
    NextOptions,
    Reason,
    SupersedeOptions,
    VersionOptions,
    Words,
    json_value,
    name_of,
)
from memoranda.surfaces.cli.present import print_json, show, table
from memoranda.surfaces.errors import NOT_SOUND
from memoranda.types import Audit, Receipt, Refusal


@command(done="archived")
async def archive(
    memory: Memory[Any], id: Id, reason: Reason, **how: Unpack[ForgetOptions]
) -> Receipt:
    """Put something away: it is no longer returned, and what refers to it still finds it."""
    return await memory.govern.archive(id, reason=reason, **how)


@command(done="reinstated")
async def reinstate(
    memory: Memory[Any], id: Id, reason: Reason, **how: Unpack[VersionOptions]
) -> Receipt:
    """Make what was forgotten or archived active again, as its next version."""
    return await memory.govern.reinstate(id, reason=reason, **how)


@command(done="superseded|by")
async def supersede(
    memory: Memory[Any],
    id: Id,
    reason: Reason,
    text: Words = None,
    data: Data = None,
    **about: Unpack[SupersedeOptions],
) -> Sequence[Receipt]:
    """Let something new stand in the place of something, in one step: both or neither.

    What is not named passes on to it, as in 'memoranda update'.
    """
    return await memory.govern.supersede(id, given(text, data, about), reason=reason, **about)


@command(done="revised")
async def revise(
    memory: Memory[Any], id: Id, reason: Reason, **about: Unpack[NextOptions]
) -> Receipt:
    """Say something else of a statement that stays as it is: its verdict, sources, time, person.

    It becomes its next version. What is not named stays.
    """
    return await memory.govern.revise(id, reason=reason, **about)


class ConsolidateOptions(TypedDict, total=False):
    """What is said of a consolidation."""

    verdict: Annotated[VerdictType, opt("What is known of its truth; no more than of its inputs'.")]
    derived_fragments: Annotated[
        list[str], opt("A part that no source covers; may be repeated.", "--derived-fragment")
    ]
    on_conflict: Annotated[Literal["refuse", "record"], opt("What to do if the inputs conflict.")]
    valid_from: Annotated[int, opt("From when it holds.", metavar="TIME"), SINCE]
    valid_to: Annotated[int, opt("Until when it holds.", metavar="TIME"), UNTIL]
    temporal_scope: Annotated[
        TemporalScope, opt("What a missing bound means: it is unknown, or none.")
    ]
    widening: Annotated[str, opt("Why it holds at more times than its inputs do.")]
    source: Annotated[list[str], opt("Where it is from; may be repeated.", metavar="URI")]
    tags: Annotated[list[str], opt("A tag; may be repeated.", "--tag")]


@command(done="consolidated")
async def consolidate(
    memory: Memory[Any],
    ids: Annotated[list[str], arg("ID…", "What is summed up: two, or more."), IdKind.RECORD],
    statement: Annotated[str, opt("What they say together.")],
    justification: Annotated[str, opt("Why it follows; it is kept with it.")],
    **about: Unpack[ConsolidateOptions],
) -> Receipt | Refusal:
    """Sum several things up in one, if every gate passes; the inputs stay as they are.

    Exits with 3 when it is refused, and names every gate that failed.
    """
    return await memory.govern.consolidate(ids, statement, justification=justification, **about)


# --------------------------------------------------------------------- policies, audits


@command(read_only=True)
async def policies(
    memory: Memory[Any],
    kind: Annotated[str | None, arg("KIND", f"One of {', '.join(POLICY_KINDS)}.")] = None,
) -> Sequence[Policy]:
    """Show the policies in force, or one of them."""
    if kind is not None and kind not in POLICY_KINDS:
        raise wrong_use(f"No policy is called {kind}. There are {', '.join(POLICY_KINDS)}.")
    found = (await memory.govern.status()).policies
    return [policy for name, policy in found.items() if kind in {None, name}]


@command(done="changed")
async def change_policy(memory: Memory[Any], file: File, reason: Reason) -> Receipt:
    """Put a policy's next version into force.

    The file is JSON with a kind, a version above the one in force, and rules; 'memoranda govern
    policies --json' shows how they look.
    """
    document = json_value(file.read(), name_of(file))
    if not isinstance(document, dict) or set(document) != {"kind", "version", "rules"}:
        raise wrong_use(f"{name_of(file)} is not an object of a kind, a version and rules.")
    return await memory.govern.change_policy(policy_of(document), reason=reason)


@command(done="recorded")
async def record_audit(
    memory: Memory[Any],
    json: bool,
    audit_ref: Annotated[str, arg("REF", "Where the audit is to be found.")],
    reason: Reason,
    accept: Annotated[
        list[str] | None,
        opt(
            "Damage to accept: its entry, or its check where it has none; may be repeated.",
            metavar="ENTRY",
        ),
    ] = None,
) -> Receipt:
    """Verify the scope, and record a re-audit that rests on it: it lifts the breaks that stand.

    Damage is shown, and each is to be accepted with --accept: what is damaged is never used as a
    fact again. Exits with 5, and records nothing, while there is damage that was not accepted.
    """
    found = await memory.verify()
    try:
        return await memory.govern.record_audit(
            audit_ref, report=found, reason=reason, accept=accept or ()
        )
    except AuditRefused as refused:
        if not refused.unaccepted:
            raise
    if json:
        print_json(found)
    else:
        show(_damage(found))
    raise typer.Exit(NOT_SOUND)


def _damage(found: Audit) -> Group:
    """The damage that is listed, with what accepts it."""
    rows = [
        [Text(damage.check, "red"), damage.accepted_as, damage.why]
        for damage in first_damages(found.report.damages.found)
    ]
    last = Text("Nothing was recorded: mend it, or accept each with --accept.", "bold red")
    return Group(table("kind, --accept#, what is wrong+", rows), last)


govern = group(
    "Governed acts on memory, its policies and its audits.",
    *(archive, reinstate, supersede, revise, consolidate),
    *(policies, change_policy, record_audit),
)
