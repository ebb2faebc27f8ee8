"""The journal's Merkle tree, kept small: of eight levels, one is stored.

A leaf's hash follows from its entry, so leaves are not stored at all; nor are the levels up to
the eighth, whose nodes cover 256 entries each; and so on. What is stored is a 256th of the
leaves. The rest is hashed when it is needed: a block is 256 neighbours of a stored level, and a
proof in a tree of a million entries needs five or so of them.
"""

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from memoranda.identity.merkle import (
    HASH_SIZE,
    Frontier,
    consistency_nodes,
    consistency_proof,
    frontier_at,
    inclusion_nodes,
    inclusion_proof,
    leaf_hashes,
    perfect_nodes,
    perfect_root,
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
    height = level % STRIDE
    return Block(level - height, (index << height) // BLOCK)


# ------------------------------------------------------------------------------------------------
# Blocks of the journal's tree with the nodes over them, remembered: many proofs, few hashes.
#
# A journal only grows, so a hash that was true once stays true. A proof of one entry hashes two
# blocks of 256 anew; whoever proves ten entries for every question remembers them here. What is
# proved is compared with the entry as it is stored now: a changed entry fails, whatever is
# remembered of its neighbours. The way up to the root is hashed once for a block, not once for each
# of its entries; the proof itself is made for whoever asks for it.

REMEMBERED: Final = 1_024
"""Blocks: 16 MB at the most, and a quarter of a million entries."""

FEW: Final = 32
"""New leaves that are read one by one rather than with all their block."""

Pyramid = Sequence[list[bytes]]
"""The hashes of a block, then the nodes over each two of them, and so on up to the one over all."""


class Held:
    """The tree of a size, as far as the pyramids over some of its entries tell."""

    def __init__(self, known: Mapping[Block, Pyramid], size: int) -> None:
        self._known = known
        self.size = size

    def root(self) -> bytes:
        return frontier_at(self.size, self._node).root()

    def inclusion(self, seq: int) -> list[bytes]:
        """The proof that an entry is in the tree."""
        return inclusion_proof(seq, self.size, self._node)

    def check(self, seq: int, leaf: bytes) -> None:
        """Prove that an entry with this leaf hash is in the tree, or InvalidProof.

        1. its hash stands at its place in its block
        2. where the block is complete, the node over it stands in the block above, and so on
        3. where it is not, the root is made of its own nodes
        """
        found, index, level = leaf, seq, 0
        while True:
            pyramid = self._known.get(Block(level, index >> STRIDE))
            place = index & BLOCK - 1
            # 1.
            if pyramid is None or place >= len(pyramid[0]) or pyramid[0][place] != found:
                raise InvalidProof("it leads to another root")
            index >>= STRIDE
            level += STRIDE
            # 3.
            if index + 1 << level > self.size:
                return
            # 2.
            if not pyramid[STRIDE]:
                raise InvalidProof("its block is not complete")
            (found,) = pyramid[STRIDE]

    def _node(self, level: int, index: int, /) -> bytes:
        height = level % STRIDE
        block = block_over(level, index)
        place = index - (block.number << (STRIDE - height))
        nodes = self._known[block][height]
        if place >= len(nodes):
            raise InvalidProof(f"the node {index} of level {level} is not complete")
        return nodes[place]


class Pyramids:
    """The nodes of one journal's tree, as far as they were read."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._known: OrderedDict[Block, Pyramid] = OrderedDict()
        self._remembered = remembered

    def missing(self, seqs: Collection[int], size: int) -> set[Block]:
        """The blocks that proofs of these entries still need, in the tree of a size.

        Beside an entry stand those of its own blocks, level by level; all else is at the right
        end of the tree, from which its root follows.
        """
        return {block for block in _needed(seqs, size) if not self._has(block, size)}

    def new_leaves(self, size: int) -> range:
        """The entries that the last block of leaves lacks, if it is known and they are few."""
        last = Block(0, (size - 1) // BLOCK)
        known = self._known.get(last)
        first = size if known is None else last.number * BLOCK + len(known[0])
        return range(first, size) if size - first <= FEW else range(0)

    def grow(self, leaves: Sequence[bytes], of: range) -> None:
        """Add the hashes of new leaves to the last block, if they are all there."""
        if not leaves or len(leaves) != len(of):
            return
        levels = self._known[Block(0, of[0] // BLOCK)]
        for leaf in leaves:
            levels[0].append(leaf)
            for below, above in pairwise(levels):
                if len(below) % 2:
                    break
                above.append(node_of(below[-2:]))

    def add(self, blocks: Blocks) -> None:
        """Remember blocks as they were read; InvalidProof if what is stored there is no hash."""
        for block, hashes in blocks.items():
            if any(len(node_hash) != HASH_SIZE for node_hash in hashes):
                raise InvalidProof(f"a node of level {block.level} is no hash")
            self._known[block] = _pyramid(hashes)
            self._known.move_to_end(block)

    def settle(self) -> None:
        """Forget what was not used for the longest time, beyond what is remembered."""
        while len(self._known) > self._remembered:
            self._known.popitem(last=False)

    def held(self, seqs: Collection[int], size: int) -> Held:
        """The tree of a size, to prove these entries in: nothing is `missing` for that."""
        return Held({block: self._known[block] for block in _needed(seqs, size)}, size)

    def _has(self, block: Block, size: int) -> bool:
        known = self._known.get(block)
        if known is None:
            return False
        self._known.move_to_end(block)
        return len(known[0]) >= min(BLOCK, (size >> block.level) - block.number * BLOCK)


def _needed(seqs: Collection[int], size: int) -> set[Block]:
    needed = blocks_for_root(size)
    for level in range(0, size.bit_length(), STRIDE):
        needed |= {Block(level, seq >> level + STRIDE) for seq in seqs}
    return needed


def _pyramid(hashes: Sequence[bytes]) -> Pyramid:
    levels = [list(hashes)]
    for _ in range(STRIDE):
        below = levels[-1]
        levels.append([node_of(below[at : at + 2]) for at in range(0, len(below) - 1, 2)])
    return levels
