"""What others must compute the same: canonical bytes, hashes, documents, proofs, keys, words."""

from typing import TYPE_CHECKING

from memoranda.kernel.lazy import lazy_names

if TYPE_CHECKING:
    from memoranda.identity import (
        Frontier,
        NodeList,
        canonical_bytes,
        canonical_text,
        consistency_proof,
        decode,
        frontier_at,
        inclusion_proof,
        leaf_hash,
        node_hash,
        sha256_hex,
        verify_consistency,
        verify_inclusion,
    )
    from memoranda.kernel.json import check as check_json
    from memoranda.kernel.json import parse as parse_json
    from memoranda.ledger.anchor import History, compare
    from memoranda.ledger.checkpoint import (
        Checkpoint,
        parse_checkpoint,
        scope_origin,
        sign_checkpoint,
    )
    from memoranda.ledger.keyring import Keyring
    from memoranda.ledger.log import LogReading, read_log, write_log
    from memoranda.ledger.object import sealed
    from memoranda.ledger.signed_note import check_signatures, verify_note
    from memoranda.ledger.validate import validate_object, validate_use
    from memoranda.ledger.validate_events import validate_log
    from memoranda.outside.keys import (
        Ed25519Signer,
        Ed25519Verifier,
        create_key,
        read_ring,
        retire_keys,
        rotate_key,
        signers_from_file,
        verifiers,
    )
    from memoranda.outside.profiles import chat_profile, read_document, read_profile
    from memoranda.recall.frame import (
        freeze_memory_context,
        get_memory_context_for_replay,
        get_memory_recall_failed_for_replay,
    )
    from memoranda.recall.proof_check import check_proof, check_signed, verify_proof
    from memoranda.recall.trace import traces_in, validate_memory_trace
    from memoranda.records.filter import refuse_unknown_keys, select
    from memoranda.records.model import merged
    from memoranda.text import TOKENIZER, matches, query, terms, words
    from memoranda.worlds.snapshot import snapshot_hash, world_id

__all__ = [
    "TOKENIZER",
    "Checkpoint",
    "Ed25519Signer",
    "Ed25519Verifier",
    "Frontier",
    "History",
    "Keyring",
    "LogReading",
    "NodeList",
    "canonical_bytes",
    "canonical_text",
    "chat_profile",
    "check_json",
    "check_proof",
    "check_signatures",
    "check_signed",
    "compare",
    "consistency_proof",
    "create_key",
    "decode",
    "freeze_memory_context",
    "frontier_at",
    "get_memory_context_for_replay",
    "get_memory_recall_failed_for_replay",
    "inclusion_proof",
    "leaf_hash",
    "matches",
    "merged",
    "node_hash",
    "parse_checkpoint",
    "parse_json",
    "query",
    "read_document",
    "read_log",
    "read_profile",
    "read_ring",
    "refuse_unknown_keys",
    "retire_keys",
    "rotate_key",
    "scope_origin",
    "sealed",
    "select",
    "sha256_hex",
    "sign_checkpoint",
    "signers_from_file",
    "snapshot_hash",
    "terms",
    "traces_in",
    "validate_log",
    "validate_memory_trace",
    "validate_object",
    "validate_use",
    "verifiers",
    "verify_consistency",
    "verify_inclusion",
    "verify_note",
    "verify_proof",
    "words",
    "world_id",
    "write_log",
]

__getattr__, __dir__ = lazy_names(__name__)
