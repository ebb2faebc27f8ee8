"""What led to something, whether a database is sound, and what keeps it so."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from memoranda.app.audit import verify_database
from memoranda.app.database import scopes as scopes_of
from memoranda.app.memory import Memory
from memoranda.journeys.audit.why import Why
from memoranda.journeys.maintain.embedding import Brought
from memoranda.kernel.errors import InvalidCheckpoint
from memoranda.ledger.anchor import Anchor, KeptNote
from memoranda.ledger.checkpoint import parse_checkpoint, parse_origin
from memoranda.ledger.log import read_log
from memoranda.ledger.signed_note import Verifier, VerifierKey
from memoranda.ledger.validate import validate_object
from memoranda.outside.anchors import FileAnchor
from memoranda.outside.key_files import read_ring
from memoranda.outside.signers import verifiers
from memoranda.surfaces.cli.command import OF_SCOPES, command
from memoranda.surfaces.cli.errors import wrong_use
from memoranda.surfaces.cli.help import arg, opt
from memoranda.surfaces.cli.ids import IdKind
from memoranda.surfaces.cli.options import File
from memoranda.surfaces.cli.place import Place
from memoranda.surfaces.cli.present import Told
from memoranda.surfaces.cli.progress import bars
from memoranda.surfaces.cli.report import Verified
from memoranda.surfaces.cli.standings import ScopeReindexed, ScopeStatus, Validated

NOTHING_YET = "Nothing was written to this database yet."


@command("why", reads=True)
async def why_(
    memory: Memory[Any],
    id: Annotated[
        str,
        arg("ID", "Of a world, an execution, a proposal, a recall, a cycle or a memory."),
        IdKind.ANY,
    ],
) -> Why:
    """Show what led to something: who asked, who approved, and the memories as they were then.

    Each part has its proof: where it stands in the journal, and that the journal's root covers it.
    """
    return await memory.why(id)


@command(common=("database",), nothing=NOTHING_YET)
def scopes(place: Place) -> Sequence[str]:
    """List every scope that was ever written to in a database."""
    return asyncio.run(scopes_of(place.database))


@command(common=OF_SCOPES, nothing=NOTHING_YET)
def status(place: Place) -> Sequence[ScopeStatus]:
    """Show how each scope stands: entries, checkpoint, policies, breaks, anchors.

    It reads little; 'memoranda verify' walks everything.
    """
    seal = place.seal()
    found = place.run_each(lambda memory: memory.govern.status(), reads=True)
    return [ScopeStatus(one, seal) for _, one in found]


# -------------------------------------------------------------------------------- verify


@command(common=OF_SCOPES[:2])
def verify(
    place: Place,
    checkpoint: Annotated[
        list[Path] | None,
        opt(
            "A checkpoint that you kept, or an anchor's file; may be repeated.",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        opt("A public key that you know, name+id+key; may be repeated.", metavar="VKEY"),
    ] = None,
    keyring: Annotated[
        Path | None,
        opt("The file of public keys that you know.", exists=True, dir_okay=False, readable=True),
    ] = None,
    require_signature: Annotated[bool, opt("Every entry must be under a known signature.")] = False,
) -> Verified:
    """Verify a database: chain, tree, bodies, rows, checkpoints, anchors.

    Damage is logged as a conformance break, once, where the database can be written. Exits with 0
    when it is sound, with 5 when it is damaged, with 4 when an anchor could not be read.
    """
    seal = place.seal()
    if key or keyring:  # whoever names keys trusts these, not those of the surroundings
        seal = replace(seal, known=_known(key or [], keyring))
    if require_signature and not seal.known:
        raise wrong_use("Whose signature? Name --key or --keyring, or set MEMORANDA_KEYRING.")
    kept, anchors = _kept(checkpoint or [], place.scopes)
    seal = replace(seal, anchors=[*seal.anchors, *anchors])
    with bars() as progress:
        found = asyncio.run(
            verify_database(
                place.url,
                scopes=place.scopes,
                seal=seal,
                kept=kept,
                require_signature=require_signature,
                record=True,
                progress=progress,
            )
        )
    return Verified(found, seal, kept)


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


# --------------------------------------------------------------------------- maintenance


@command(common=OF_SCOPES, nothing=NOTHING_YET)
def reindex(place: Place) -> Sequence[ScopeReindexed]:
    """Make the word index anew: after another tokenizer came, or when it is damaged.

    It is logged in the journal of each scope. Writing goes on meanwhile; searches of the scope
    are refused until its index is whole.
    """
    return [
        ScopeReindexed(*one) for one in place.run_each(lambda memory: memory.maintain.reindex())
    ]


@command(embeds=lambda _: True)
async def embed(memory: Memory[Any]) -> Brought:
    """Give everything a vector that has none yet, with the embedder that the environment names.

    What was made is logged in the journal. The texts are sent to the embedder.
    """
    with bars() as progress:
        return await memory.maintain.embed(progress=progress(memory.scope))


@command()
async def scrub(memory: Memory[Any]) -> Told:
    """Write the database anew, so that no byte of what was erased is left in it.

    For after an erasure that another process kept from finishing, and for PostgreSQL's old rows.
    """
    await memory.maintain.scrub()
    return Told(
        {"scrubbed": True}, "The database was written anew: what was erased is in no byte of it."
    )


# ----------------------------------------------------------------------------- documents


@command("object")
def validate_object_file(file: File) -> Validated:
    """Validate a MemoryObject: every violation, with the rule it breaks. Exits with 5 for any."""
    return Validated(validate_object(file.read()))


@command("log")
def validate_log_file(
    file: File,
    lenient: Annotated[bool, opt("List what is wrong, and let it through.")] = False,
) -> Validated:
    """Validate a MemoryLog as NDJSON: every violation, with the rule it breaks. Exits with 5.

    With --lenient, for logs of others, what is wrong is listed, and the exit code is 0.
    """
    reading = read_log(file.read(), lenient=True)
    return Validated(reading.let_through, len(reading.documents), is_lenient=lenient)
