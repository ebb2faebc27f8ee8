"""A ring of public keys: who signed when, read as it was written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.kernel.errors import InvalidKey
from memoranda.ledger.keyring import HEADER, Keyring, RingKey
from memoranda.ledger.signed_note import VerifierKey
from tests.ledger.notes import key_names

LAST = 253_402_300_799_999  # the end of the year 9999
FIRST_KEY, SECOND_KEY = VerifierKey("a", bytes(32)), VerifierKey("a", bytes(31) + b"\x01")


def ring_keys() -> st.SearchStrategy[RingKey]:
    keys = st.builds(VerifierKey, key_names(), st.binary(min_size=32, max_size=32))
    times = st.integers(0, LAST)
    return st.tuples(keys, times, st.none() | st.integers(0, LAST)).map(
        lambda found: RingKey(
            found[0], found[1], None if found[2] is None else max(found[1], found[2])
        )
    )


def rings() -> st.SearchStrategy[Keyring]:
    return st.lists(ring_keys(), max_size=3, unique_by=lambda one: one.key).map(
        lambda found: Keyring(tuple(found))
    )


@given(rings())
def test_a_ring_is_read_as_it_was_written(ring: Keyring) -> None:
    assert Keyring.parse(str(ring)) == ring


@given(rings(), st.data())
def test_a_mutated_ring_is_read_or_refused_and_nothing_else(
    ring: Keyring, data: st.DataObject
) -> None:
    text = str(ring)
    at = data.draw(st.integers(0, len(text)))
    mutated = text[:at] + data.draw(st.text(max_size=2)) + text[at + 1 :]
    try:
        read = Keyring.parse(mutated)
    except InvalidKey:
        return

    assert str(read) == mutated


def test_a_ring_reads_like_this() -> None:
    ring = Keyring().with_key(FIRST_KEY, 0).with_key(SECOND_KEY, 1_800_000_000_000)
    ring = ring.retired("a", frozenset({SECOND_KEY}), 1_800_000_000_001)

    assert str(ring).splitlines() == [
        "memoranda/keyring/1",
        f"{FIRST_KEY} 1970-01-01T00:00:00.000Z 2027-01-15T08:00:00.001Z",
        f"{SECOND_KEY} 2027-01-15T08:00:00.000Z -",
    ]


def test_a_retired_key_is_still_known_and_was_active_in_its_time() -> None:
    ring = Keyring().with_key(FIRST_KEY, 10).with_key(SECOND_KEY, 20)
    ring = ring.retired("a", frozenset({SECOND_KEY}), 30)

    assert ring.known() == (FIRST_KEY, SECOND_KEY)
    assert [ring.known(at=at) for at in (9, 10, 20, 30, 31)] == [
        (),
        (FIRST_KEY,),
        (FIRST_KEY, SECOND_KEY),
        (FIRST_KEY, SECOND_KEY),
        (SECOND_KEY,),
    ]


def test_only_keys_of_the_name_are_retired_and_only_once() -> None:
    other = VerifierKey("b", bytes(32))
    ring = Keyring().with_key(FIRST_KEY, 10).with_key(other, 10).with_key(SECOND_KEY, 20)

    once = ring.retired("a", frozenset({SECOND_KEY}), 30)

    assert [entry.until for entry in once.entries] == [30, None, None]
    assert once.retired("a", frozenset({SECOND_KEY}), 99) == once


@pytest.mark.parametrize(
    "text",
    [
        "",
        HEADER,
        "memoranda/keyring/2\n",
        f"{HEADER}\n\n",
        f"{HEADER}\n{FIRST_KEY}\n",
        f"{HEADER}\n{FIRST_KEY} 2027-01-15T08:00:00.000Z\n",
        f"{HEADER}\n{FIRST_KEY} 2027-01-15T08:00:00.000Z - -\n",
        f"{HEADER}\n{FIRST_KEY} 2027-01-15 -\n",
        f"{HEADER}\n{FIRST_KEY} 2027-13-15T08:00:00.000Z -\n",
        f"{HEADER}\n{FIRST_KEY} - -\n",
        f"{HEADER}\n{FIRST_KEY} 2027-01-15T08:00:00.000Z 2026-01-15T08:00:00.000Z\n",
        f"{HEADER}\n{FIRST_KEY} 2027-01-15T08:00:00.000Z -\n" * 2,
        f"{HEADER}\n" + f"{FIRST_KEY} 2027-01-15T08:00:00.000Z -\n" * 2,
    ],
)
def test_a_malformed_ring_is_refused(text: str) -> None:
    with pytest.raises(InvalidKey):
        Keyring.parse(text)
