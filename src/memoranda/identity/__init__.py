"""Room 2: what a value is, by its bytes.

Canonical JSON, sha256, frozen values, hash chain, Merkle tree.
"""

from memoranda.identity.canonical import canonical_bytes, canonical_text, decode
from memoranda.identity.chain import GENESIS, ChainBreak, Link, entry_hash, first_break, link
from memoranda.identity.digest import sha256, sha256_hex
from memoranda.identity.frozen import Frozen, freeze
from memoranda.identity.merkle import (
    EMPTY_ROOT,
    Frontier,
    NodeList,
    Nodes,
    frontier_at,
    leaf_hash,
    node_hash,
)
from memoranda.identity.proofs import (
    consistency_nodes,
    consistency_proof,
    inclusion_nodes,
    inclusion_proof,
    verify_consistency,
    verify_inclusion,
)

__all__ = [
    "EMPTY_ROOT",
    "GENESIS",
    "ChainBreak",
    "Frontier",
    "Frozen",
    "Link",
    "NodeList",
    "Nodes",
    "canonical_bytes",
    "canonical_text",
    "consistency_nodes",
    "consistency_proof",
    "decode",
    "entry_hash",
    "first_break",
    "freeze",
    "frontier_at",
    "inclusion_nodes",
    "inclusion_proof",
    "leaf_hash",
    "link",
    "node_hash",
    "sha256",
    "sha256_hex",
    "verify_consistency",
    "verify_inclusion",
]
