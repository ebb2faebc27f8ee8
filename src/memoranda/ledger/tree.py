"""The journal's Merkle tree, kept small: of eight levels, one is stored.

A leaf's hash follows from its entry, so leaves are not stored at all; nor are the levels up to
the eighth, whose nodes cover 256 entries each; and so on. What is stored is a 256th of the
leaves. The rest is hashed when it is needed: a block is 256 neighbours of a stored level, and a
proof in a tree of a million entries needs five or so of them.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
# of its entries; of a block that is complete only its hashes and the node over them are kept. The
# proof itself is made for whoever asks for it.

REMEMBERED: Final = 4_096
"""Blocks: 34 MB at the most, and a million entries."""

FEW: Final = 32
"""New leaves that are read one by one rather than with all their block."""


class _Whole(NamedTuple):
    """A block that is complete: nothing is added to it any more."""

    hashes: bytes
    over: bytes
    """The node over all of them."""

    def __len__(self) -> int:
        return BLOCK

    def at(self, place: int, height: int = 0) -> bytes:
        if height == STRIDE:
            return self.over
        start, end = place << height, place + 1 << height
        return node_of([self.hashes[n * 32 : n * 32 + 32] for n in range(start, end)])


class _Growing:
    """A block at the right end: its hashes, the nodes over each two of them, and so on."""

    def __init__(self, hashes: Iterable[bytes]) -> None:
        self._levels: list[list[bytes]] = [[] for _ in range(STRIDE + 1)]
        for node_hash in hashes:
            self.add(node_hash)

    def __len__(self) -> int:
        return len(self._levels[0])

    def add(self, node_hash: bytes) -> None:
        self._levels[0].append(node_hash)
        for below, above in pairwise(self._levels):
            if len(below) % 2:
                break
            above.append(node_of(below[-2:]))

    def at(self, place: int, height: int = 0) -> bytes:
        nodes = self._levels[height]
        if place >= len(nodes):
            raise InvalidProof(f"the node {place} at height {height} of a block is not complete")
        return nodes[place]


class Held:
    """The tree of a size, as far as the blocks of some of its entries tell."""

    def __init__(self, known: Mapping[Block, "_Whole | _Growing"], size: int) -> None:
        self._known = known
        self.size = size

    def root(self) -> bytes:
        return frontier_at(self.size, self._node).root()

    def inclusion(self, seq: int) -> list[bytes]:
        """The proof that an entry is in the tree."""
        return inclusion_proof(seq, self.size, self._node)

    def consistency(self, old_size: int) -> list[bytes]:
        """The proof that it begins with the tree of an older size."""
        return consistency_proof(old_size, self.size, self._node)

    def check(self, seq: int, leaf: bytes) -> None:
        """Prove that an entry with this leaf hash is in the tree, or InvalidProof.

        1. its hash stands at its place in its block
        2. where the block is complete, the node over it stands in the block above, and so on
        3. where it is not, the root is made of its own nodes
        """
        found, index, level = leaf, seq, 0
        while True:
            block = self._known.get(Block(level, index >> STRIDE))
            place = index & BLOCK - 1
            # 1.
            if block is None or place >= len(block) or block.at(place) != found:
                raise InvalidProof("it leads to another root")
            index >>= STRIDE
            level += STRIDE
            # 3.
            if index + 1 << level > self.size:
                return
            # 2.
            found = block.at(0, STRIDE)

    def _node(self, level: int, index: int, /) -> bytes:
        height = level % STRIDE
        block = block_over(level, index)
        known = self._known.get(block)
        if known is None:
            raise InvalidProof(f"the node {index} of level {level} was not read")
        return known.at(index - (block.number << (STRIDE - height)), height)


class Pyramids:
    """The nodes of one journal's tree, as far as they were read."""

    def __init__(self, remembered: int = REMEMBERED) -> None:
        self._known: OrderedDict[Block, _Whole | _Growing] = OrderedDict()
        self._remembered = remembered

    def wanted(self, blocks: Iterable[Block], size: int) -> tuple[range, set[Block]]:
        """What is still to be read of these blocks, in the tree of a size.

        That is blocks as a whole, and of the last one the entries that it lacks, if they are few.
        """
        last = Block(0, (size - 1) // BLOCK)
        known = self._known.get(last)
        first = size if known is None else last.number * BLOCK + len(known)
        new = range(first, size) if size - first <= FEW else range(0)
        missing = {block for block in blocks if not self._has(block, size)}
        return new, missing - {last} if new else missing

    def grow(self, leaves: Mapping[int, bytes]) -> None:
        """Add the hashes of new leaves, by entry, to the last block, as far as they follow it.

        Another one may have added them meanwhile.
        """
        for seq in sorted(leaves):
            block = self._known.get(Block(0, seq // BLOCK))
            if isinstance(block, _Growing) and len(block) == seq % BLOCK:
                block.add(leaves[seq])

    def add(self, blocks: Blocks) -> None:
        """Remember blocks as they were read; InvalidProof if what is stored there is no hash."""
        for block, hashes in blocks.items():
            if any(len(node_hash) != HASH_SIZE for node_hash in hashes):
                raise InvalidProof(f"a node of level {block.level} is no hash")
            if len(hashes) == BLOCK:
                self._known[block] = _Whole(b"".join(hashes), node_of(hashes))
            elif len(hashes) >= len(self._known.get(block, ())):  # none that was read later
                self._known[block] = _Growing(hashes)

    def settle(self) -> None:
        """Forget what was not used for the longest time, beyond what is remembered."""
        while len(self._known) > self._remembered:
            self._known.popitem(last=False)

    def held(self, blocks: Iterable[Block], size: int) -> Held:
        """The tree of a size, as far as these blocks were read."""
        known = self._known
        return Held({block: known[block] for block in blocks if block in known}, size)

    def _has(self, block: Block, size: int) -> bool:
        known = self._known.get(block)
        if known is None:
            return False
        self._known.move_to_end(block)
        return len(known) >= min(BLOCK, (size >> block.level) - block.number * BLOCK)


def blocks_for_entries(seqs: Iterable[int], size: int) -> set[Block]:
    """The blocks that proofs of these entries need, in the tree of a size.

    Beside an entry stand those of its own blocks, level by level; all else is at the right
    end of the tree, from which its root follows.
    """
    needed, seqs = blocks_for_root(size), set(seqs)
    for level in range(0, size.bit_length(), STRIDE):
        needed |= {Block(level, seq >> level + STRIDE) for seq in seqs}
    return needed
