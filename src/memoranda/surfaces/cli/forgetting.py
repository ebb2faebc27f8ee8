"""``memoranda forget`` and ``memoranda erase``: out of use with a reason, and gone for good."""

from typing import Annotated, Any

import typer
from typing_extensions import Unpack

from memoranda.app.memory import Memory
from memoranda.journeys.govern.certificate import ErasureCertificate
from memoranda.journeys.govern.receipts import Receipt
from memoranda.kernel.errors import RecordNotFound
from memoranda.ledger.object import Cause
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.help import arg, opt
from memoranda.surfaces.cli.ids import IdKind, whole_id
from memoranda.surfaces.cli.memories import in_numbers
from memoranda.surfaces.cli.options import ForgetOptions, Id, Reason


@command(done="forgotten")
async def forget(
    memory: Memory[Any], id: Id, reason: Reason, **how: Unpack[ForgetOptions]
) -> Receipt:
    """Say that something is not to be used any more; its history keeps it."""
    done = await memory.forget(id, reason=reason, **how)
    if done is None:
        raise RecordNotFound(id)
    return done


@command(reads=lambda given: bool(given["dry_run"]))
async def erase(
    memory: Memory[Any],
    reason: Reason,
    id: Annotated[str | None, arg("ID", "Erase this one: its id, or the beginning.")] = None,
    subject: Annotated[str | None, opt("Erase everything about this person.")] = None,
    whole_scope: Annotated[bool, opt("Erase everything in the scope.")] = False,
    cause: Annotated[Cause, opt("What kind of reason it is.")] = "user_request",
    dry_run: Annotated[bool, opt("Only count what would go.")] = False,
    yes: Annotated[bool, opt("Don't ask before more than one thing goes.", "--yes", "-y")] = False,
) -> ErasureCertificate:
    """Remove content for good: of one thing, of a person, or of the whole scope.

    Versions, index and whatever was made from it go too; the journal still verifies. Prints a
    certificate, the same one when an ID is asked for again. Before more than one thing goes, and
    where only the beginning of an ID was given, it counts and asks.
    """
    if sum((id is not None, subject is not None, whole_scope)) != 1:
        raise wrong_use("Name one of: an ID, --subject, --whole-scope.")
    named = None if id is None else await whole_id(memory, id, IdKind.ANY)

    async def erased(*, dry: bool) -> ErasureCertificate:
        return await memory.erase(
            named, subject=subject, whole_scope=whole_scope, reason=reason, cause=cause, dry_run=dry
        )

    would = await erased(dry=True)
    if dry_run:
        return would
    is_gone = not would.is_dry_run  # then this is the certificate of its erasure
    is_much = max(would.counts.objects, would.counts.cycles) > 1
    if (is_much or named != id) and not (yes or is_gone):
        of = f"{named}: " if named != id else ""
        question = f"{of}{in_numbers(would.counts)} would be erased, for good. Go on?"
        typer.confirm(question, abort=True, err=True)
    return await erased(dry=False)
