"""``memoranda keys signer``: the keys that sign checkpoints."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from memoranda.app.memory import default_url
from memoranda.app.seal import KEY_FILE, KEYRING
from memoranda.app.url import file_of
from memoranda.ledger.keyring import RingKey
from memoranda.ledger.signed_note import VerifierKey
from memoranda.outside.key_files import (
    create_key,
    read_ring,
    retire_keys,
    rotate_key,
    signers_from_file,
)
from memoranda.surfaces.cli.groups import group
from memoranda.surfaces.cli.options import AsJson, Database
from memoranda.surfaces.cli.present import console, details, listing, plain, print_json, when

keys = group("Keys.")
signer = group("The keys that sign checkpoints. Needs the extra: pip install 'memoranda[sign]'.")
keys.add_typer(signer, name="signer")

KeyFile = Annotated[
    Path,
    typer.Option(
        "--key-file", metavar="FILE", envvar=KEY_FILE, help="The file of the private key."
    ),
]
OptionalKeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file", metavar="FILE", envvar=KEY_FILE, help="The file of the private key."
    ),
]
Ring = Annotated[
    Path,
    typer.Option("--keyring", metavar="FILE", envvar=KEYRING, help="The file of public keys."),
]

WHERE_NOT = (
    "Whoever has the private key can sign a rewritten history. Keep it away from the database: "
    "not on its disk, not in its backups, not in version control, not in an image, not in a log. "
    "Give the ring to whoever shall verify, by a way that you both trust."
)


@signer.command("create")
def create(
    name: Annotated[
        str, typer.Option(help="The key's name, such as example.org/memory: no spaces, no plus.")
    ],
    key_file: KeyFile,
    keyring: Ring,
    database: Database = None,
    json: AsJson = False,
) -> None:
    """Make a signing key: the private half in a file of your own, the public one in the ring."""
    made = create_key(key_file, keyring, name=name, database=_database(database))
    if json:
        print_json({"key": str(made), "key_file": str(key_file), "keyring": str(keyring)})
        return
    out = console()
    out.print(
        details(
            [
                ("created", _short(made)),
                ("private", plain(str(key_file))),
                ("ring", plain(str(keyring))),
            ]
        )
    )
    out.print(f"\n{WHERE_NOT}")
    out.print(f"\nUse it with {KEY_FILE} and {KEYRING}.")


@signer.command("rotate")
def rotate(
    key_file: KeyFile, keyring: Ring, database: Database = None, json: AsJson = False
) -> None:
    """Make the next key of the same name; the old one signs beside it until it is retired."""
    made = rotate_key(key_file, keyring, database=_database(database))
    if json:
        print_json({"new": str(made.new), "old": str(made.old)})
        return
    out = console()
    out.print(details([("new", _short(made.new)), ("old", _short(made.old))]))
    out.print(
        "\nThe next checkpoint is signed by both. When it is out: memoranda keys signer retire. "
        "Hand the ring out again: whoever verifies needs the new key."
    )


@signer.command("retire")
def retire(
    key_file: KeyFile, keyring: Ring, database: Database = None, json: AsJson = False
) -> None:
    """Forget the private keys that are no longer in use; what they signed verifies for ever."""
    retired = retire_keys(key_file, keyring, database=_database(database))
    if json:
        print_json({"retired": [str(key) for key in retired]})
    elif retired:
        console().print(details([("retired", _short(key)) for key in retired]))
    else:
        console().print("There was no key to retire.")


@signer.command("show")
def show(
    keyring: Ring,
    key_file: OptionalKeyFile = None,
    database: Database = None,
    json: AsJson = False,
) -> None:
    """Show the ring, and which of its keys sign here. A private key is never shown."""
    ring = read_ring(keyring)
    held = set()
    if key_file is not None:
        held = {one.key for one in signers_from_file(key_file, database=_database(database))}
    if json:
        print_json([_as_json(one, is_held=one.key in held) for one in ring.entries])
        return
    table = listing()
    table.add_column("key", ratio=1, overflow="fold")
    for column in ("since", "until", "signs here"):
        table.add_column(column, no_wrap=True)
    for one in ring.entries:
        signs = "yes" if one.key in held else "no"
        table.add_row(Text(_short(one.key)), when(one.since), when(one.until), signs)
    console().print(table)


def _short(key: VerifierKey) -> str:
    """A key by its name and id; the ring has it whole."""
    return plain(f"{key.name}+{key.key_id.hex()}")


def _as_json(entry: RingKey, *, is_held: bool) -> dict[str, Any]:
    return {
        "key": str(entry.key),
        "name": entry.key.name,
        "key_id": entry.key.key_id.hex(),
        "since": entry.since,
        "until": entry.until,
        "signs_here": is_held,
    }


def _database(database: str | None) -> str | None:
    """The database's own file, which the key must not lie beside: one that is named, or there."""
    file = file_of(default_url(database))
    is_named = database is not None or "MEMORANDA_DATABASE_URL" in os.environ
    return file if is_named or (file is not None and Path(file).exists()) else None
