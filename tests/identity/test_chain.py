"""A chain of entries: whatever is changed, dropped, added or moved is found, and where."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.identity import (
    GENESIS,
    ChainBreak,
    Link,
    canonical_bytes,
    decode,
    entry_hash,
    first_break,
    link,
    sha256_hex,
)
from tests.identity.documents import values


def chain(bodies: list[Any]) -> list[Link]:
    links: list[Link] = []
    for seq, body in enumerate(bodies):
        previous = links[-1].entry_hash if links else GENESIS
        links.append(link({"seq": seq, "body": body}, previous))
    return links


def test_our_chain_has_the_bytes_and_hashes_of_another_implementation(
    vectors: Callable[[str], Any],
) -> None:
    previous = GENESIS

    for case in vectors("chain"):
        made = link(case["fields"], previous)
        assert made == Link(case["entry"].encode(), case["entry_hash"])
        previous = made.entry_hash


def test_an_entry_names_the_hash_before_it_and_the_first_names_genesis() -> None:
    first, second = chain(["a", "b"])

    assert GENESIS == "0" * 64
    assert decode(first.entry)["previous_entry_hash"] == GENESIS
    assert decode(second.entry)["previous_entry_hash"] == entry_hash(first.entry)
    assert entry_hash(second.entry) == sha256_hex(second.entry) == second.entry_hash


@given(st.lists(values, max_size=6))
def test_an_honest_chain_has_no_break(bodies: list[Any]) -> None:
    assert first_break(chain(bodies)) is None


def test_a_stretch_holds_after_the_hash_that_it_follows_and_after_no_other() -> None:
    links = chain([1, 2, 3, 4])

    assert first_break(links[2:], after=links[1].entry_hash) is None
    assert first_break(links[2:]) == ChainBreak(0, "previous", GENESIS, links[1].entry_hash)


def test_a_changed_entry_is_found_where_it_stands() -> None:
    links = chain(["a", "b", "c"])
    forged = links[1].entry.replace(b'"b"', b'"x"')
    links[1] = Link(forged, links[1].entry_hash)

    assert first_break(links) == ChainBreak(1, "hash", sha256_hex(forged), links[1].entry_hash)


def test_a_changed_entry_with_its_hash_made_anew_is_found_at_the_next_one() -> None:
    links = chain(["a", "b", "c"])
    forged = links[1].entry.replace(b'"b"', b'"x"')
    was = links[1].entry_hash
    links[1] = Link(forged, sha256_hex(forged))

    assert first_break(links) == ChainBreak(2, "previous", sha256_hex(forged), was)


@given(st.integers(2, 8), st.data())
def test_a_dropped_moved_or_repeated_entry_is_found(length: int, data: st.DataObject) -> None:
    links = chain(list(range(length)))
    place = data.draw(st.integers(0, length - 2))

    dropped = first_break(links[:place] + links[place + 1 :])
    swapped = first_break([*links[:place], links[place + 1], links[place], *links[place + 2 :]])
    repeated = first_break(links[: place + 1] + links[place:])

    assert dropped is not None
    assert (dropped.position, dropped.what) == (place, "previous")
    assert swapped is not None
    assert (swapped.position, swapped.what) == (place, "previous")
    assert repeated is not None
    assert (repeated.position, repeated.what) == (place + 1, "previous")


@pytest.mark.parametrize(
    "entry",
    [
        b'{"previous_entry_hash":"%s","seq":0} ' % GENESIS.encode(),
        b'{"seq":0,"previous_entry_hash":"%s"}' % GENESIS.encode(),
        b'{"previous_entry_hash":"f","previous_entry_hash":"%s"}' % GENESIS.encode(),
        canonical_bytes([GENESIS]),
        canonical_bytes(GENESIS),
        b"not json",
        b"",
        b'{"n":NaN}',
        b"[" * 100 + b"]" * 100,
    ],
)
def test_bytes_that_could_be_read_in_two_ways_are_no_entry(entry: bytes) -> None:
    found = first_break([Link(entry, sha256_hex(entry))])

    assert found is not None
    assert (found.position, found.what) == (0, "form")


def test_an_entry_that_names_no_hash_before_it_breaks_the_chain() -> None:
    entry = canonical_bytes({"seq": 0})

    found = first_break([Link(entry, sha256_hex(entry))])

    assert found is not None
    assert found.what == "previous"


def test_a_break_is_found_without_reading_further() -> None:
    links = chain([1, 2, 3])
    walk = iter([links[0], links[2], links[1]])

    assert first_break(walk) is not None
    assert next(walk) is links[1]
