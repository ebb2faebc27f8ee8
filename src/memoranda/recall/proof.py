"""Proofs that a memory is what its reference says: what they are, by value (M-1).

=============  ===========================================================================
method         what a proof of it says
=============  ===========================================================================
``existence``  somebody had the original in hand; nothing can be checked without it
``hash``       the address is the hash of a schema and a content hash: what the content must
               hash to. Not that it was ever on record
``inclusion``  also: an entry of a journal holds it, and that entry is under a root of a size
=============  ===========================================================================

No proof carries content. An entry names the digest of a salt and of its body's hash, and of a
memory object that hash is the content hash: so the salt is all that opens it. Of a world the
entry's body is its World record, which is a few hashes and goes along; its snapshot never does.

A proof outlives what it is about: after an erasure, whoever kept one still has the salt and the
content hash, and the tombstone has that hash as well. What keeps the object from being guessed is
the nonce inside its hashed form, which is gone. We write no object without one; an object that
came in a journal of another program may have none, and its hash alone is enough to try what it
said, with a proof or without.

`prove` makes them, `proof_check` checks them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeGuard

from pydantic import Field

from memoranda.identity import canonical_bytes, sha256_hex
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import InvalidProof, InvalidWorld
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.wire import tuple_of
from memoranda.ledger.entry import SALT_BYTES
from memoranda.recall.trace import CoveringCheckpoint, MemoryRef, VerificationEvidence
from memoranda.worlds.snapshot import Id, Json, Name, Snapshot, Text, WorldModel, world_id

Method = Literal["existence", "hash", "inclusion"]

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Salt = Annotated[str, Field(pattern=f"^[0-9a-f]{{{2 * SALT_BYTES}}}$")]
Path = Annotated[Sequence[str], tuple_of(Digest)]
Size = Annotated[int, Field(gt=0, le=MAX_INTEGER)]

# ---------------------------------------------------------------------------- values


class VerificationProof(WorldModel):
    """What a verifier gives: pure, without a time and without an actor."""

    method: Name
    proof: Json = None


class HashProof(WorldModel):
    """What is proved by ``hash``: the address, and what it is the hash of."""

    world_id: Digest
    schema_hash: Id
    content_hash: Digest


class DigestOpening(WorldModel):
    """What an entry's digest is of, but for the content hash: the salt, and a World record.

    Of a memory object there is no ``body``; the one of a world is its World record.
    """

    salt: Salt
    body: Text | None = None


class TreeHead(WorldModel):
    """The last entry of a tree, and its path: what shows the tree's size."""

    entry: Text
    path: Path


class InclusionProof(HashProof):
    """What is proved by ``inclusion``: the entry, what opens its digest, and its place.

    ``head`` is left out where the entry is the tree's last one itself.
    """

    entry: Text
    opening: DigestOpening
    size: Size
    root: Digest
    path: Path
    head: TreeHead | None = None


@dataclass(frozen=True, slots=True)
class StoredOriginal:
    """What a journal holds of a memory: entry, salt and body; of a world, maybe its snapshot."""

    entry: bytes
    salt: bytes
    body: bytes
    snapshot: Snapshot | Mapping[str, JsonValue] | None = None


# -------------------------------------------------------------------------- evidence


def evidence(
    proof: VerificationProof,
    *,
    at: int,
    by: ActorRef,
    checkpoint: CoveringCheckpoint | None = None,
) -> VerificationEvidence:
    """The evidence that a proof becomes when a selector says who had it made, and when."""
    return VerificationEvidence(
        method=proof.method,
        proof=proof.proof,
        verified_at=at,
        verified_by=by,
        checkpoint=checkpoint,
    )


def proof_in(evidence: VerificationEvidence) -> VerificationProof:
    """The proof alone, without who and when: what an authority checks."""
    return VerificationProof(method=evidence.method, proof=evidence.proof)


# --------------------------------------------------------------------------- reading


def read_proof(proof: VerificationProof | Mapping[str, JsonValue]) -> MemoryRef | HashProof:
    """What a proof says, by the form of its method; InvalidProof where it has not that form."""
    try:
        whole = (
            proof if isinstance(proof, VerificationProof) else VerificationProof.from_wire(proof)
        )
        form = _FORMS.get(whole.method)
        if form is None:
            raise InvalidProof(f"no verifier of ours knows the method {whole.method!r}")
        given = form.from_wire(whole.proof)
    except InvalidWorld as refused:
        raise InvalidProof(f"it has not its form: {refused.why}, at {refused.where}") from None
    if given.canonical() != canonical_bytes(whole.proof):  # say, a null for what is absent
        raise InvalidProof("it is not written as we write it")
    return given


_FORMS: Final[Mapping[str, type[MemoryRef] | type[HashProof]]] = {
    "existence": MemoryRef,
    "hash": HashProof,
    "inclusion": InclusionProof,
}


# ------------------------------------------------------------------------------------------------
# The address of a record version: where a MemoryRef leads that no run made (WORLD-ID).
#
# A version of a memory object is addressed as a sealed snapshot is: by the hash of a schema and of
# what it says. The schema is our own, known by its name. So addresses and ids of worlds are one
# namespace of 64 hexadecimal digits, in which no two things of different schemas meet. An address
# is no World record: nothing is sealed, no edge leads there, no head moves (MEM-AUTH-4).

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
    return world_id(MEMORY_OBJECT_SCHEMA, sha256_hex(body))
