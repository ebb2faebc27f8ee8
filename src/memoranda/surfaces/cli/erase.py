"""``memoranda erase``: content goes for good, a certificate stays."""

from dataclasses import replace
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from memoranda.app.memory import Memory
from memoranda.journeys.govern.certificate import ErasureCertificate, ErasureCounts
from memoranda.ledger.object import Cause
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import Actor, AsJson, Database, Scope
from memoranda.surfaces.cli.present import (
    console,
    counted,
    details,
    plain,
    print_json,
    print_line,
    when,
)

NAMED = 10
"""How many tombstones are named for people; the JSON names all."""


def erase(
    id: Annotated[str | None, typer.Argument(metavar="[ID]", help="Erase this one.")] = None,
    subject: Annotated[str | None, typer.Option(help="Erase everything about this person.")] = None,
    whole_scope: Annotated[
        bool, typer.Option("--whole-scope", help="Erase everything in the scope.")
    ] = False,
    reason: Annotated[
        str | None, typer.Option(help="Why; it is kept in the journal. It is needed.")
    ] = None,
    cause: Annotated[Cause, typer.Option(help="What kind of reason it is.")] = "user_request",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would go.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Don't ask before more than one thing goes.")
    ] = False,
    scrub: Annotated[
        bool,
        typer.Option(
            "--scrub", help="Afterwards, or alone: write the database anew, without old bytes."
        ),
    ] = False,
    database: Database = None,
    scope: Scope = None,
    actor: Actor = None,
    json: AsJson = False,
) -> None:
    """Remove content for good: of one thing, of a person, or of the whole scope.

    Versions, index and whatever was made from it go too; the journal still verifies. Prints a
    certificate, the same one when an ID is asked for again. Before more than one thing goes, it
    counts and asks.
    """
    place = Place(database, scope, actor)
    asked = sum((id is not None, subject is not None, whole_scope))
    if scrub and not asked:
        place.run(lambda memory: memory.scrub())
        if json:
            print_json({"scrubbed": True})
        else:
            print_line("The database was written anew: what was erased is in no byte of it.")
        return
    if asked != 1:
        raise wrong_use("Name one of: an ID, --subject, --whole-scope.")
    if reason is None:
        raise wrong_use("Say why with --reason; it is kept in the journal.")
    why = reason

    async def erased(memory: Memory[Any], *, dry: bool) -> ErasureCertificate:
        return await memory.erase(
            id, subject=subject, whole_scope=whole_scope, reason=why, cause=cause, dry_run=dry
        )

    async def act(memory: Memory[Any]) -> ErasureCertificate:
        would = await erased(memory, dry=True)
        if dry_run:
            return would
        is_gone = not would.is_dry_run  # then this is the certificate of its erasure
        if max(would.counts.objects, would.counts.cycles) > 1 and not (yes or is_gone):
            question = f"{_in_words(would.counts)} would be erased, for good. Go on?"
            typer.confirm(question, abort=True, err=True)
        certificate = await erased(memory, dry=False)
        if scrub:
            await memory.scrub()
            return replace(certificate, is_scrubbed=True, to_do=None)
        return certificate

    certificate = place.run(act)
    if json:
        print_json(certificate.document)
    else:
        _show(certificate)


_COUNTED: Final = {
    "versions": ("version", "versions"),
    "tags": ("tag", "tags"),
    "postings": ("word in the index", "words in the index"),
    "retries": ("retry", "retries"),
    "derivations": ("derivation", "derivations"),
    "vectors": ("vector", "vectors"),
    "traces": ("recall", "recalls"),
    "proposals": ("proposal", "proposals"),
    "contexts": ("frozen context", "frozen contexts"),
    "effects": ("effect", "effects"),
    "snapshots": ("snapshot", "snapshots"),
    "cycles": ("cycle", "cycles"),
    "recordings": ("recording", "recordings"),
    "items": ("item", "items"),
    "keywords": ("keyword of an item", "keywords of items"),
    "sessions": ("session", "sessions"),
}
"""How each kind is called, one and many."""


def _in_words(counts: ErasureCounts) -> str:
    objects = f"{counted(counts.objects, 'object')} ({counts.derived:,} made from others)"
    kinds = [(getattr(counts, kind), names) for kind, names in _COUNTED.items()]
    parts = [counted(count, *names) for count, names in kinds if count]
    if not parts:
        return objects
    *most, last = parts
    rest = f"{', '.join(most)} and {last}" if most else last
    return f"{objects} with {rest}" if counts.objects else rest


def _show(certificate: ErasureCertificate) -> None:
    out = console()
    done = "would be erased" if certificate.is_dry_run else "erased"
    out.print(
        details(
            [
                (done, _in_words(certificate.counts)),
                ("reason", plain(certificate.reason)),
                ("cause", certificate.cause),
                ("by", plain(certificate.actor)),
                ("at", when(certificate.at)),
                ("journal", plain(certificate.origin)),
                *([] if certificate.to_do is None else [("to do", plain(certificate.to_do))]),
            ]
        )
    )
    for tombstone in certificate.tombstones[:NAMED]:
        out.print(Text(f"\ntombstone {plain(tombstone.id)}, entry {tombstone.seq:,}"))
        out.print(Text(tombstone.entry_hash))
    more = len(certificate.tombstones) - NAMED
    if more > 0:
        out.print(Text(f"\nand {counted(more, 'more', 'more')}: --json names all of them"))
