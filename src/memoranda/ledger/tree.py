"""The journal's Merkle tree, kept small: of eight levels, one is stored.

A leaf's hash follows from its entry, so leaves are not stored at all; nor are the levels up to
the eighth, whose nodes cover 256 entries each; and so on. What is stored is a 256th of the
leaves. The rest is hashed when it is needed: a block is 256 neighbours of a stored level, and a
proof in a tree of a million entries needs five or so of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from memoranda.identity.merkle import (
    Frontier,
    frontier_at,
    leaf_hashes,
    perfect_nodes,
    perfect_root,
)
from memoranda.identity.proofs import (
    consistency_nodes,
    consistency_proof,
    inclusion_nodes,
    inclusion_proof,
)
from memoranda.kernel.errors import InvalidProof

STRIDE: Final = 8
"""How many levels lie between two stored ones."""

BLOCK: Final = 1 << STRIDE
"""How many neighbours of a stored level make a node of the next one."""


class Block(NamedTuple):
    """The neighbours ``number * BLOCK`` and following of a stored level; level 0 are the leaves."""

    level: int
    number: int


Blocks = Mapping[Block, Sequence[bytes]]
"""Blocks as they were read: hashes, as many as there are complete ones."""


class StoredNode(NamedTuple):
    """A node that is complete and is to be stored: its place, and the block that it is made of."""

    level: int
    number: int

    @property
    def block(self) -> Block:
        """What it is the root of."""
        return Block(self.level - STRIDE, self.number)


def completed(before: int, after: int) -> Iterator[StoredNode]:
    """The nodes to be stored when a tree grows, the lower first: the upper are made of them."""
    level = STRIDE
    while after >> level:
        for number in range(before >> level, after >> level):
            yield StoredNode(level, number)
        level += STRIDE


def node_of(hashes: Sequence[bytes]) -> bytes:
    """The root of a perfect subtree, from all hashes of one of its levels."""
    return perfect_root(hashes)


def leaves(entries: Iterable[bytes]) -> list[bytes]:
    """The hashes of these entries as leaves."""
    return leaf_hashes(entries)


def blocks_for_root(size: int) -> set[Block]:
    """The blocks that `root` reads."""
    return _blocks(perfect_nodes(0, size))


def blocks_for_inclusion(index: int, size: int) -> set[Block]:
    """The blocks that `inclusion` reads."""
    return _blocks(inclusion_nodes(index, size)) | blocks_for_root(size)


def blocks_for_consistency(old_size: int, new_size: int) -> set[Block]:
    """The blocks that `consistency` reads."""
    return _blocks(consistency_nodes(old_size, new_size))


def root(size: int, blocks: Blocks) -> bytes:
    """The root of the tree that had this size."""
    return frontier(size, blocks).root()


def frontier(size: int, blocks: Blocks) -> Frontier:
    """The peaks of the tree that had this size."""
    return frontier_at(size, _Nodes(blocks))


def inclusion(index: int, size: int, blocks: Blocks) -> list[bytes]:
    """The proof that an entry is in the tree of a size."""
    return inclusion_proof(index, size, _Nodes(blocks))


def consistency(old_size: int, new_size: int, blocks: Blocks) -> list[bytes]:
    """The proof that the tree of the new size begins with that of the old one."""
    return consistency_proof(old_size, new_size, _Nodes(blocks))


class _Nodes:
    """Any complete node, hashed from the block that it lies over."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks

    def __call__(self, level: int, index: int, /) -> bytes:
        height = level % STRIDE
        block = block_over(level, index)
        start = (index << height) % BLOCK
        hashes = self._blocks[block][start : start + (1 << height)]
        if len(hashes) != 1 << height:
            raise InvalidProof(f"the node {index} of level {level} is not complete")
        return node_of(hashes)


def _blocks(nodes: Iterable[tuple[int, int]]) -> set[Block]:
    return {block_over(level, index) for level, index in nodes}


def block_over(level: int, index: int) -> Block:
    """The block that a node lies over."""
    height = level % STRIDE
    return Block(level - height, (index << height) // BLOCK)
