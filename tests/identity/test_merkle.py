"""The tree of RFC 6962, grown leaf by leaf."""

import dataclasses
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import (
    EMPTY_ROOT,
    Frontier,
    NodeList,
    frontier_at,
    leaf_hash,
    node_hash,
)
from memoranda.kernel.errors import InvalidProof
from tests.identity.trees import naive_root

LEAVES = [b"leaf %d" % number for number in range(130)]


def grown(leaves: list[bytes]) -> Frontier:
    frontier = Frontier()
    for leaf in leaves:
        frontier, _ = frontier.append(leaf_hash(leaf))
    return frontier


def test_our_roots_are_those_of_another_implementation(vectors: Callable[[str], Any]) -> None:
    tree = vectors("merkle")
    leaves = [bytes.fromhex(leaf) for leaf in tree["leaves"]]

    roots = [grown(leaves[:size]).root().hex() for size in range(len(leaves) + 1)]

    assert roots == tree["roots"]


def test_the_empty_tree_has_the_hash_of_nothing() -> None:
    assert Frontier().root() == EMPTY_ROOT == sha256(b"").digest()


def test_leaves_and_nodes_are_hashed_apart() -> None:
    left, right = leaf_hash(b"l"), leaf_hash(b"r")

    assert left == sha256(b"\x00l").digest()
    assert node_hash(left, right) == sha256(b"\x01" + left + right).digest()
    assert node_hash(left, right) != leaf_hash(left + right)


def test_the_frontiers_root_is_the_naive_root_at_every_size() -> None:
    frontier = Frontier()

    for size, leaf in enumerate(LEAVES):
        assert frontier.root() == naive_root(LEAVES[:size])
        frontier, _ = frontier.append(leaf_hash(leaf))


@given(st.lists(st.binary(max_size=40), max_size=40))
def test_the_frontiers_root_is_the_naive_root_of_any_leaves(leaves: list[bytes]) -> None:
    assert grown(leaves).root() == naive_root(leaves)


def test_a_frontier_keeps_one_hash_for_each_bit_of_its_size() -> None:
    for size in range(len(LEAVES)):
        assert len(grown(LEAVES[:size]).peaks) == size.bit_count()


def test_appending_leaves_the_frontier_before_as_it_was() -> None:
    before = grown(LEAVES[:7])
    root = before.root()

    one, _ = before.append(leaf_hash(b"one"))
    other, _ = before.append(leaf_hash(b"other"))

    assert (before.size, before.root()) == (7, root)
    assert one.root() != other.root()
    with pytest.raises(dataclasses.FrozenInstanceError):
        before.size = 8  # type: ignore[misc]


def test_the_completed_nodes_are_the_perfect_subtrees_that_end_with_the_leaf() -> None:
    frontier = Frontier()

    for number, leaf in enumerate(LEAVES):
        frontier, completed = frontier.append(leaf_hash(leaf))
        ends_here = [1 << level for level in range(8) if (number + 1) % (1 << level) == 0]
        assert completed == [naive_root(LEAVES[number + 1 - n : number + 1]) for n in ends_here]


@pytest.mark.parametrize("leaf", [b"", b"an entry, not its hash", b"x" * 31, b"x" * 33])
def test_a_leaf_that_is_no_hash_is_refused(leaf: bytes) -> None:
    with pytest.raises(InvalidProof) as caught:
        Frontier().append(leaf)

    assert caught.value.code == "input.proof"


def test_a_frontier_comes_back_from_its_bytes() -> None:
    for size in range(len(LEAVES)):
        frontier = grown(LEAVES[:size])
        assert Frontier.from_bytes(frontier.to_bytes()) == frontier


def test_the_bytes_of_a_frontier_are_its_size_and_its_peaks() -> None:
    frontier = grown(LEAVES[:3])

    assert frontier.to_bytes() == (
        b"\0\0\0\0\0\0\0\3" + naive_root(LEAVES[:2]) + naive_root(LEAVES[2:3])
    )


@pytest.mark.parametrize("size", [0, 1, 6, 7])
def test_bytes_that_are_no_frontier_are_refused(size: int) -> None:
    raw = grown(LEAVES[:size]).to_bytes()
    other_size = (size + 2 if size else 1).to_bytes(8) + raw[8:]

    for damaged in (b"", raw[:-1], raw[1:], raw + b"\0", raw + bytes(32), other_size):
        with pytest.raises(InvalidProof) as caught:
            Frontier.from_bytes(damaged)
        assert caught.value.code == "input.proof"


@pytest.mark.parametrize(
    ("size", "peaks"), [(1, ()), (0, (EMPTY_ROOT,)), (-1, ()), (3, (EMPTY_ROOT,))]
)
def test_a_frontier_with_peaks_of_another_size_is_refused(
    size: int, peaks: tuple[bytes, ...]
) -> None:
    with pytest.raises(InvalidProof) as caught:
        Frontier(size, peaks)

    assert caught.value.code == "input.proof"


def test_every_earlier_frontier_is_found_again_in_the_stored_nodes() -> None:
    nodes = NodeList()
    for leaf in LEAVES:
        nodes.append(leaf_hash(leaf))

    for size in range(len(LEAVES) + 1):
        assert frontier_at(size, nodes) == grown(LEAVES[:size])
    assert nodes.frontier == grown(LEAVES)


def test_a_node_that_is_not_complete_is_refused() -> None:
    nodes = NodeList()
    for leaf in LEAVES[:5]:
        nodes.append(leaf_hash(leaf))

    for size in (6, 8, 1000):
        with pytest.raises(InvalidProof) as caught:
            frontier_at(size, nodes)
        assert caught.value.code == "input.proof"
