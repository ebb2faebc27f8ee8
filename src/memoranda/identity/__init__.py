"""Room 2: what a value is, by its bytes.

Canonical JSON, sha256, frozen values, Merkle tree.
"""

from memoranda.identity.canonical import (
    Frozen,
    canonical_bytes,
    canonical_text,
    decode,
    freeze,
    sha256,
    sha256_hex,
)
from memoranda.identity.merkle import (
    EMPTY_ROOT,
    Frontier,
    NodeList,
    Nodes,
    consistency_nodes,
    consistency_proof,
    frontier_at,
    inclusion_nodes,
    inclusion_proof,
    leaf_hash,
    node_hash,
    verify_consistency,
    verify_inclusion,
)

__all__ = [
    "EMPTY_ROOT",
    "Frontier",
    "Frozen",
    "NodeList",
    "Nodes",
    "canonical_bytes",
    "canonical_text",
    "consistency_nodes",
    "consistency_proof",
    "decode",
    "freeze",
    "frontier_at",
    "inclusion_nodes",
    "inclusion_proof",
    "leaf_hash",
    "node_hash",
    "sha256",
    "sha256_hex",
    "verify_consistency",
    "verify_inclusion",
]
