"""Of the tree, a 256th is stored, and every root and proof follows from it."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity.merkle import (
    NodeList,
    consistency_proof,
    frontier_at,
    inclusion_proof,
    verify_consistency,
    verify_inclusion,
)
from memoranda.kernel.errors import InvalidProof
from memoranda.ledger import tree
from memoranda.ledger.tree import BLOCK, Block

MOST = 70_000
"""Beyond 65,536, where the second stored level begins."""

SIZES = st.one_of(
    st.integers(1, MOST),
    st.sampled_from([1, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, MOST]),
)


def entry(number: int) -> bytes:
    return b"entry %d" % number


@cache
def whole() -> NodeList:
    nodes = NodeList()
    for number in range(MOST):
        nodes.append(tree.leaves([entry(number)])[0])
    return nodes


@cache
def stored() -> dict[tuple[int, int], bytes]:
    """The stored nodes, made in steps of various length as commits make them."""
    nodes: dict[tuple[int, int], bytes] = {}
    size = 0
    while size < MOST:
        after = min(MOST, size + 1 + size % 777)
        for node in tree.completed(size, after):
            nodes[node] = tree.node_of(read(node.block, after, nodes))
        size = after
    return nodes


def read(block: Block, size: int, nodes: dict[tuple[int, int], bytes]) -> list[bytes]:
    """What a store reads: the complete neighbours of a block."""
    start, end = block.number * BLOCK, (block.number + 1) * BLOCK
    if block.level == 0:
        return tree.leaves(entry(number) for number in range(start, min(end, size)))
    places = range(start, min(end, size >> block.level))
    return [nodes[block.level, place] for place in places]


def blocks(wanted: set[Block], size: int) -> dict[Block, list[bytes]]:
    return {block: read(block, size, stored()) for block in wanted}


@pytest.fixture(scope="module", autouse=True)
def _made_before_time_is_taken() -> None:
    whole()
    stored()


def test_few_nodes_are_stored() -> None:
    assert len(stored()) == MOST // 256 + MOST // 65_536


@given(SIZES)
def test_the_root_at_any_size_is_that_of_the_whole_tree(size: int) -> None:
    found = tree.root(size, blocks(tree.blocks_for_root(size), size))

    assert found == frontier_at(size, whole()).root()


@given(SIZES, st.data())
def test_an_inclusion_proof_is_that_of_the_whole_tree(size: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    read_blocks = blocks(tree.blocks_for_inclusion(index, size), size)

    proof = tree.inclusion(index, size, read_blocks)

    assert proof == inclusion_proof(index, size, whole())
    verify_inclusion(
        leaf=tree.leaves([entry(index)])[0],
        index=index,
        size=size,
        proof=proof,
        root=tree.root(size, read_blocks),
    )


@given(SIZES, st.data())
def test_a_consistency_proof_is_that_of_the_whole_tree(size: int, data: st.DataObject) -> None:
    old = data.draw(st.integers(1, size))

    proof = tree.consistency(old, size, blocks(tree.blocks_for_consistency(old, size), size))

    assert proof == consistency_proof(old, size, whole())
    verify_consistency(
        old_size=old,
        new_size=size,
        old_root=frontier_at(old, whole()).root(),
        new_root=frontier_at(size, whole()).root(),
        proof=proof,
    )


def test_a_block_that_lacks_hashes_is_no_proof() -> None:
    read_blocks = blocks(tree.blocks_for_root(300), 300)
    short = {block: hashes[:-1] for block, hashes in read_blocks.items()}

    with pytest.raises(InvalidProof):
        tree.root(300, short)
