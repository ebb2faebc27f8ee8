"""Inclusion and consistency proofs: every honest one holds, and no other does."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import (
    EMPTY_ROOT,
    NodeList,
    consistency_nodes,
    consistency_proof,
    frontier_at,
    inclusion_nodes,
    inclusion_proof,
    leaf_hash,
    verify_consistency,
    verify_inclusion,
)
from memoranda.kernel.errors import InvalidProof
from tests.identity.trees import naive_root

SIZE = 65
LEAVES = [leaf_hash(b"leaf %d" % number) for number in range(SIZE)]


def tree(leaves: list[bytes]) -> NodeList:
    nodes = NodeList()
    for leaf in leaves:
        nodes.append(leaf)
    return nodes


NODES = tree(LEAVES)
ROOTS = [frontier_at(size, NODES).root() for size in range(SIZE + 1)]
PAIRS = [(old, new) for new in range(1, SIZE + 1) for old in range(1, new + 1)]


def refused(act: Callable[..., object], **claim: Any) -> bool:
    try:
        act(**claim)
    except InvalidProof as refusal:
        return refusal.code == "input.proof"
    return False


def inclusion_claim(index: int, size: int) -> dict[str, Any]:
    return {
        "leaf": LEAVES[index],
        "index": index,
        "size": size,
        "proof": inclusion_proof(index, size, NODES),
        "root": ROOTS[size],
    }


def consistency_claim(old_size: int, new_size: int) -> dict[str, Any]:
    return {
        "old_size": old_size,
        "new_size": new_size,
        "proof": consistency_proof(old_size, new_size, NODES),
        "old_root": ROOTS[old_size],
        "new_root": ROOTS[new_size],
    }


def flipped(found: bytes, bit: int) -> bytes:
    return (int.from_bytes(found) ^ 1 << bit).to_bytes(len(found))


def with_damaged_proofs(claim: dict[str, Any], bit: int, extra: bytes) -> list[dict[str, Any]]:
    """The claim with hashes flipped, dropped, swapped, cut short or added; and with none at all."""
    proof = claim["proof"]
    places = range(len(proof))
    damaged = [
        *([[]] if proof else []),
        *([*proof[:at], flipped(proof[at], bit), *proof[at + 1 :]] for at in places),
        *([*proof[:at], *proof[at + 1 :]] for at in places),
        *([*proof[:at], proof[at + 1], proof[at], *proof[at + 2 :]] for at in places[:-1]),
        *([*proof[:at], proof[at][:-1], *proof[at + 1 :]] for at in places),
        *([*proof[:at], extra, *proof[at:]] for at in range(len(proof) + 1)),
    ]
    return [{**claim, "proof": changed} for changed in damaged]


# ------------------------------------------------------------------------ vectors


def test_our_proofs_are_those_of_another_implementation(vectors: Callable[[str], Any]) -> None:
    recorded = vectors("merkle")
    leaves = [bytes.fromhex(leaf) for leaf in recorded["leaves"]]
    nodes = tree([leaf_hash(leaf) for leaf in leaves])

    for case in recorded["inclusion"]:
        proof = inclusion_proof(case["index"], case["size"], nodes)
        assert [found.hex() for found in proof] == case["proof"]
    for case in recorded["consistency"]:
        proof = consistency_proof(case["old_size"], case["new_size"], nodes)
        assert [found.hex() for found in proof] == case["proof"]


def test_proofs_of_another_implementation_hold_under_its_roots(
    vectors: Callable[[str], Any],
) -> None:
    recorded = vectors("merkle")
    roots = [bytes.fromhex(root) for root in recorded["roots"]]

    for case in recorded["inclusion"]:
        verify_inclusion(
            leaf=leaf_hash(bytes.fromhex(recorded["leaves"][case["index"]])),
            index=case["index"],
            size=case["size"],
            proof=[bytes.fromhex(found) for found in case["proof"]],
            root=roots[case["size"]],
        )
    for case in recorded["consistency"]:
        verify_consistency(
            old_size=case["old_size"],
            new_size=case["new_size"],
            proof=[bytes.fromhex(found) for found in case["proof"]],
            old_root=roots[case["old_size"]],
            new_root=roots[case["new_size"]],
        )


# ---------------------------------------------------------------- honest proofs


def test_every_leaf_of_every_tree_is_proved() -> None:
    for size in range(1, SIZE + 1):
        for index in range(size):
            verify_inclusion(**inclusion_claim(index, size))


def test_every_tree_is_proved_to_begin_with_every_older_one() -> None:
    for old_size, new_size in PAIRS:
        verify_consistency(**consistency_claim(old_size, new_size))


def test_the_roots_of_these_tests_are_the_naive_roots() -> None:
    leaves = [b"leaf %d" % number for number in range(SIZE)]

    assert [naive_root(leaves[:size]) for size in range(SIZE + 1)] == ROOTS


def test_a_proof_reads_exactly_the_nodes_that_it_announces() -> None:
    read: list[tuple[int, int]] = []

    def watched(level: int, index: int, /) -> bytes:
        read.append((level, index))
        return NODES(level, index)

    for old_size, new_size in PAIRS:
        read.clear()
        inclusion_proof(old_size - 1, new_size, watched)
        assert read == inclusion_nodes(old_size - 1, new_size)
        read.clear()
        consistency_proof(old_size, new_size, watched)
        assert read == consistency_nodes(old_size, new_size)


def test_a_proof_reads_and_holds_few_hashes_in_a_large_tree() -> None:
    size = 10**6 + 7

    assert len(inclusion_nodes(999_999, size)) <= 2 * size.bit_length()
    assert len(consistency_nodes(333_333, size)) <= 2 * size.bit_length()


# -------------------------------------------------------------- dishonest proofs


@given(st.integers(1, SIZE), st.data())
def test_a_damaged_inclusion_proof_is_refused(size: int, data: st.DataObject) -> None:
    claim = inclusion_claim(data.draw(st.integers(0, size - 1)), size)
    bit, extra = data.draw(st.integers(0, 255)), data.draw(st.sampled_from([*LEAVES, EMPTY_ROOT]))

    for damaged in with_damaged_proofs(claim, bit, extra):
        assert refused(verify_inclusion, **damaged)


@given(st.sampled_from(PAIRS), st.data())
def test_a_damaged_consistency_proof_is_refused(
    sizes: tuple[int, int], data: st.DataObject
) -> None:
    claim = consistency_claim(*sizes)
    bit, extra = data.draw(st.integers(0, 255)), data.draw(st.sampled_from([*ROOTS, EMPTY_ROOT]))

    for damaged in with_damaged_proofs(claim, bit, extra):
        assert refused(verify_consistency, **damaged)


@given(st.integers(1, SIZE), st.integers(0, 255), st.data())
def test_another_leaf_root_or_index_is_refused(size: int, bit: int, data: st.DataObject) -> None:
    index = data.draw(st.integers(0, size - 1))
    other = data.draw(st.integers(-2, 2 * SIZE).filter(lambda number: number != index))
    claim = inclusion_claim(index, size)

    assert refused(verify_inclusion, **{**claim, "leaf": flipped(claim["leaf"], bit)})
    assert refused(verify_inclusion, **{**claim, "root": flipped(claim["root"], bit)})
    assert refused(verify_inclusion, **{**claim, "index": other})


@given(st.sampled_from(PAIRS), st.integers(0, 255))
def test_another_root_on_either_side_is_refused(sizes: tuple[int, int], bit: int) -> None:
    claim = consistency_claim(*sizes)

    for name in ("old_root", "new_root"):
        assert refused(verify_consistency, **{**claim, name: flipped(claim[name], bit)})


def test_no_tree_passes_for_an_older_one_of_another_size() -> None:
    for old_size, new_size in PAIRS:
        claim = consistency_claim(old_size, new_size)
        if old_size < new_size:
            assert refused(verify_consistency, **{**claim, "old_size": old_size + 1})
            assert refused(verify_consistency, **{**claim, "old_size": old_size - 1})


@pytest.mark.parametrize(("old_size", "new_size"), [(0, 0), (0, 1), (-1, 1), (2, 1), (0, SIZE)])
def test_sizes_that_no_growth_has_are_refused(old_size: int, new_size: int) -> None:
    claim = {"old_size": old_size, "new_size": new_size, "old_root": EMPTY_ROOT}

    assert refused(verify_consistency, **claim, new_root=EMPTY_ROOT, proof=[])
    assert refused(consistency_proof, old_size=old_size, new_size=new_size, nodes=NODES)
    assert refused(consistency_nodes, old_size=old_size, new_size=new_size)


@pytest.mark.parametrize(("index", "size"), [(0, 0), (1, 1), (-1, 1), (SIZE, SIZE), (5, -1)])
def test_a_leaf_outside_the_tree_is_refused(index: int, size: int) -> None:
    leaf = LEAVES[0]

    assert refused(verify_inclusion, leaf=leaf, index=index, size=size, proof=[], root=leaf)
    assert refused(inclusion_proof, index=index, size=size, nodes=NODES)
    assert refused(inclusion_nodes, index=index, size=size)


def test_a_tree_of_one_leaf_has_no_other_root_than_the_leaf() -> None:
    short = b"short"

    verify_inclusion(leaf=LEAVES[0], index=0, size=1, proof=[], root=LEAVES[0])
    assert refused(verify_inclusion, leaf=short, index=0, size=1, proof=[], root=short)


def test_a_root_that_is_no_hash_is_refused_before_it_is_hashed() -> None:
    """A root one byte short and a hash one byte longer would make the same bytes of a node."""
    claim = consistency_claim(1, 2)
    moved = {"old_root": ROOTS[1][:-1], "proof": [ROOTS[1][-1:] + claim["proof"][0]]}

    assert refused(verify_consistency, **{**claim, **moved})
    assert refused(verify_consistency, **{**claim, "old_root": ROOTS[1][:-1]})
    assert refused(verify_consistency, **{**claim, "new_root": b""})


def test_equal_trees_need_equal_roots_and_no_proof() -> None:
    claim = consistency_claim(3, 3)

    verify_consistency(**claim)
    assert refused(verify_consistency, **{**claim, "new_root": ROOTS[4]})
    assert refused(verify_consistency, **{**claim, "proof": [ROOTS[3]]})


def test_a_proof_for_a_tree_that_is_not_stored_yet_is_refused() -> None:
    assert refused(inclusion_proof, index=0, size=SIZE + 1, nodes=NODES)
    assert refused(consistency_proof, old_size=1, new_size=SIZE * 2, nodes=NODES)
