"""Proving: an original, and its place in the journal's tree, become a proof (M-1).

Pure: whoever calls has read the original, and the blocks of the tree that are asked for. What is
made here is checked as a reader would check it before it is given.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memoranda.kernel.errors import InvalidJson, InvalidProof, InvalidWorld
from memoranda.ledger.entry import read_entry
from memoranda.ledger.tree import Block, Blocks, blocks_for_inclusion, inclusion, root
from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.recall.proof import (
    DigestOpening,
    HashProof,
    InclusionProof,
    Method,
    StoredOriginal,
    TreeHead,
    VerificationProof,
)
from memoranda.recall.proof_check import check_form, content_of
from memoranda.recall.trace import MemoryRef
from memoranda.worlds.snapshot import world_id


@dataclass(frozen=True, slots=True)
class TreePlace:
    """Where an entry stands in the tree of a size: `place` makes it of stored hashes."""

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


def blocks_for_place(seq: int, size: int) -> set[Block]:
    """The blocks of the journal's tree that `place` reads."""
    return blocks_for_inclusion(seq, size) | blocks_for_inclusion(size - 1, size)


def place(seq: int, size: int, head_entry: bytes, blocks: Blocks) -> TreePlace:
    """Where entry `seq` stands in the tree of a size, whose last entry is `head_entry`."""
    return TreePlace(
        size,
        root(size, blocks),
        inclusion(seq, size, blocks),
        head_entry,
        inclusion(size - 1, size, blocks),
    )


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
