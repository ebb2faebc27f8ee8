"""A proof binds an address to an entry of a journal, and is checked with nothing but hashes."""

import hashlib
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.actors import parse_actor
from memoranda.kernel.ambient import out_of_reach
from memoranda.kernel.errors import InvalidProof, InvalidWorld
from memoranda.ledger.checkpoint import Checkpoint
from memoranda.ledger.entry import KINDS, Entry, body_digest, entry_bytes, read_entry
from memoranda.ledger.signed_note import Signature, SignedNote
from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.recall.proof import (
    MEMORY_OBJECT_SCHEMA,
    StoredOriginal,
    VerificationProof,
    body_address,
    evidence,
    is_digest,
    proof_in,
    record_address,
)
from memoranda.recall.proof_check import check_proof, check_signed, prove, verify_proof, why_refused
from memoranda.recall.trace import CoveringCheckpoint, MemoryRef, VerificationEvidence
from memoranda.worlds.snapshot import world_id
from tests.recall.journals import ORIGIN, Journal
from tests.worlds.making import SCHEMA, T0

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
        "1c60d5cee87d8e5095d09976077674a64d42e10c561ee222beaa6a3966bb7d92"
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
        found = prove(journal().ref(WORLD), StoredOriginal(entry, bytes(16), other), method="hash")
        assert not found.valid


# ------------------------------------------------------------ what opens an entry


def test_a_proof_has_the_salt_and_nothing_of_the_content() -> None:
    proof, held = journal().proof(RECORD), journal().original(RECORD)

    assert proof.proof["opening"] == {"salt": held.salt.hex()}
    told = canonical_bytes(proof.to_wire())
    for inside in (b"email", b"prefers", b"SystemGenerated", decode(held.body)["nonce"].encode()):
        assert inside in held.body
        assert inside not in told
    opened = hashlib.sha256(held.salt + bytes.fromhex(proof.proof["contentHash"])).hexdigest()
    assert opened == read_entry(held.entry).body_digest
    assert proof.proof["contentHash"] == hashlib.sha256(held.body).hexdigest()


def test_a_proof_of_a_world_has_its_record_and_not_its_snapshot() -> None:
    proof, held = journal().proof(WORLD), journal().original(WORLD, with_snapshot=True)

    assert proof.proof["opening"] == {"salt": held.salt.hex(), "body": held.body.decode()}
    assert b'"count"' in canonical_bytes(held.snapshot)
    assert "count" not in str(proof.to_wire())


@pytest.mark.parametrize("seq", [RECORD, WORLD])
def test_a_proof_that_opens_nothing_is_refused_with_the_original_too(seq: int) -> None:
    rest = {**journal().proof(seq).proof}
    del rest["opening"]

    for original in (None, journal().original(seq)):
        assert not verify_proof({"method": "inclusion", "proof": rest}, original=original)


def test_a_proof_is_opened_in_one_way_only() -> None:
    record, world = journal().original(RECORD), journal().original(WORLD)
    wrong = [
        (RECORD, {"salt": record.salt.hex(), "body": record.body.decode()}),
        (RECORD, {"salt": record.salt.hex(), "body": None}),
        (RECORD, {"salt": record.salt.hex(), "body": ""}),
        (RECORD, {"salt": world.salt.hex()}),
        (RECORD, {"salt": record.salt.hex().upper()}),
        (RECORD, {"salt": record.salt.hex()[:-2]}),
        (RECORD, {"body": record.body.decode()}),
        (WORLD, {"salt": world.salt.hex()}),
        (WORLD, {"salt": world.salt.hex(), "body": f"{world.body.decode()} "}),
        (WORLD, {"salt": world.salt.hex(), "body": journal().original(7).body.decode()}),
    ]

    for seq, opening in wrong:
        assert not verify_proof(changed(journal().proof(seq), opening=opening))


def test_an_original_that_is_given_is_compared_with_what_the_proof_names() -> None:
    proof, held = journal().proof(RECORD), journal().original(RECORD)

    assert verify_proof(proof, original=held)
    for other in (
        journal().original(OTHER),
        replace(held, body=held.body.replace(b"email", b"phone")),
        replace(held, salt=bytes(16)),
        replace(held, entry=journal().entries[OTHER]),
    ):
        assert not verify_proof(proof, original=other)


def test_the_same_content_in_another_entry_is_another_original() -> None:
    proof, held = journal().proof(RECORD), journal().original(RECORD)
    other_entry = by_hand("create", held.body)["proof"]["entry"].encode()
    elsewhere = StoredOriginal(other_entry, bytes(range(16)), held.body)

    assert prove(journal().ref(RECORD), elsewhere, method="hash").valid
    assert not verify_proof(proof, original=elsewhere)


def test_the_content_of_one_and_the_entry_of_another_prove_nothing() -> None:
    one, other = journal().proof(RECORD), journal().proof(OTHER)
    for names in (
        ("worldId", "schemaHash", "contentHash"),
        ("worldId", "schemaHash", "contentHash", "opening"),
        ("entry", "path"),
        ("entry", "path", "opening"),
    ):
        swapped = changed(other, **{name: one.proof[name] for name in names})

        assert not verify_proof(swapped)
        for original in (journal().original(RECORD), journal().original(OTHER)):
            assert not verify_proof(swapped, original=original)


def by_hand(
    kind: str,
    body: bytes,
    *,
    schema: str = MEMORY_OBJECT_SCHEMA,
    content: str | None = None,
    carries_body: bool = False,
) -> dict[str, Any]:
    """An inclusion proof of a journal of one entry: of an object, where nothing else is said."""
    salt, body_hash = bytes(range(16)), hashlib.sha256(body).digest()
    digest = hashlib.sha256(salt + body_hash).hexdigest()
    entry = entry_bytes(Entry(0, kind, T0, "agent:a", digest, "0" * 64))
    content = content or body_hash.hex()
    proof = {
        "worldId": world_id(schema, content),
        "schemaHash": schema,
        "contentHash": content,
        "entry": entry.decode(),
        "opening": {"salt": salt.hex()} | ({"body": body.decode()} if carries_body else {}),
        "size": 1,
        "root": hashlib.sha256(b"\x00" + entry).hexdigest(),
        "path": [],
    }
    return {"method": "inclusion", "proof": proof}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_entry_is_opened_as_what_its_kind_holds(kind: str) -> None:
    """A World record in an object's place, or an object in that of a world, is neither."""
    record, world = journal().original(RECORD).body, journal().original(WORLD).body
    content = journal().proof(WORLD).proof["contentHash"]
    is_object, is_world = kind in OBJECT_KINDS, kind == "world"

    as_world = by_hand(kind, world, schema=SCHEMA, content=content, carries_body=True)
    assert verify_proof(by_hand(kind, record)) is is_object
    assert verify_proof(as_world) is is_world
    for wrong in (
        by_hand(kind, record, schema=SCHEMA),
        by_hand(kind, record, carries_body=True),
        by_hand(kind, world, carries_body=True),
        by_hand(kind, world, schema=SCHEMA, content=content),
        by_hand(kind, world, content=content, carries_body=True),
        by_hand(kind, record, schema=SCHEMA, content=content, carries_body=True),
    ):
        assert not verify_proof(wrong)


def test_what_is_no_object_is_never_proved_as_one() -> None:
    body, salt = b'{"type":"Note"}', bytes(range(16))
    entry = by_hand("create", body)["proof"]["entry"].encode()
    found = prove(MemoryRef(world_id=body_address(body)), StoredOriginal(entry, salt, body))

    assert not found.valid
    assert not verify_proof(by_hand("create", body), original=StoredOriginal(entry, salt, body))


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
