"""An entry has one byte string, and whatever is not one is refused."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import InvalidProof
from memoranda.kernel.json import MAX_INTEGER
from memoranda.ledger.entry import (
    KINDS,
    Entry,
    body_digest,
    chained_bytes,
    entry_bytes,
    entry_hash,
    genesis,
    read_entry,
    salted,
)

HASHES = st.binary(min_size=32, max_size=32).map(bytes.hex)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)
ACTORS = st.builds("{}:{}".format, TEXTS.filter(lambda kind: kind[0] != ":"), TEXTS)
ENTRIES = st.builds(
    Entry,
    seq=st.integers(0, MAX_INTEGER),
    kind=st.sampled_from(sorted(KINDS)),
    at=st.integers(0, MAX_INTEGER),
    actor=ACTORS,
    body_digest=HASHES,
    previous_entry_hash=HASHES,
)
ENTRY = Entry(7, "create", 1_763_257_839_123, "agent:support", "ab" * 32, "cd" * 32)


@given(ENTRIES)
def test_the_bytes_of_an_entry_are_the_canonical_bytes_of_its_fields(entry: Entry) -> None:
    assert entry_bytes(entry) == canonical_bytes({**entry._asdict(), "v": 1})


@given(ENTRIES)
def test_an_entry_has_the_same_bytes_whether_its_hashes_are_text_or_bytes(entry: Entry) -> None:
    seq, kind, at, actor, *hashes = entry
    digest, previous = map(bytes.fromhex, hashes)

    assert chained_bytes(seq, kind, at, actor, digest, previous) == entry_bytes(entry)


@given(ENTRIES)
def test_an_entry_is_read_back_from_its_bytes(entry: Entry) -> None:
    assert read_entry(entry_bytes(entry)) == entry


def test_the_bytes_are_these_for_ever() -> None:
    raw = entry_bytes(ENTRY)

    assert raw == (
        b'{"actor":"agent:support","at":1763257839123,"body_digest":"' + b"ab" * 32 + b'",'
        b'"kind":"create","previous_entry_hash":"' + b"cd" * 32 + b'","seq":7,"v":1}'
    )
    assert entry_hash(raw) == hashlib.sha256(raw).digest()


def test_the_digest_of_a_body_is_of_its_salt_and_its_hash() -> None:
    salt, body = bytes(range(16)), b'{"type":"Note"}'
    body_hash = hashlib.sha256(body).digest()

    assert body_digest(salt, body) == hashlib.sha256(salt + body_hash).hexdigest()
    assert body_digest(salt, body) == (
        "9091ff0fa82772ba85b423cda3e83b01b9ae833123e43a8dbdb1bfafd9440499"
    )
    assert salted(salt, body_hash).hex() == body_digest(salt, body)


def test_the_first_entry_is_bound_to_its_journal() -> None:
    origin = "memoranda/0123/support"

    assert genesis(origin) == hashlib.sha256(b"memoranda/journal/1\n" + origin.encode()).hexdigest()
    assert genesis(origin) != genesis("memoranda/0123/sales")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b"{}",
        b'{"actor":',
        entry_bytes(ENTRY).replace(b'"seq":7', b'"seq":7,"seq":7'),
        entry_bytes(ENTRY).replace(b'"actor"', b'"at":1,"actor"'),
        entry_bytes(ENTRY).replace(b'"kind":"create"', b'"kind":["create"]'),
        entry_bytes(ENTRY).replace(b'"v":1', b'"v":2'),
        entry_bytes(ENTRY).replace(b'"v":1', b'"v":1,"w":1'),
        entry_bytes(ENTRY).replace(b'"seq":7', b'"seq":-7'),
        entry_bytes(ENTRY).replace(b'"seq":7', b'"seq":7.5'),
        entry_bytes(ENTRY._replace(seq=MAX_INTEGER + 1)),
        entry_bytes(ENTRY._replace(at=-1)),
        entry_bytes(ENTRY._replace(at=MAX_INTEGER + 1)),
        *(
            entry_bytes(ENTRY._replace(actor=actor))
            for actor in ("ada", ":ada", "human:", ":", "é")
        ),
        entry_bytes(ENTRY).replace(b'"seq":7', b'"seq": 7'),
        entry_bytes(ENTRY).replace(b'"seq":7', b'"seq":true'),
        entry_bytes(ENTRY).replace(b"create", b"remake"),
        entry_bytes(ENTRY).replace(b"abab", b"ABAB"),
        entry_bytes(ENTRY).replace(b"abab", b"ab"),
        entry_bytes(ENTRY).replace(b'"agent:support"', b"null"),
    ],
)
def test_bytes_that_are_not_those_of_an_entry_are_refused(raw: bytes) -> None:
    with pytest.raises(InvalidProof):
        read_entry(raw)
