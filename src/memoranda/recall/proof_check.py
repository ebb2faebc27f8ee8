"""Checking proofs, with nothing but hashes (M-1).

What an inclusion proof proves by itself, to somebody without any store and without the content:

1. the address is the hash of the schema and of the content hash
2. the entry is one, and its digest is that of the salt and the content hash; of a world, that of
   the salt and the hash of the World record
3. the entry holds this content: it is one of a memory object, or its World record names the
   schema and the snapshot's hash
4. the entry stands in the tree at its own ``seq``, under the root
5. the tree has this size: nothing is to the right of its last entry, whose ``seq`` says so. A
   path alone does not tell: many sizes have the same

What no proof proves: that nothing came later (an invalidation, an erasure, a conformance break),
that the rules for objects hold for a body that is not there, and whose journal it is. The first is
said by whoever verified, who is on record; the second is found where the journal is walked. The
third is shown by a checkpoint that the reader trusts (`pinned`), or that a known key signed
(`check_signed`): a tree that someone made up has a root, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memoranda.identity import leaf_hash, sha256, verify_consistency, verify_inclusion
from memoranda.kernel.errors import InvalidCheckpoint, InvalidJson, InvalidProof, InvalidWorld
from memoranda.kernel.json import JsonValue
from memoranda.ledger.body import broken_member, document_of
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint
from memoranda.ledger.entry import Entry, body_digest, read_entry, salted
from memoranda.ledger.object import integrity_digest
from memoranda.ledger.signed_note import SignedNote
from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.recall.proof import (
    MEMORY_OBJECT_SCHEMA,
    DigestOpening,
    HashProof,
    InclusionProof,
    Method,
    StoredOriginal,
    TreeHead,
    VerificationProof,
    is_digest,
    proof_in,
    read_proof,
)
from memoranda.recall.trace import MemoryRef, VerificationEvidence
from memoranda.worlds.snapshot import snapshot_hash, world_id


@dataclass(frozen=True, slots=True)
class Proved:
    """What a proof proved: of which memory, and by inclusion, the entry that holds it."""

    world_id: str
    entry: Entry | None = None


def verify_proof(
    proof: VerificationProof | Mapping[str, JsonValue],
    *,
    ref: MemoryRef | None = None,
    original: StoredOriginal | None = None,
    pinned: Checkpoint | None = None,
) -> bool:
    """Whether a proof holds: all of what its method says, or not at all (`check_proof`)."""
    return why_refused(proof, ref=ref, original=original, pinned=pinned) is None


def why_refused(
    proof: VerificationProof | Mapping[str, JsonValue],
    *,
    ref: MemoryRef | None = None,
    original: StoredOriginal | None = None,
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
    original: StoredOriginal | None = None,
    pinned: Checkpoint | None = None,
) -> Proved:
    """Prove what a proof says, or InvalidProof: a verifier that returns has verified.

    0. it has the form of its method, and is of this reference where one is given
    1. the address is the hash of schema and content
    2. the entry's digest is opened by the salt and the content hash, or the World record
    3. the entry holds this content
    4. the entry is in the tree
    5. the tree has the size
    6. the tree is the pinned one, where one is given
    7. the original is this one, where it is given, and its snapshot has the content's hash
    """
    return check_form(read_proof(proof), ref=ref, original=original, pinned=pinned)


def check_form(
    given: MemoryRef | HashProof,
    *,
    ref: MemoryRef | None = None,
    original: StoredOriginal | None = None,
    pinned: Checkpoint | None = None,
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
        entry = _check_entry(given)
        _check_place(given, entry)
    # 6.
    if pinned is not None and not _is_tree(given, pinned):
        raise InvalidProof("its tree is not the pinned one")
    # 7.
    if original is not None:
        check_original(given, original)
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
    given = read_proof(proof_in(evidence))
    covering = evidence.checkpoint
    if not isinstance(given, InclusionProof) or covering is None:
        raise InvalidProof("no signed checkpoint covers it")
    # 1.
    try:
        checkpoint, note = parse_checkpoint(covering.note)
    except InvalidCheckpoint as refused:
        raise InvalidProof(f"its checkpoint is not valid: {refused.why}") from None
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


def _check_address(given: HashProof) -> None:
    if given.world_id != world_id(given.schema_hash, given.content_hash):
        raise InvalidProof("the address is not the hash of its schema and content")


def _check_entry(given: InclusionProof) -> Entry:
    entry, opening = read_entry(given.entry.encode()), given.opening
    if entry.kind in OBJECT_KINDS:
        if opening.body is not None:
            raise InvalidProof("it carries content, which no proof does")
        body_hash = bytes.fromhex(given.content_hash)
        held = MEMORY_OBJECT_SCHEMA, given.content_hash
    elif opening.body is not None:
        record = opening.body.encode()
        body_hash, held = sha256(record), content_of(entry, record)
    else:
        raise InvalidProof("its entry holds no memory object, and it carries no World record")
    # 2.
    if salted(bytes.fromhex(opening.salt), body_hash).hex() != entry.body_digest:
        raise InvalidProof("the entry holds another body")
    # 3.
    if held != (given.schema_hash, given.content_hash):
        raise InvalidProof("the entry holds another content")
    return entry


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


def check_original(given: str | MemoryRef | HashProof, original: StoredOriginal) -> Entry:
    """Prove that an original is what an address, or a proof, says (7.), or InvalidProof.

    Its entry is given back as it was read; where that stands is another question.
    """
    if isinstance(given, InclusionProof):
        shown = given.entry.encode(), bytes.fromhex(given.opening.salt)
        if (original.entry, original.salt) != shown:
            raise InvalidProof("the original is another one")
    entry = read_entry(original.entry)
    if body_digest(original.salt, original.body) != entry.body_digest:
        raise InvalidProof("the original is not what its entry holds")
    schema, content = content_of(entry, original.body)
    address = given if isinstance(given, str) else given.world_id
    if world_id(schema, content) != address:
        raise InvalidProof("the original is another memory")
    if original.snapshot is None:
        return entry
    try:
        found = snapshot_hash(original.snapshot)
    except (InvalidWorld, InvalidJson) as refused:
        raise InvalidProof(f"its snapshot is not valid: {refused.why}") from None
    if found != content:
        raise InvalidProof("its snapshot is not the one of its world")
    return entry


def _is_tree(given: MemoryRef | HashProof, pinned: Checkpoint) -> bool:
    if not isinstance(given, InclusionProof):
        return False
    return (given.size, given.root) == (pinned.size, pinned.root.hex())


def _hashes(path: Sequence[str]) -> list[bytes]:
    if not all(map(is_digest, path)):
        raise InvalidProof("a hash in a path is not 64 hexadecimal digits")
    return [bytes.fromhex(text) for text in path]


# ------------------------------------------------------------------------------------------------
# Proving: an original, and its place in the journal's tree, become a proof (M-1).
#
# Pure: whoever calls has read the original, and the blocks of the tree that are asked for. What is
# made here is checked as a reader would check it before it is given.


@dataclass(frozen=True, slots=True)
class TreePlace:
    """Where an entry stands in the tree of a size: the journal's tree says so."""

    size: int
    root: bytes
    path: Sequence[bytes]
    head_entry: bytes
    head_path: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class ProveResult:
    """A proof, or why there is none."""

    valid: bool
    proof: VerificationProof | None = None
    error: str | None = None


def prove(
    ref: MemoryRef,
    original: StoredOriginal | None,
    *,
    method: Method = "inclusion",
    place: TreePlace | None = None,
) -> ProveResult:
    """The proof that an original is what a reference leads to; it is checked before it is given.

    Pure: the same original at the same place gives the same proof. An inclusion proof needs a
    `place`. None has the content of a memory object in it, or the snapshot of a world.
    """
    if original is None:
        return ProveResult(valid=False, error="the original is not there")
    try:
        form = _form(method, original, place)
        check_form(form, ref=ref, original=original)
    except (InvalidProof, InvalidWorld, InvalidJson) as refused:
        return ProveResult(valid=False, error=refused.why)
    proof = VerificationProof(method=method, proof=form.to_wire())
    return ProveResult(valid=True, proof=proof)


def _form(
    method: Method, original: StoredOriginal, place: TreePlace | None
) -> MemoryRef | HashProof:
    entry = read_entry(original.entry)
    schema, content = content_of(entry, original.body)
    address = world_id(schema, content)
    if method == "existence":
        return MemoryRef(world_id=address)
    if method == "hash":
        return HashProof(world_id=address, schema_hash=schema, content_hash=content)
    if place is None:
        raise InvalidProof("the place of the entry in the tree is not known")
    return InclusionProof(
        world_id=address,
        schema_hash=schema,
        content_hash=content,
        entry=original.entry.decode(),
        opening=_opening(entry.kind, original),
        size=place.size,
        root=place.root.hex(),
        path=_hex(place.path),
        head=None if place.head_entry == original.entry else _head(place),
    )


def _opening(kind: str, original: StoredOriginal) -> DigestOpening:
    record = None if kind in OBJECT_KINDS else original.body.decode()
    return DigestOpening(salt=original.salt.hex(), body=record)


def _head(place: TreePlace) -> TreeHead:
    return TreeHead(entry=place.head_entry.decode(), path=_hex(place.head_path))


def _hex(path: Sequence[bytes]) -> tuple[str, ...]:
    return tuple(data.hex() for data in path)
