"""Who signs checkpoints and where they are kept, as the environment says.

=========================  ==================================================================
MEMORANDA_SIGNING_KEY      the private key itself, or several
MEMORANDA_SIGNING_KEY_FILE the file that has it
MEMORANDA_KEYRING          the file of public keys whose signatures are known
MEMORANDA_ANCHOR_FILE      the append-only file, elsewhere, that keeps checkpoints
=========================  ==================================================================
"""

from collections.abc import Mapping
from typing import Final

from memoranda.journeys.audit.checkpoints import Seal
from memoranda.outside.anchors import FileAnchor
from memoranda.outside.keys import (
    VARIABLE,
    read_ring,
    signers_from_environment,
    signers_from_file,
    verifiers,
)

KEY_FILE: Final = "MEMORANDA_SIGNING_KEY_FILE"
KEYRING: Final = "MEMORANDA_KEYRING"
ANCHOR_FILE: Final = "MEMORANDA_ANCHOR_FILE"


def seal_from_environment(environ: Mapping[str, str], database: str | None = None) -> Seal:
    """The seal that the environment asks for; an empty one when it says nothing.

    `database` is the database's own file, where it has one: key and anchor lie apart from it.
    """
    if not any(environ.get(name) for name in (VARIABLE, KEY_FILE, KEYRING, ANCHOR_FILE)):
        return Seal()
    signers = signers_from_environment(environ)
    if not signers and environ.get(KEY_FILE):
        signers = signers_from_file(environ[KEY_FILE], database=database)
    anchor, ring = environ.get(ANCHOR_FILE), environ.get(KEYRING)
    return Seal(
        signers,
        [FileAnchor(anchor, database=database)] if anchor else [],
        verifiers(read_ring(ring).known()) if ring else [],
    )
