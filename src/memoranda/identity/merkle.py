"""The Merkle tree of RFC 6962: one root that commits to a whole sequence, grown leaf by leaf.

A tree is cut into perfect subtrees. A node is one of them, complete for good: ``(level, index)``
covers the leaves from ``index << level`` on, ``1 << level`` of them. Nodes are what is stored;
the ragged right edge is hashed from them when it is needed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256 as new
from typing import Final, Protocol, Self

from memoranda.identity.digest import sha256
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
