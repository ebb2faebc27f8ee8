"""The Merkle tree of RFC 6962: one root that commits to a whole sequence, grown leaf by leaf.

A tree is cut into perfect subtrees. A node is one of them, complete for good: ``(level, index)``
covers the leaves from ``index << level`` on, ``1 << level`` of them. Nodes are what is stored;
the ragged right edge is hashed from them when it is needed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256 as new
from typing import Final, Protocol, Self

from memoranda.identity.canonical import sha256
from memoranda.kernel.errors import InvalidProof

HASH_SIZE: Final = 32
EMPTY_ROOT: Final = sha256(b"")
_SIZE_BYTES: Final = 8


def leaf_hash(entry: bytes) -> bytes:
    """The hash of a leaf; its prefix keeps it apart from every node (RFC 6962 2.1)."""
    return sha256(b"\x00" + entry)


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of a node over two subtrees (RFC 6962 2.1)."""
    return sha256(b"\x01" + left + right)


def leaf_hashes(entries: Iterable[bytes]) -> list[bytes]:
    """The hashes of many leaves: what a verifier spends its time on, so without a call for each."""
    return [new(b"\x00" + entry).digest() for entry in entries]


def perfect_root(hashes: Sequence[bytes]) -> bytes:
    """The root of a perfect subtree, from all hashes of one of its levels."""
    while len(hashes) > 1:
        pairs = iter(hashes)
        hashes = [
            new(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)
        ]
    return hashes[0]


class Nodes(Protocol):
    """Reads the stored hash of a complete node."""

    def __call__(self, level: int, index: int, /) -> bytes:
        """The hash of the perfect subtree ``index`` of ``1 << level`` leaves."""
        ...


@dataclass(frozen=True, slots=True)
class Frontier:
    """All that is needed to go on growing a tree: one hash for each bit that is set in its size."""

    size: int = 0
    peaks: tuple[bytes, ...] = ()
    """The roots of its perfect subtrees, the largest first."""

    def __post_init__(self) -> None:
        if len(self.peaks) != self.size.bit_count():
            raise InvalidProof(f"a tree of {self.size} leaves has not {len(self.peaks)} peaks")

    def append(self, leaf: bytes) -> tuple["Frontier", list[bytes]]:
        """The tree with one more leaf hash, and the nodes that are complete with it.

        Those are the leaf at level 0 and its ancestors; the index at a level is ``size >> level``.
        """
        if len(leaf) != HASH_SIZE:
            raise InvalidProof(f"a leaf hash has {HASH_SIZE} bytes, not {len(leaf)}")
        completed = [leaf]
        peaks = self.peaks
        kept, rest = len(peaks), self.size
        while rest & 1:
            kept -= 1
            leaf = node_hash(peaks[kept], leaf)
            completed.append(leaf)
            rest >>= 1
        return Frontier(self.size + 1, (*peaks[:kept], leaf)), completed

    def root(self) -> bytes:
        """The Merkle tree hash of all leaves (RFC 6962 2.1)."""
        return folded(self.peaks) if self.peaks else EMPTY_ROOT

    def to_bytes(self) -> bytes:
        """The size (8 bytes, big endian) and the peaks, for storage."""
        return self.size.to_bytes(_SIZE_BYTES) + b"".join(self.peaks)

    @classmethod
    def from_bytes(cls, raw: bytes) -> Self:
        """The frontier that `to_bytes` wrote, or InvalidProof where no frontier has these bytes."""
        size = int.from_bytes(raw[:_SIZE_BYTES])
        if len(raw) != _SIZE_BYTES + size.bit_count() * HASH_SIZE:
            raise InvalidProof(f"{len(raw)} bytes are not the frontier of a tree")
        starts = range(_SIZE_BYTES, len(raw), HASH_SIZE)
        return cls(size, tuple(raw[start : start + HASH_SIZE] for start in starts))


class NodeList:
    """The nodes of a tree in memory."""

    def __init__(self) -> None:
        self.frontier = Frontier()
        self._levels: list[list[bytes]] = []

    def append(self, leaf: bytes) -> None:
        """Grow by one leaf hash."""
        self.frontier, completed = self.frontier.append(leaf)
        if len(completed) > len(self._levels):
            self._levels.append([])
        for level, node in enumerate(completed):
            self._levels[level].append(node)

    def __call__(self, level: int, index: int, /) -> bytes:
        """The hash of a node, or InvalidProof where it is not complete yet."""
        try:
            return self._levels[level][index]
        except IndexError:
            raise InvalidProof(f"the node {index} of level {level} is not complete") from None


def frontier_at(size: int, nodes: Nodes) -> Frontier:
    """The frontier that a tree had at a size, from its stored nodes."""
    return Frontier(size, tuple(nodes(level, index) for level, index in perfect_nodes(0, size)))


def perfect_nodes(start: int, end: int) -> Iterator[tuple[int, int]]:
    """The nodes that cover the leaves from start to end, the largest first.

    ``start`` is where a subtree of that many leaves begins in its tree.
    """
    while start < end:
        level = (end - start).bit_length() - 1
        yield level, start >> level
        start += 1 << level


def folded(peaks: Sequence[bytes]) -> bytes:
    """The hash of the subtree that these perfect subtrees make, the largest first."""
    root = peaks[-1]
    for peak in reversed(peaks[:-1]):
        root = node_hash(peak, root)
    return root


# ------------------------------------------------------------------------------------------------
# Merkle proofs: made from stored nodes, verified with nothing but hashes (RFC 6962, RFC 9162).
#
# A proof that does not hold raises InvalidProof; a verifier that returns has verified. There is no
# boolean that a caller could forget to look at.

# ------------------------------------------------------------------------- making


def inclusion_proof(index: int, size: int, nodes: Nodes) -> list[bytes]:
    """The proof that leaf ``index`` is in the tree of ``size`` leaves (RFC 6962 2.1.1)."""
    return [_subtree_hash(subtree, nodes) for subtree in _inclusion_path(index, size)]


def consistency_proof(old_size: int, new_size: int, nodes: Nodes) -> list[bytes]:
    """The proof that the tree of ``new_size`` leaves begins with the old one (RFC 6962 2.1.2)."""
    return [_subtree_hash(subtree, nodes) for subtree in _consistency_path(old_size, new_size)]


def inclusion_nodes(index: int, size: int) -> list[tuple[int, int]]:
    """The ``(level, index)`` that `inclusion_proof` reads: a store may fetch them at once."""
    return _nodes_of(_inclusion_path(index, size))


def consistency_nodes(old_size: int, new_size: int) -> list[tuple[int, int]]:
    """The ``(level, index)`` that `consistency_proof` reads: a store may fetch them at once."""
    return _nodes_of(_consistency_path(old_size, new_size))


def _inclusion_path(index: int, size: int) -> list[tuple[int, int]]:
    """The subtrees ``(start, end)`` beside the way from the leaf up to the root."""
    _check_index(index, size)
    path = []
    start, end = 0, size
    while end - start > 1:
        middle = _middle(start, end)
        if index < middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((start, middle))
            start = middle
    return path[::-1]


def _consistency_path(old_size: int, new_size: int) -> list[tuple[int, int]]:
    """The subtrees ``(start, end)`` from which both roots follow."""
    _check_sizes(old_size, new_size)
    path = []
    start, end = 0, new_size
    while end != old_size:
        middle = _middle(start, end)
        if old_size <= middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((start, middle))
            start = middle
    if start:  # else what is left is the whole old tree, and its root is known
        path.append((start, end))
    return path[::-1]


def _middle(start: int, end: int) -> int:
    """Where RFC 6962 splits: after the largest power of two that is smaller than the subtree."""
    return start + (1 << (end - start - 1).bit_length() - 1)


def _subtree_hash(subtree: tuple[int, int], nodes: Nodes) -> bytes:
    return folded([nodes(level, index) for level, index in perfect_nodes(*subtree)])


def _nodes_of(path: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    return [node for subtree in path for node in perfect_nodes(*subtree)]


# ---------------------------------------------------------------------- verifying


def verify_inclusion(
    *, leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes
) -> None:
    """Prove that a leaf hash stands at ``index`` under a root, or InvalidProof (RFC 9162 2.1.3.2).

    1. the index is smaller than the tree's size
    2. fn is the index, sn the last index
    3. r is the leaf hash
    4. each hash of the proof is joined to r, on the side that fn and sn tell, until sn is 0
    5. r is the root
    """
    _check_hashes(leaf, root, *proof)
    # 1.
    _check_index(index, size)
    # 2.
    fn, sn = index, size - 1
    # 3.
    r = leaf
    # 4.
    for p, stands_left in zip(proof, _sides(fn, sn, len(proof)), strict=True):
        r = node_hash(p, r) if stands_left else node_hash(r, p)
    # 5.
    if r != root:
        raise InvalidProof("it leads to another root")


def verify_consistency(
    *, old_size: int, new_size: int, proof: Sequence[bytes], old_root: bytes, new_root: bytes
) -> None:
    """Prove that a tree begins with an older one, or InvalidProof (RFC 9162 2.1.4.2).

    0. the old tree is neither empty nor larger; two of one size need equal roots and no proof
    1. the proof is not empty
    2. if the old size is a power of two, the old root comes first
    3. fn and sn are the last indexes
    4. while fn is odd, both are halved
    5. fr and sr are the first hash
    6. each further hash is joined to sr, and to fr where it stands left, until sn is 0
    7. fr is the old root and sr the new one
    """
    # 0.
    _check_sizes(old_size, new_size)
    if old_size == new_size:
        if proof or old_root != new_root:
            raise InvalidProof("two trees of one size need equal roots and no proof")
        return
    # 1.
    if not proof:
        raise InvalidProof("it is empty")
    _check_hashes(old_root, new_root, *proof)
    # 2.
    path = [old_root, *proof] if old_size.bit_count() == 1 else proof
    # 3.
    fn, sn = old_size - 1, new_size - 1
    # 4.
    while fn & 1:
        fn >>= 1
        sn >>= 1
    # 5.
    fr = sr = path[0]
    # 6.
    for c, stands_left in zip(path[1:], _sides(fn, sn, len(path) - 1), strict=True):
        if stands_left:
            fr = node_hash(c, fr)
        sr = node_hash(c, sr) if stands_left else node_hash(sr, c)
    # 7.
    if (fr, sr) != (old_root, new_root):
        raise InvalidProof("it leads to other roots")


def _sides(fn: int, sn: int, length: int) -> list[bool]:
    """For each hash of a proof: whether it stands left. A proof of another length is refused."""
    sides = []
    while sn:
        stands_left = bool(fn & 1) or fn == sn
        sides.append(stands_left)
        while stands_left and fn and not fn & 1:
            fn >>= 1
            sn >>= 1
        fn >>= 1
        sn >>= 1
    if length != len(sides):
        raise InvalidProof(f"it has {length} hashes to join where {len(sides)} are needed")
    return sides


def _check_hashes(*hashes: bytes) -> None:
    for found in hashes:
        if len(found) != HASH_SIZE:
            raise InvalidProof(f"a hash of {len(found)} bytes (it has {HASH_SIZE})")


def _check_index(index: int, size: int) -> None:
    if not 0 <= index < size:
        raise InvalidProof(f"a tree of {size} leaves has no leaf {index}")


def _check_sizes(old_size: int, new_size: int) -> None:
    if not 1 <= old_size <= new_size:
        raise InvalidProof(f"a tree of {new_size} leaves does not grow from one of {old_size}")
