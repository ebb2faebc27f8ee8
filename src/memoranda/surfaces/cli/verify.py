"""``memoranda verify``: walk everything, report all damage."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from memoranda.app.audit import verify_database
from memoranda.kernel.errors import InvalidCheckpoint
from memoranda.ledger.anchor import Anchor, KeptNote
from memoranda.ledger.checkpoint import parse_checkpoint, parse_origin
from memoranda.ledger.signed_note import Verifier, VerifierKey
from memoranda.outside.anchors import FileAnchor
from memoranda.outside.key_files import read_ring
from memoranda.outside.signers import verifiers
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.handles import Place
from memoranda.surfaces.cli.options import AsJson, Database, Scopes
from memoranda.surfaces.cli.present import console, print_json
from memoranda.surfaces.cli.progress import bars
from memoranda.surfaces.cli.report import as_json, show, status_of


def verify(
    database: Database = None,
    scope: Scopes = None,
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="A checkpoint that you kept, or an anchor's file; may be repeated.",
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="VKEY",
            help="A public key that you know, name+id+key; may be repeated.",
        ),
    ] = None,
    keyring: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            exists=True,
            dir_okay=False,
            readable=True,
            help="The file of public keys that you know.",
        ),
    ] = None,
    require_signature: Annotated[
        bool,
        typer.Option("--require-signature", help="Every entry must be under a known signature."),
    ] = False,
    json: AsJson = False,
) -> None:
    """Verify a database: chain, tree, bodies, rows, checkpoints, anchors.

    Damage is logged as a conformance break, once, where the database can be written. Exits with 0
    when it is sound, with 5 when it is damaged, with 4 when an anchor could not be read.
    """
    place = Place(database)
    seal = place.seal()
    if key or keyring:  # whoever names keys trusts these, not those of the surroundings
        seal = replace(seal, known=_known(key or [], keyring))
    if require_signature and not seal.known:
        raise wrong_use("Whose signature? Name --key or --keyring, or set MEMORANDA_KEYRING.")
    kept, anchors = _kept(checkpoint or [], scope)
    seal = replace(seal, anchors=[*seal.anchors, *anchors])
    with bars() as progress:
        found = asyncio.run(
            verify_database(
                place.url,
                scopes=scope,
                seal=seal,
                kept=kept,
                require_signature=require_signature,
                record=True,
                progress=progress,
            )
        )
    if json:
        print_json(as_json(found, seal))
    else:
        show(console(), found, seal, kept)
    if status := status_of(found):
        raise typer.Exit(status)


def _known(keys: Sequence[str], ring: Path | None) -> Sequence[Verifier]:
    named = [VerifierKey.parse(key) for key in keys]
    of_ring = [] if ring is None else read_ring(ring).known()
    return verifiers(dict.fromkeys([*named, *of_ring]))


def _kept(
    files: Sequence[Path], scopes: Sequence[str] | None
) -> tuple[list[KeptNote], list[Anchor]]:
    """The checkpoints that were kept: single notes, and files of anchors."""
    notes: list[KeptNote] = []
    anchors: list[Anchor] = []
    for file in files:
        raw = file.read_bytes()
        if any(line.startswith(b"= ") for line in raw.splitlines()):
            anchors.append(FileAnchor(file))
            continue
        try:
            checkpoint, note = parse_checkpoint(raw)
        except InvalidCheckpoint as refused:
            raise InvalidCheckpoint(f"{refused.where} of {file}", refused.why) from None
        for other in _left_out(checkpoint.origin, scopes):
            raise wrong_use(f"{file} is a checkpoint of the scope {other!r}: name it with --scope.")
        notes.append(KeptNote(str(file), str(note)))
    return notes, anchors


def _left_out(origin: str, scopes: Sequence[str] | None) -> Iterator[str]:
    with suppress(InvalidCheckpoint):  # of another kind of log: verify says that it is not here
        scope = parse_origin(origin).scope
        if scopes is not None and scope not in scopes:
            yield scope or "(directory)"
