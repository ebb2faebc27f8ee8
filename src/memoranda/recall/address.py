"""The address of a record version: where a MemoryRef leads that no run made (WORLD-ID).

A version of a memory object is addressed as a sealed snapshot is: by the hash of a schema and of
what it says. The schema is our own, known by its name. So addresses and ids of worlds are one
namespace of 64 hexadecimal digits, in which no two things of different schemas meet. An address
is no World record: nothing is sealed, no edge leads there, no head moves (MEM-AUTH-4).
"""

import re
from typing import Final, TypeGuard

from memoranda.identity import sha256_hex
from memoranda.kernel.errors import InvalidWorld
from memoranda.ledger.object import integrity_digest
from memoranda.worlds.hashing import world_id

MEMORY_OBJECT: Final = "memoranda/memory-object/1"
"""The name of the schema of memory objects."""

MEMORY_OBJECT_SCHEMA: Final = sha256_hex(MEMORY_OBJECT.encode())
"""Its schemaHash: SHA-256 of its name."""

_DIGEST: Final = re.compile("[0-9a-f]{64}")


def is_digest(text: object) -> TypeGuard[str]:
    """Whether something is 64 lower-case hexadecimal digits, as every hash and address of ours."""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def record_address(digest: str) -> str:
    """The address of the record version with this integrity digest; InvalidWorld if it is none."""
    if not is_digest(digest):
        raise InvalidWorld("$.digest", "an integrity digest is 64 lower-case hexadecimal digits")
    return world_id(MEMORY_OBJECT_SCHEMA, digest)


def body_address(body: bytes) -> str:
    """The address of the record version with these stored bytes."""
    return record_address(integrity_digest(body))
