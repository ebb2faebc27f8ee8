"""``memoranda keys signer``: the keys that sign checkpoints."""

import os
from pathlib import Path
from typing import Annotated, Any

from rich.console import Group
from rich.text import Text

from memoranda.app.database import default_url
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
from memoranda.surfaces.cli.command import command
from memoranda.surfaces.cli.help import opt
from memoranda.surfaces.cli.place import Place
from memoranda.surfaces.cli.present import Column, Told, details, plain, table, when

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
    place: Place,
    name: Annotated[str, opt("The key's name, such as example.org/memory: no spaces, no plus.")],
    key_file: KeyFile,
    keyring: Ring,
) -> Told:
    """Make a signing key: the private half in a file of your own, the public one in the ring."""
    made = create_key(key_file, keyring, name=name, database=_database(place))
    rows = [
        ("created", _short(made)),
        ("private", plain(str(key_file))),
        ("ring", plain(str(keyring))),
    ]
    words = Group(
        details(rows), Text(f"\n{WHERE_NOT}"), Text(f"\nUse it with {KEY_FILE} and {KEYRING}.")
    )
    return Told({"key": str(made), "keyFile": str(key_file), "keyring": str(keyring)}, words)


@command(common=("database",))
def rotate(place: Place, key_file: KeyFile, keyring: Ring) -> Told:
    """Make the next key of the same name; the old one signs beside it until it is retired."""
    made = rotate_key(key_file, keyring, database=_database(place))
    after = (
        "\nThe next checkpoint is signed by both. When it is out: memoranda keys signer retire. "
        "Hand the ring out again: whoever verifies needs the new key."
    )
    words = Group(details([("new", _short(made.new)), ("old", _short(made.old))]), Text(after))
    return Told({"new": str(made.new), "old": str(made.old)}, words)


@command(common=("database",))
def retire(place: Place, key_file: KeyFile, keyring: Ring) -> Told:
    """Forget the private keys that are no longer in use; what they signed verifies for ever."""
    retired = retire_keys(key_file, keyring, database=_database(place))
    words = details([("retired", _short(key)) for key in retired])
    return Told(
        {"retired": [str(key) for key in retired]},
        words if retired else "There was no key to retire.",
    )


@command("show", common=("database",))
def show_keys(place: Place, keyring: Ring, key_file: OptionalKeyFile = None) -> Told:
    """Show the ring, and which of its keys sign here. A private key is never shown."""
    ring = read_ring(keyring)
    held = set()
    if key_file is not None:
        held = {one.key for one in signers_from_file(key_file, database=_database(place))}
    columns = [Column("key", is_text=True), *map(Column, ("since", "until", "signs here"))]
    rows = [
        [_short(one.key), when(one.since), when(one.until), "yes" if one.key in held else "no"]
        for one in ring.entries
    ]
    document = [_as_json(one, is_held=one.key in held) for one in ring.entries]
    return Told(document, table(columns, rows))


def _short(key: VerifierKey) -> str:
    """A key by its name and id; the ring has it whole."""
    return plain(f"{key.name}+{key.key_id.hex()}")


def _as_json(entry: RingKey, *, is_held: bool) -> dict[str, Any]:
    return {
        "key": str(entry.key),
        "name": entry.key.name,
        "keyId": entry.key.key_id.hex(),
        "since": entry.since,
        "until": entry.until,
        "signsHere": is_held,
    }


def _database(place: Place) -> str | None:
    """The database's own file, which the key must not lie beside: one that is named, or there."""
    file = file_of(default_url(place.database))
    is_named = place.database is not None or "MEMORANDA_DATABASE_URL" in os.environ
    return file if is_named or (file is not None and Path(file).exists()) else None
