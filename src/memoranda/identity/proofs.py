"""Merkle proofs: made from stored nodes, verified with nothing but hashes (RFC 6962, RFC 9162).

A proof that does not hold raises InvalidProof; a verifier that returns has verified. There is no
boolean that a caller could forget to look at.
"""

from collections.abc import Iterable, Sequence

from memoranda.identity.merkle import HASH_SIZE, Nodes, folded, node_hash, perfect_nodes
from memoranda.kernel.errors import InvalidProof

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
