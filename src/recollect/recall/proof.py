"""Proofs that a memory is what its reference says, checked with nothing but hashes (M-1).

=============  ===========================================================================
method         what a proof of it says
=============  ===========================================================================
``existence``  somebody had the original in hand; nothing can be checked without it
``hash``       the address is the hash of a schema and a content hash: what the content must
               hash to. Not that it was ever on record
``inclusion``  also: an entry of a journal holds it, and that entry is under a root of a size
=============  ===========================================================================

What an inclusion proof proves by itself, to somebody without any store:

1. the address is the hash of the schema and of the content hash
2. the entry is one, and its digest is that of the salt and the body in the proof
3. that body is this content: it hashes to the content hash, or it is the World record that names
   the schema and the snapshot's hash
4. the entry stands in the tree at its own ``seq``, under the root
5. the tree has this size: nothing is to the right of its last entry, whose ``seq`` says so. A
   path alone does not tell: many sizes have the same

An entry holds the digest of salt and body together, so that the body's own hash can't be compared
with it. 2 and 3 therefore need the body: the proof **carries** it, or whoever checks is given the
**original**. A proof that leaves the body out shows 1, 4 and 5, and is refused without the
original: else the content of one and the entry of another would pass for a memory. Of a world the
body is its World record, which is a few hashes; its snapshot is never in a proof, and is compared
with the content hash only where it is given.

What no proof proves: that nothing came later (an invalidation, an erasure, a conformance break),
and whose journal it is. The first is said by whoever verified, who is on record. The second is
shown by a checkpoint that the reader trusts (`pinned`), or that a known key signed
(`check_signed`): a tree that someone made up has a root, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import Field

from recollect.identity import canonical_bytes, leaf_hash, verify_consistency, verify_inclusion
from recollect.kernel.actors import ActorRef
from recollect.kernel.errors import InvalidCheckpoint, InvalidJson, InvalidProof, InvalidWorld
from recollect.kernel.json import MAX_INTEGER, JsonValue
from recollect.kernel.wire import tuple_of
from recollect.ledger.body import broken_member, document_of
from recollect.ledger.checkpoint import Checkpoint, parse_checkpoint
from recollect.ledger.entry import SALT_BYTES, Entry, body_digest, read_entry
from recollect.ledger.object import integrity_digest
from recollect.ledger.signed_note import SignedNote
from recollect.recall.address import MEMORY_OBJECT_SCHEMA, is_digest
from recollect.recall.trace import CoveringCheckpoint, MemoryRef, VerificationEvidence
from recollect.worlds.hashing import snapshot_hash, world_id
from recollect.worlds.snapshot import Snapshot
from recollect.worlds.values import Id, Json, Name, Text, WorldModel

Method = Literal["existence", "hash", "inclusion"]

OBJECT_KINDS: Final = frozenset({"create", "consolidate", "invalidate", "archive"})
"""The entries whose body is a memory object."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
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


class Opening(WorldModel):
    """What an entry's digest is of: its salt and its body."""

    salt: Annotated[str, Field(pattern=f"^[0-9a-f]{{{2 * SALT_BYTES}}}$")]
    body: Text


class TreeHead(WorldModel):
    """The last entry of a tree, and its path: what shows the tree's size."""

    entry: Text
    path: Path


class InclusionProof(HashProof):
    """What is proved by ``inclusion``: the entry, its body if it is carried, and its place.

    ``head`` is left out where the entry is the tree's last one itself.
    """

    entry: Text
    opening: Opening | None = None
    size: Size
    root: Digest
    path: Path
    head: TreeHead | None = None


@dataclass(frozen=True, slots=True)
class Original:
    """What a journal holds of a memory: entry, salt and body; of a world, maybe its snapshot."""

    entry: bytes
    salt: bytes
    body: bytes
    snapshot: Snapshot | Mapping[str, JsonValue] | None = None


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


# --------------------------------------------------------------------------- verifying


@dataclass(frozen=True, slots=True)
class Proved:
    """What a proof proved: of which memory, and by inclusion, the entry that holds it."""

    world_id: str
    entry: Entry | None = None


def verify_proof(
    proof: VerificationProof | Mapping[str, JsonValue],
    *,
    ref: MemoryRef | None = None,
    original: Original | None = None,
    pinned: Checkpoint | None = None,
) -> bool:
    """Whether a proof holds: all of what its method says, or not at all (`check_proof`)."""
    return why_refused(proof, ref=ref, original=original, pinned=pinned) is None


def why_refused(
    proof: VerificationProof | Mapping[str, JsonValue],
    *,
    ref: MemoryRef | None = None,
    original: Original | None = None,
    pinned: Checkpoint | None = None,
) -> str | None:
    """Why a proof does not hold, in words; None where it does."""
    try:
        check_proof(proof, ref=ref, original=original, pinned=pinned)
    except InvalidProof as refused:
        return refused.why
    return None


def check_proof(
    proof: VerificationProof | Mapping[str, JsonValue],
    *,
    ref: MemoryRef | None = None,
    original: Original | None = None,
    pinned: Checkpoint | None = None,
    without_body: bool = False,
) -> Proved:
    """Prove what a proof says, or InvalidProof: a verifier that returns has verified.

    0. it has the form of its method, and is of this reference where one is given
    1. the address is the hash of schema and content
    2. the entry's digest is that of the salt and the body, carried or given
    3. the body is this content
    4. the entry is in the tree
    5. the tree has the size
    6. the tree is the pinned one, where one is given
    7. the original is this one, where it is given, and its snapshot has the content's hash

    With `without_body`, 2 and 3 are taken on trust where the body is neither carried nor given.
    """
    return check_form(
        _read(proof), ref=ref, original=original, pinned=pinned, without_body=without_body
    )


def check_form(
    given: MemoryRef | HashProof,
    *,
    ref: MemoryRef | None = None,
    original: Original | None = None,
    pinned: Checkpoint | None = None,
    without_body: bool = False,
) -> Proved:
    """The same for what has been read, or was just made: the steps of `check_proof`."""
    # 0.
    if ref is not None and given.world_id != ref.world_id:
        raise InvalidProof("it is of another memory")
    # 1.
    if isinstance(given, HashProof):
        _check_address(given)
    # 2. to 5.
    entry = None
    if isinstance(given, InclusionProof):
        entry = _check_entry(given, original, without_body=without_body)
        _check_place(given, entry)
    # 6.
    if pinned is not None and not _is_tree(given, pinned):
        raise InvalidProof("its tree is not the pinned one")
    # 7.
    if original is not None:
        _check_original(given, original)
    elif isinstance(given, MemoryRef):
        raise InvalidProof("that something exists is shown by the original alone")
    return Proved(given.world_id, entry)


def check_signed(
    evidence: VerificationEvidence, signed_by: Callable[[SignedNote], bool]
) -> Checkpoint:
    """Prove that a signed checkpoint covers what an evidence proves by inclusion, or InvalidProof.

    1. the note is a checkpoint, and `signed_by` knows who signed it
    2. its tree holds the entry, and is no larger than the proof's
    3. the proof's tree begins with it

    The proof itself is not looked at: `check_proof` does that, and both must hold.
    """
    given = _read(proof_in(evidence))
    covering = evidence.checkpoint
    if not isinstance(given, InclusionProof) or covering is None:
        raise InvalidProof("no signed checkpoint covers it")
    # 1.
    try:
        checkpoint, note = parse_checkpoint(covering.note)
    except InvalidCheckpoint as refused:
        raise InvalidProof(f"its checkpoint is none: {refused.why}") from None
    if not signed_by(note):
        raise InvalidProof("its checkpoint was signed by nobody who is known")
    # 2.
    if not read_entry(given.entry.encode()).seq < checkpoint.size <= given.size:
        raise InvalidProof("its checkpoint does not cover the entry")
    # 3.
    verify_consistency(
        old_size=checkpoint.size,
        new_size=given.size,
        proof=_hashes(covering.path),
        old_root=checkpoint.root,
        new_root=bytes.fromhex(given.root),
    )
    return checkpoint


def content_of(entry: Entry, body: bytes) -> tuple[str, str]:
    """The schemaHash and the content hash of what an entry holds; InvalidProof if it is no memory.

    A memory object is hashed whole. A World record names both hashes itself, and by its id.
    """
    document = document_of(body)
    if entry.kind in OBJECT_KINDS:
        if (broken := broken_member(document)) is not None:
            raise InvalidProof(broken)
        return MEMORY_OBJECT_SCHEMA, integrity_digest(body)
    world = document.get("world")
    if entry.kind != "world" or document.get("type") != "World" or not isinstance(world, dict):
        raise InvalidProof("its entry holds neither a memory object nor a world")
    schema, content = world.get("schemaHash"), world.get("snapshotHash")
    if not isinstance(schema, str) or not is_digest(content):
        raise InvalidProof("its World record names no hashes")
    if world.get("worldId") != world_id(schema, content):
        raise InvalidProof("its World record has another id than its hashes give")
    return schema, content


def _read(proof: VerificationProof | Mapping[str, JsonValue]) -> MemoryRef | HashProof:
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


def _check_address(given: HashProof) -> None:
    if given.world_id != world_id(given.schema_hash, given.content_hash):
        raise InvalidProof("the address is not the hash of its schema and content")


def _check_entry(given: InclusionProof, original: Original | None, *, without_body: bool) -> Entry:
    raw = given.entry.encode()
    entry = read_entry(raw)
    # 2.
    if given.opening is not None:
        salt, body = bytes.fromhex(given.opening.salt), given.opening.body.encode()
    elif original is not None:
        salt, body = original.salt, original.body
    elif without_body and _may_hold(entry, given.schema_hash):
        return entry
    else:
        raise InvalidProof("it leaves the body out: it holds together with the original only")
    if original is not None and (original.entry, original.salt, original.body) != (raw, salt, body):
        raise InvalidProof("the original is another one")  # 7.
    if body_digest(salt, body) != entry.body_digest:
        raise InvalidProof("the entry holds another body")
    # 3.
    if content_of(entry, body) != (given.schema_hash, given.content_hash):
        raise InvalidProof("the body is another content")
    return entry


def _may_hold(entry: Entry, schema_hash: str) -> bool:
    """Whether an entry of its kind can hold something of this schema."""
    is_object = schema_hash == MEMORY_OBJECT_SCHEMA
    return entry.kind in OBJECT_KINDS if is_object else entry.kind == "world"


def _check_place(given: InclusionProof, entry: Entry) -> None:
    # 4.
    _check_included(given.entry, entry, given.path, given)
    # 5.
    if given.head is None:
        last = entry
    else:
        last = read_entry(given.head.entry.encode())
        if last.seq == entry.seq:
            raise InvalidProof("it names a last entry although it is the last itself")
        _check_included(given.head.entry, last, given.head.path, given)
    if last.seq != given.size - 1:
        raise InvalidProof("its tree has another size")


def _check_included(raw: str, entry: Entry, path: Sequence[str], tree: InclusionProof) -> None:
    verify_inclusion(
        leaf=leaf_hash(raw.encode()),
        index=entry.seq,
        size=tree.size,
        proof=_hashes(path),
        root=bytes.fromhex(tree.root),
    )


def _check_original(given: MemoryRef | HashProof, original: Original) -> None:
    if not isinstance(given, InclusionProof):  # else it was compared with the entry
        entry = read_entry(original.entry)
        if body_digest(original.salt, original.body) != entry.body_digest:
            raise InvalidProof("the original is not what its entry holds")
        if world_id(*content_of(entry, original.body)) != given.world_id:
            raise InvalidProof("the original is another memory")
    if original.snapshot is None:
        return
    try:
        found = snapshot_hash(original.snapshot)
    except (InvalidWorld, InvalidJson) as refused:
        raise InvalidProof(f"its snapshot is none: {refused.why}") from None
    if found != content_of(read_entry(original.entry), original.body)[1]:
        raise InvalidProof("its snapshot is not the one of its world")


def _is_tree(given: MemoryRef | HashProof, pinned: Checkpoint) -> bool:
    if not isinstance(given, InclusionProof):
        return False
    return (given.size, given.root) == (pinned.size, pinned.root.hex())


def _hashes(path: Sequence[str]) -> list[bytes]:
    if not all(map(is_digest, path)):
        raise InvalidProof("a hash in a path is not 64 hexadecimal digits")
    return [bytes.fromhex(one) for one in path]
