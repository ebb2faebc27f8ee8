"""A proof binds an address to an entry of a journal, and is checked with nothing but hashes."""

from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from recollect.kernel.actors import parse_actor
from recollect.kernel.errors import InvalidProof, InvalidWorld
from recollect.kernel.reach import out_of_reach
from recollect.ledger.checkpoint import Checkpoint
from recollect.ledger.entry import Entry, body_digest, entry_bytes
from recollect.ledger.signed_note import Signature, SignedNote
from recollect.recall.address import (
    MEMORY_OBJECT_SCHEMA,
    body_address,
    is_digest,
    record_address,
)
from recollect.recall.proof import (
    Original,
    VerificationProof,
    check_proof,
    check_signed,
    evidence,
    proof_in,
    verify_proof,
    why_refused,
)
from recollect.recall.proving import prove
from recollect.recall.trace import CoveringCheckpoint, MemoryRef, VerificationEvidence
from recollect.worlds.hashing import world_id
from tests.recall.journals import ORIGIN, Journal
from tests.worlds.making import T0

FINDER = parse_actor("agent:finder")
RECORD, WORLD, OTHER = 3, 4, 6


@cache
def journal(size: int = 10) -> Journal:
    return Journal(size)


def changed(proof: VerificationProof, **members: Any) -> VerificationProof:
    return VerificationProof(method=proof.method, proof={**proof.proof, **members})


# ------------------------------------------------------------------------- addresses


@pytest.mark.rule("WORLD-ID")
def test_a_record_version_has_an_address_like_a_sealed_snapshot() -> None:
    digest = "ab" * 32

    assert MEMORY_OBJECT_SCHEMA == (
        "76d00c41084dfe2e9d6a6d6040f9f57015f7ebf9696db8fa6811e5d4c3a8ecae"
    )
    assert record_address(digest) == world_id(MEMORY_OBJECT_SCHEMA, digest)
    assert is_digest(record_address(digest))
    assert body_address(b"{}") == record_address(
        "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
    )


@pytest.mark.parametrize(
    "wrong", ["", "ab", "AB" * 32, "sha256:" + "ab" * 32, "ab" * 32 + "\n", None]
)
def test_what_is_no_digest_has_no_address(wrong: Any) -> None:
    assert not is_digest(wrong)
    with pytest.raises(InvalidWorld):
        record_address(wrong)


# --------------------------------------------------------------------------- proving


@pytest.mark.parametrize("seq", [RECORD, WORLD])
@pytest.mark.parametrize("method", ["hash", "inclusion"])
def test_what_is_proved_can_be_checked_by_the_proof_alone(seq: int, method: Any) -> None:
    place = journal().place(seq)

    found = prove(journal().ref(seq), journal().original(seq), method=method, place=place)

    assert found.valid
    assert found.error is None
    assert found.proof is not None
    with out_of_reach("an authority"):
        assert verify_proof(found.proof.to_wire(), ref=journal().ref(seq))
    assert found.proof.to_wire().keys() == {"method", "proof"}  # no time, no actor


def test_the_same_original_gives_the_same_proof() -> None:
    assert journal().proof(RECORD) == Journal(10).proof(RECORD)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 9, 255, 256, 257, 600])
def test_every_memory_of_a_journal_can_be_proved_at_every_size(size: int) -> None:
    held = journal(600)

    for seq in {0, size // 2, size - 1, size - 2} - {-1}:
        if seq % 3 == 2:
            continue
        proved = check_proof(held.proof(seq, size), pinned=held.checkpoint(size))
        assert proved.entry is not None
        assert (proved.world_id, proved.entry.seq) == (held.ref(seq).world_id, seq)


def test_existence_is_shown_by_the_original_alone() -> None:
    held, ref = journal().original(RECORD), journal().ref(RECORD)
    found = prove(ref, held, method="existence")

    assert found.proof is not None
    assert verify_proof(found.proof, original=held)
    assert not verify_proof(found.proof)
    assert not verify_proof(found.proof, original=journal().original(OTHER))


@pytest.mark.parametrize("method", ["existence", "hash", "inclusion"])
def test_there_is_no_proof_without_an_original_or_for_another_one(method: Any) -> None:
    ref, place = journal().ref(RECORD), journal().place(RECORD)
    held = journal().original(RECORD)
    wrong = [
        None,
        journal().original(OTHER),
        Journal(10, "b").original(RECORD),
        replace(held, body=held.body.replace(b"email", b"phone")),
        replace(held, salt=bytes(16)),
        replace(held, entry=journal().entries[OTHER]),
        replace(held, entry=b"{}"),
        replace(held, salt=held.salt + held.body[:1], body=held.body[1:]),
        journal().original(5),  # maintenance
    ]

    for original in wrong:
        found = prove(ref, original, method=method, place=place)
        assert not found.valid
        assert found.proof is None
        assert found.error


def test_there_is_no_inclusion_without_a_place_or_at_another_one() -> None:
    ref, held = journal().ref(RECORD), journal().original(RECORD)

    for place in (None, journal().place(OTHER), replace(journal().place(RECORD), size=9)):
        assert not prove(ref, held, place=place).valid


@pytest.mark.rule("WORLD-ID")
def test_a_worlds_snapshot_is_compared_where_it_is_given() -> None:
    held, ref = journal().original(WORLD, with_snapshot=True), journal().ref(WORLD)
    place = journal().place(WORLD)

    assert prove(ref, held, place=place).valid
    assert not prove(ref, replace(held, snapshot=journal().snapshot(7)), place=place).valid
    assert not prove(ref, replace(held, snapshot={}), place=place).valid


def test_a_world_record_that_is_not_named_by_its_hashes_is_none() -> None:
    body = journal().original(WORLD).body
    for was, becomes in ((b'"worldId":"', b'"worldId":"0'), (b"snapshotHash", b"snapshotMash")):
        other = body.replace(was, becomes)
        digest = body_digest(bytes(16), other)
        entry = entry_bytes(Entry(0, "world", T0, "agent:a", digest, "0" * 64))
        found = prove(journal().ref(WORLD), Original(entry, bytes(16), other), method="hash")
        assert not found.valid


# -------------------------------------------------------- what needs the original


def test_a_proof_without_its_body_needs_the_original() -> None:
    proof, held = journal().proof(RECORD, with_body=False), journal().original(RECORD)

    assert "opening" not in proof.proof
    assert "email" not in str(proof.to_wire())
    assert not verify_proof(proof)
    assert verify_proof(proof, original=held)
    assert not verify_proof(proof, original=journal().original(OTHER))


def test_an_original_that_is_given_is_compared_with_what_the_proof_carries() -> None:
    proof, held = journal().proof(RECORD), journal().original(RECORD)

    assert verify_proof(proof, original=held)
    for other in (
        journal().original(OTHER),
        replace(held, body=held.body.replace(b"email", b"phone")),
        replace(held, salt=bytes(16)),
        replace(held, entry=journal().entries[OTHER]),
    ):
        assert not verify_proof(proof, original=other)


def test_the_content_of_one_and_the_entry_of_another_prove_nothing() -> None:
    for with_body in (True, False):
        one = journal().proof(RECORD, with_body=with_body)
        other = journal().proof(OTHER, with_body=with_body)
        names = ("worldId", "schemaHash", "contentHash")
        swapped = changed(other, **{name: one.proof[name] for name in names})

        assert not verify_proof(swapped, ref=journal().ref(RECORD))
        for original in (journal().original(RECORD), journal().original(OTHER)):
            assert not verify_proof(swapped, original=original)


def test_without_a_body_the_rest_is_checked_where_that_is_asked_for() -> None:
    proof = journal().proof(RECORD, with_body=False)

    assert check_proof(proof, without_body=True).world_id == journal().ref(RECORD).world_id
    for wrong in (
        changed(proof, contentHash="0" * 64),
        changed(proof, size=9),
        changed(proof, entry=journal().entries[OTHER].decode()),
        changed(
            journal().proof(WORLD, with_body=False),
            **{name: proof.proof[name] for name in ("worldId", "schemaHash", "contentHash")},
        ),
    ):
        with pytest.raises(InvalidProof):
            check_proof(wrong, without_body=True)


# ------------------------------------------------------------------------ trees


def test_a_size_that_has_the_same_path_is_another_tree_all_the_same() -> None:
    """Entry 0 of 3 has the path that it has in a tree of 4: only the last entry tells which."""
    held = Journal(3)
    proof = held.proof(0)

    assert verify_proof(proof)
    assert why_refused(changed(proof, size=4)) is not None
    headless = {name: member for name, member in proof.proof.items() if name != "head"}
    for size in (3, 4):
        assert not verify_proof({"method": "inclusion", "proof": {**headless, "size": size}})


def test_a_pinned_checkpoint_refuses_every_other_tree() -> None:
    held = journal()
    proof = held.proof(RECORD)

    assert verify_proof(proof, pinned=held.checkpoint(10))
    assert not verify_proof(held.proof(RECORD, 9), pinned=held.checkpoint(10))  # stale
    assert not verify_proof(proof, pinned=held.checkpoint(9))
    assert not verify_proof(proof, pinned=Checkpoint(ORIGIN, 10, bytes(32)))
    assert not verify_proof(Journal(10, "b").proof(RECORD), pinned=held.checkpoint(10))
    hashed = prove(held.ref(RECORD), held.original(RECORD), method="hash").proof
    assert hashed is not None
    assert not verify_proof(hashed, pinned=held.checkpoint(10))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"method": "none"},
        {"method": "merkle", "proof": {"computedRoot": "r", "expectedRoot": "r"}},
        {"method": "hash"},
        {"method": "hash", "proof": {"computedHash": "h", "expectedHash": "h"}},
        {"method": "inclusion", "proof": None},
        {"method": "inclusion", "proof": []},
        {**journal().proof(RECORD).to_wire(), "verifiedAt": 1},
        {"method": "inclusion", "proof": {**journal().proof(RECORD).proof, "more": 1}},
        {"method": "inclusion", "proof": {**journal().proof(9).proof, "head": None}},
        {"method": "inclusion", "proof": {**journal().proof(RECORD).proof, "root": "A" * 64}},
        [],
        "proof",
    ],
)
def test_what_is_no_proof_is_refused_and_never_raises_anything_else(wrong: Any) -> None:
    assert not verify_proof(wrong)
    assert why_refused(wrong)


# --------------------------------------------------------------------- evidence


def told(seq: int, signed_size: int, size: int = 10, **members: Any) -> VerificationEvidence:
    held = journal()
    note = SignedNote(
        held.checkpoint(signed_size).text, (Signature("example.org/a", b"abcd", b"signature"),)
    )
    if "path" not in members:
        members["path"] = held.consistency(signed_size, size)
    covering = CoveringCheckpoint(**{"note": str(note), **members})
    return evidence(held.proof(seq, size), at=T0, by=FINDER, checkpoint=covering)


def is_ours(note: SignedNote) -> bool:
    return [one.signature for one in note.signatures] == [b"signature"]


def test_evidence_says_who_had_it_verified_and_when() -> None:
    proof = journal().proof(RECORD)

    found = evidence(proof, at=T0, by=FINDER)

    assert (found.verified_at, found.verified_by) == (T0, FINDER)
    assert "checkpoint" not in found.to_wire()
    assert proof_in(found) == proof


@pytest.mark.parametrize("signed_size", [4, 5, 8, 9, 10])
def test_a_signed_checkpoint_that_covers_the_entry_is_found(signed_size: int) -> None:
    assert check_signed(told(RECORD, signed_size), is_ours) == journal().checkpoint(signed_size)


def test_a_checkpoint_that_does_not_cover_it_or_is_not_signed_is_refused() -> None:
    other = Journal(10, "b")
    note = str(SignedNote(other.checkpoint(9).text, (Signature("a", b"abcd", b"signature"),)))
    unsigned = f"{journal().checkpoint(9).text}\n"
    wrong = [
        told(RECORD, 3),  # older than the entry
        told(RECORD, 10, 9, path=[]),  # newer than the proof
        told(RECORD, 9, path=[]),
        told(RECORD, 9, path=["x"]),
        told(RECORD, 9, path=journal().consistency(8, 10)),
        told(RECORD, 9, note=note),
        told(RECORD, 9, note=unsigned),
        told(RECORD, 9, note="x"),
        evidence(journal().proof(RECORD), at=T0, by=FINDER),
        VerificationEvidence(method="hash", proof={}, verified_at=1, verified_by=FINDER),
    ]

    for found in wrong:
        with pytest.raises(InvalidProof):
            check_signed(found, is_ours)
    with pytest.raises(InvalidProof):
        check_signed(told(RECORD, 9), lambda _: False)


def test_a_proof_of_another_memory_is_refused_by_its_reference() -> None:
    assert verify_proof(journal().proof(RECORD), ref=journal().ref(RECORD))
    assert not verify_proof(journal().proof(RECORD), ref=journal().ref(OTHER))
    assert not verify_proof(journal().proof(RECORD), ref=MemoryRef(world_id="w"))
