"""Room 2: what a value is, by its bytes.

Canonical JSON, sha256, frozen values, hash chain, Merkle tree.
"""

from recollect.identity.canonical import canonical_bytes, canonical_text, decode
from recollect.identity.chain import GENESIS, ChainBreak, Link, entry_hash, first_break, link
from recollect.identity.digest import sha256, sha256_hex
from recollect.identity.frozen import Frozen, freeze
from recollect.identity.merkle import (
    EMPTY_ROOT,
    Frontier,
    NodeList,
    Nodes,
    frontier_at,
    leaf_hash,
    node_hash,
)
from recollect.identity.proofs import (
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
