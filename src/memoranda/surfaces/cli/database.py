"""Whole databases: what led to something, whether all is sound, upkeep, keys."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

from rich.console import Group
from rich.text import Text

import memoranda
from memoranda import Memory
from memoranda.app.surfaces import (
    KEY_FILE,
    KEYRING,
    KeptNote,
    RingKey,
    default_url,
    file_of,
    is_server,
    parse_origin,
    verify_database,
)
from memoranda.errors import InvalidCheckpoint
from memoranda.formats import (
    create_key,
    parse_checkpoint,
    read_ring,
    retire_keys,
    rotate_key,
    signers_from_file,
    verifiers,
)
from memoranda.surfaces.cli.command import OF_SCOPES, command
from memoranda.surfaces.cli.groups import arg, group, opt, wrong_use
from memoranda.surfaces.cli.options import IdKind
from memoranda.surfaces.cli.present import Output, bars, details, table, when
from memoranda.surfaces.cli.show_audits import reindexed, verified
from memoranda.surfaces.cli.show_audits import status as show_status
from memoranda.surfaces.cli.target import Target
from memoranda.types import (
    Anchor,
    Damages,
    DatabaseAudit,
    FileAnchor,
    Verifier,
    VerifierKey,
    Why,
    WitnessAnchor,
)

NOTHING_YET = "Nothing was written to this database yet."


@command("why", read_only=True)
async def why_(
    memory: Memory[Any],
    id: Annotated[
        str,
        arg("ID", "Of a world, an execution, a proposal, a recall, a cycle or a memory."),
        IdKind.ANY,
    ],
) -> Why:
    """Show what led to something, with proofs.

    Who asked, who approved, and the memories as they were then. Each part has its proof: where it
    stands in the journal, and that the journal's root covers it.
    """
    return await memory.why(id)


@command(common=("database",), nothing=NOTHING_YET)
def scopes(target: Target) -> Sequence[str]:
    """List every scope that was ever written to in a database."""
    return asyncio.run(memoranda.scopes(target.database))


@command(common=OF_SCOPES, nothing=NOTHING_YET)
def status(target: Target) -> Sequence[Output]:
    """Show how each scope stands.

    Its entries, checkpoint, policies, breaks and anchors. It reads little; 'memoranda verify' walks
    everything.
    """
    seal = target.seal()
    found = target.run_each(lambda memory: memory.govern.status(), read_only=True)
    return [show_status(one, seal) for _, one in found]


# -------------------------------------------------------------------------------- verify


@command(common=OF_SCOPES[:2])
def verify(
    target: Target,
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
    witness: Annotated[
        list[str] | None,
        opt("A witness to ask, and its key; may be repeated.", metavar="URL[#VKEY]"),
    ] = None,
    origin: Annotated[
        list[str] | None, opt("A journal that must be there; may be repeated.", metavar="ORIGIN")
    ] = None,
    quorum: Annotated[
        int, opt("So many witnesses must have cosigned every entry.", metavar="N")
    ] = 0,
) -> Output:
    """Verify a database: its chain, tree, rows, checkpoints, anchors.

    Damage is logged as a conformance break, once, where the database can be written. Exits with 0
    when it is sound, with 5 when it is damaged, with 4 when an anchor could not be read. A witness
    finds what was rewritten, cut off or put back, whoever holds the keys.
    """
    seal = target.seal()
    if key or keyring:  # whoever names keys trusts these, not those of the surroundings
        seal = replace(seal, known=_known(key or [], keyring))
    if require_signature and not seal.known:
        raise wrong_use("Whose signature? Name --key or --keyring, or set MEMORANDA_KEYRING.")
    kept, anchors = _kept(checkpoint or [], target.scopes)
    witnesses = list(map(WitnessAnchor.parse, witness or ()))
    keys = verifiers(one.key for one in witnesses if one.key)
    seal = replace(seal, anchors=[*seal.anchors, *anchors, *witnesses], known=[*seal.known, *keys])
    if quorum > len(
        {one.key for one in seal.anchors if isinstance(one, WitnessAnchor) and one.key}
    ):
        raise wrong_use(f"Which {quorum} witnesses? Name so many, with --witness URL#VKEY.")
    with bars() as progress:
        if is_server(target.url):
            if kept or seal.anchors or origin or require_signature:
                raise wrong_use("A server compares with its own: name the database instead.")
            audit = target.run(lambda memory: memory.verify())
            return verified(DatabaseAudit([audit], None, Damages()), seal)
        found = asyncio.run(
            verify_database(
                target.url,
                scopes=target.scopes,
                seal=seal,
                kept=kept,
                expected=origin or (),
                require_signature=require_signature,
                quorum=quorum,
                record=True,
                progress=progress,
            )
        )
    return verified(found, seal, kept, quorum)


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
def reindex(target: Target) -> Sequence[Output]:
    """Make the word index anew.

    For when another tokenizer came, or the index is damaged. It is logged in the journal of each
    scope. Writing goes on meanwhile; searches of the scope are refused until its index is whole.
    """
    return [
        reindexed(*found) for found in target.run_each(lambda memory: memory.maintain.reindex())
    ]


# ---------------------------------------------------------------------------------- keys

KeyFile = Annotated[
    Path, opt("The file of the private key.", "--key-file", metavar="FILE", envvar=KEY_FILE)
]
OptionalKeyFile = Annotated[
    Path | None, opt("The file of the private key.", "--key-file", metavar="FILE", envvar=KEY_FILE)
]
Ring = Annotated[Path, opt("The file of public keys.", "--keyring", metavar="FILE", envvar=KEYRING)]

WHERE_NOT = (
    "Whoever has the private key can sign a rewritten history. Keep it away from the database: "
    "not on its disk, not in its backups, not in version control, not in an image, not in a log. "
    "Give the ring to whoever shall verify, by a way that you both trust."
)


@command(common=("database",))
def create(
    target: Target,
    name: Annotated[str, opt("The key's name, such as example.org/memory: no spaces, no plus.")],
    key_file: KeyFile,
    keyring: Ring,
    witness: Annotated[bool, opt("A witness's key, for 'memoranda witness'.")] = False,
) -> Output:
    """Make a signing key: the private half in a file of your own, the public one in the ring."""
    made = create_key(key_file, keyring, name=name, database=_database(target), cosigns=witness)
    rows = [("created", _short(made)), ("private", str(key_file)), ("ring", str(keyring))]
    words = Group(
        details(rows), Text(f"\n{WHERE_NOT}"), Text(f"\nUse it with {KEY_FILE} and {KEYRING}.")
    )
    return Output({"key": str(made), "keyFile": str(key_file), "keyring": str(keyring)}, words)


@command(common=("database",))
def rotate(target: Target, key_file: KeyFile, keyring: Ring) -> Output:
    """Make the next key of the same name; the old one signs beside it until it is retired."""
    made = rotate_key(key_file, keyring, database=_database(target))
    after = (
        "\nThe next checkpoint is signed by both. When it is out: memoranda keys signer retire. "
        "Hand the ring out again: whoever verifies needs the new key."
    )
    words = Group(details([("new", _short(made.new)), ("old", _short(made.old))]), Text(after))
    return Output({"new": str(made.new), "old": str(made.old)}, words)


@command(common=("database",))
def retire(target: Target, key_file: KeyFile, keyring: Ring) -> Output:
    """Forget the private keys that are no longer in use; what they signed verifies for ever."""
    retired = retire_keys(key_file, keyring, database=_database(target))
    words = details([("retired", _short(key)) for key in retired])
    return Output(
        {"retired": [str(key) for key in retired]},
        words if retired else "There was no key to retire.",
    )


@command("show", common=("database",))
def show_keys(target: Target, keyring: Ring, key_file: OptionalKeyFile = None) -> Output:
    """Show the ring, and which of its keys sign here. A private key is never shown."""
    ring = read_ring(keyring)
    held = set()
    if key_file is not None:
        held = {signer.key for signer in signers_from_file(key_file, database=_database(target))}
    rows = [
        [_short(entry.key), when(entry.since), when(entry.until), entry.key in held]
        for entry in ring.entries
    ]
    document = [_as_json(entry, is_held=entry.key in held) for entry in ring.entries]
    return Output(document, table("key+, since, until, signs here", rows))


def _short(key: VerifierKey) -> str:
    """A key by its name and id; the ring has it whole."""
    return f"{key.name}+{key.key_id.hex()}"


def _as_json(entry: RingKey, *, is_held: bool) -> dict[str, Any]:
    return {
        "key": str(entry.key),
        "name": entry.key.name,
        "keyId": entry.key.key_id.hex(),
        "since": entry.since,
        "until": entry.until,
        "signsHere": is_held,
    }


def _database(target: Target) -> str | None:
    """The database's own file, which the key must not lie beside: one that is named, or there."""
    file = file_of(default_url(target.database))
    is_named = target.database is not None or "MEMORANDA_DATABASE_URL" in os.environ
    return file if is_named or (file is not None and Path(file).exists()) else None


signer = group(
    "The keys that sign checkpoints: pip install 'memoranda\\[sign]'.",
    *(create, rotate, retire, show_keys),
)
