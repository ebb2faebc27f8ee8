"""Proofs from what is remembered of a tree are those of the tree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memoranda.identity.merkle import leaf_hash, verify_inclusion
from memoranda.kernel.errors import InvalidProof
from memoranda.ledger import tree
from memoranda.ledger.tree import (
    BLOCK,
    Block,
    Pyramids,
    blocks_for_entries,
    completed,
    node_of,
)

LARGEST = 1_300


class Stored:
    """The blocks of a tree over numbered entries, as a store keeps them."""

    def __init__(self, size: int) -> None:
        self.reads = 0
        self._levels: dict[int, list[bytes]] = {0: [leaf_hash(b"%d" % n) for n in range(size)]}
        for level, number in completed(0, size):
            below = self._levels[level - tree.STRIDE]
            node = node_of(below[number * BLOCK : (number + 1) * BLOCK])
            self._levels.setdefault(level, []).append(node)

    def hashes(self, blocks: set[Block]) -> dict[Block, list[bytes]]:
        self.reads += len(blocks)
        return {
            block: self._levels.get(block.level, [])[
                block.number * BLOCK : (block.number + 1) * BLOCK
            ]
            for block in blocks
        }


@given(st.lists(st.integers(1, LARGEST), min_size=1, max_size=4), st.data())
def test_a_tree_that_grows_gives_the_proofs_of_each_size(
    sizes: list[int], data: st.DataObject
) -> None:
    pyramids = Pyramids()
    for size in sorted(sizes):
        stored = Stored(size)
        seqs = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=3))
        new, missing = pyramids.wanted(blocks_for_entries(seqs, size), size)
        pyramids.grow({seq: leaf_hash(b"%d" % seq) for seq in new})
        pyramids.add(stored.hashes(missing))
        held = pyramids.held(blocks_for_entries(seqs, size), size)
        for seq in seqs:
            blocks = stored.hashes(tree.blocks_for_inclusion(seq, size))
            assert held.inclusion(seq) == tree.inclusion(seq, size, blocks)
            assert held.root() == tree.root(size, blocks)
            held.check(seq, leaf_hash(b"%d" % seq))
            with pytest.raises(InvalidProof):
                held.check(seq, leaf_hash(b"another"))


@pytest.mark.rule("M-1")
@given(st.integers(1, 70_000), st.data())
@settings(max_examples=25)
def test_in_a_damaged_tree_no_entry_is_found_that_could_not_be_proved(
    size: int, data: st.DataObject
) -> None:
    stored, pyramids = Stored(size), Pyramids()
    seq = data.draw(st.integers(0, size - 1))
    blocks = stored.hashes(pyramids.wanted(blocks_for_entries([seq], size), size)[1])
    damaged = data.draw(st.sampled_from(sorted(block for block in blocks if blocks[block])))
    place = data.draw(st.integers(0, len(blocks[damaged]) - 1))
    if data.draw(st.booleans(), label="is gone"):
        del blocks[damaged][place]
    else:
        blocks[damaged][place] = leaf_hash(b"damage")
    pyramids.add(blocks)
    held, leaf = pyramids.held(blocks_for_entries([seq], size), size), leaf_hash(b"%d" % seq)
    try:
        root = held.root()
        held.check(seq, leaf)
    except InvalidProof:
        return  # it may be stricter: a proof does not have the entry's own nodes in it
    verify_inclusion(leaf=leaf, index=seq, size=size, proof=held.inclusion(seq), root=root)


def test_what_is_remembered_is_not_read_again() -> None:
    stored, pyramids = Stored(LARGEST), Pyramids()
    pyramids.add(stored.hashes(pyramids.wanted(blocks_for_entries([7], LARGEST), LARGEST)[1]))
    read = stored.reads

    assert pyramids.wanted(blocks_for_entries([7, 8, 255], LARGEST), LARGEST)[1] == set()
    assert pyramids.wanted(blocks_for_entries([7, 256], LARGEST), LARGEST)[1] == {Block(0, 1)}
    assert stored.reads == read


def test_no_more_is_remembered_than_it_may() -> None:
    stored, pyramids = Stored(LARGEST), Pyramids(remembered=2)
    pyramids.add(
        stored.hashes(pyramids.wanted(blocks_for_entries([0, 300, 600, 900], LARGEST), LARGEST)[1])
    )

    pyramids.settle()

    assert len(pyramids.wanted(blocks_for_entries([0, 300, 600, 900], LARGEST), LARGEST)[1]) > 1


def test_a_few_new_leaves_are_added_without_reading_their_block() -> None:
    pyramids = Pyramids()
    pyramids.add(
        Stored(LARGEST).hashes(pyramids.wanted(blocks_for_entries([7], LARGEST), LARGEST)[1])
    )
    size = LARGEST + 3
    grown = Stored(size)

    new, _ = pyramids.wanted((), size)
    pyramids.grow({seq: leaf_hash(b"%d" % seq) for seq in new})

    assert list(new) == [LARGEST, LARGEST + 1, LARGEST + 2]
    assert pyramids.wanted(blocks_for_entries([7], size), size)[1] == set()
    assert pyramids.held(blocks_for_entries([7], size), size).root() == tree.root(
        size, grown.hashes(tree.blocks_for_root(size))
    )
