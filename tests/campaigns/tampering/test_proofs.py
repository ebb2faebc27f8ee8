"""Every proof of every small tree holds, and none that was changed does."""

from collections.abc import Iterator, Sequence
from functools import cache

import pytest

from memoranda.identity.merkle import EMPTY_ROOT, verify_consistency, verify_inclusion
from memoranda.kernel.errors import InvalidProof
from memoranda.ledger import tree
from memoranda.ledger.tree import BLOCK, Block, Blocks
from tests.campaigns.adversity.chance import Random

SIZE = 300
"""Beyond 256, where the first stored node is."""

MUTATIONS = 20_000
ENTRIES = [b"entry %d" % number for number in range(SIZE)]
LEAVES = tree.leaves(ENTRIES)


@pytest.fixture(autouse=True)
def nodes_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same neighbours are hashed once, not for each of 45,150 proofs."""
    node_of = cache(tree.node_of)
    monkeypatch.setattr(tree, "node_of", lambda hashes: node_of(tuple(hashes)))


@cache
def _blocks(size: int) -> Blocks:
    """All blocks of the tree of a size, as a store has them."""
    found: dict[Block, Sequence[bytes]] = {
        Block(0, number): LEAVES[number * BLOCK : min(size, (number + 1) * BLOCK)]
        for number in range(-(-size // BLOCK))
    }
    found[Block(8, 0)] = [tree.node_of(LEAVES[:BLOCK])][: size // BLOCK]
    return found


@cache
def _root(size: int) -> bytes:
    return tree.root(size, _blocks(size))


def _is_in(leaf: bytes, index: int, size: int, root: bytes, proof: Sequence[bytes]) -> bool:
    try:
        verify_inclusion(leaf=leaf, index=index, size=size, root=root, proof=proof)
    except InvalidProof:
        return False
    return True


def _begins(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    try:
        verify_consistency(
            old_size=old, new_size=new, old_root=old_root, new_root=new_root, proof=proof
        )
    except InvalidProof:
        return False
    return True


def test_every_entry_of_every_size_is_proved() -> None:
    for size in range(1, SIZE + 1):
        blocks, root = _blocks(size), _root(size)
        for index in range(size):
            proof = tree.inclusion(index, size, blocks)
            assert _is_in(LEAVES[index], index, size, root, proof), (index, size)


def test_every_size_is_proved_to_begin_with_every_smaller_one() -> None:
    for new in range(1, SIZE + 1):
        blocks, root = _blocks(new), _root(new)
        for old in range(1, new + 1):
            proof = tree.consistency(old, new, blocks)
            assert _begins(old, new, _root(old), root, proof), (old, new)


def _mutated(proof: Sequence[bytes], chance: Random) -> Iterator[list[bytes]]:
    """A proof with a bit flipped, a hash gone, added, doubled, or moved."""
    whole = list(proof)
    yield [*whole, chance.randbytes(32)]
    yield [chance.randbytes(32), *whole]
    if not whole:
        return
    at = chance.randrange(len(whole))
    flipped = bytearray(whole[at])
    flipped[chance.randrange(32)] ^= 1 << chance.randrange(8)
    yield [*whole[:at], bytes(flipped), *whole[at + 1 :]]
    yield whole[:at] + whole[at + 1 :]
    yield [*whole[: at + 1], *whole[at:]]
    yield [*whole[:at], whole[at][:31], *whole[at + 1 :]]
    yield [*whole[:at], b"", *whole[at + 1 :]]
    other = chance.randrange(len(whole))
    if whole[at] != whole[other]:
        swapped = list(whole)
        swapped[at], swapped[other] = whole[other], whole[at]
        yield swapped


def test_a_mutated_inclusion_proof_is_never_accepted() -> None:
    chance, tried = Random(1), 0
    while tried < MUTATIONS:
        size = chance.randrange(1, SIZE + 1)
        index = chance.randrange(size)
        proof = tree.inclusion(index, size, _blocks(size))
        for mutated in _mutated(proof, chance):
            tried += 1
            assert not _is_in(LEAVES[index], index, size, _root(size), mutated), (index, size)


def test_an_inclusion_proof_proves_no_other_entry_place_size_or_root() -> None:
    chance = Random(2)
    for _ in range(MUTATIONS // 4):
        size = chance.randrange(2, SIZE + 1)
        index, other = chance.sample(range(size), 2)
        proof = tree.inclusion(index, size, _blocks(size))
        leaf, root = LEAVES[index], _root(size)

        assert not _is_in(LEAVES[other], index, size, root, proof)
        assert not _is_in(leaf, other, size, root, proof)
        assert not _is_in(leaf, index, size, _root(size - 1), proof)
        assert not _is_in(leaf, index, size, EMPTY_ROOT, proof)
        assert not _is_in(leaf, size, size, root, proof)


def test_a_mutated_consistency_proof_is_never_accepted() -> None:
    chance, tried = Random(3), 0
    while tried < MUTATIONS:
        new = chance.randrange(2, SIZE + 1)
        old = chance.randrange(1, new)
        proof = tree.consistency(old, new, _blocks(new))
        for mutated in _mutated(proof, chance):
            tried += 1
            assert not _begins(old, new, _root(old), _root(new), mutated), (old, new)


def test_a_consistency_proof_proves_no_other_history() -> None:
    chance = Random(4)
    for _ in range(MUTATIONS // 4):
        new = chance.randrange(3, SIZE + 1)
        old = chance.randrange(2, new)
        proof = tree.consistency(old, new, _blocks(new))

        assert not _begins(old, new, _root(old - 1), _root(new), proof)
        assert not _begins(old, new, _root(old), _root(new - 1), proof)
        assert not _begins(old - 1, new, _root(old), _root(new), proof)
        assert not _begins(old, new, chance.randbytes(32), _root(new), proof)


@pytest.mark.parametrize("size", [1, 255, 256, 257, SIZE])
def test_a_tree_of_one_size_is_consistent_with_itself_and_no_other(size: int) -> None:
    assert _begins(size, size, _root(size), _root(size), [])
    assert not _begins(size, size, _root(size), _root(size - 1), [])
    assert not _begins(size, size, _root(size), _root(size), [_root(size)])
