"""A hash chain: each entry's bytes name the hash of the entry before, so none can be swapped.

A chain alone can't show that its end was cut off, nor that all of it was written anew: that
takes a checkpoint somebody kept (`merkle`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from memoranda.identity.canonical import canonical_bytes, decode
from memoranda.identity.digest import sha256_hex
from memoranda.kernel.errors import InvalidJson
from memoranda.kernel.json import JsonValue

GENESIS: Final = "0" * 64
"""What the first entry names as the hash before it."""

PREVIOUS: Final = "previous_entry_hash"
"""The member of an entry that names the hash before it."""


class Link(NamedTuple):
    """An entry as it is stored: its canonical bytes, and their hash."""

    entry: bytes
    entry_hash: str


@dataclass(frozen=True, slots=True)
class ChainBreak:
    """Where a chain stops to hold: the position (from 0), what is wrong, and the two values.

    ``form``: the entry is not the canonical bytes of an object; ``previous``: it names another
    hash than that of the entry before; ``hash``: its bytes have another hash than the stored one.
    """

    position: int
    what: Literal["form", "previous", "hash"]
    expected: str
    found: str


def entry_hash(entry: bytes) -> str:
    """The hash of an entry: SHA-256 of its canonical bytes, in hexadecimal."""
    return sha256_hex(entry)


def link(fields: Mapping[str, JsonValue], previous: str) -> Link:
    """The entry with these fields that follows the entry of this hash (GENESIS for the first)."""
    entry = canonical_bytes({**fields, PREVIOUS: previous})
    return Link(entry, entry_hash(entry))


def first_break(links: Iterable[Link], *, after: str = GENESIS) -> ChainBreak | None:
    """The first place where a chain does not hold, or None when all of it does.

    1. an entry is the canonical bytes of an object: read in one way only
    2. it names the hash of the entry before; the first one names ``after``
    3. its stored hash is the hash of its bytes
    """
    previous = after
    for position, (entry, stored_hash) in enumerate(links):
        # 1.
        try:
            fields = decode(entry)
            canonical = canonical_bytes(fields)
        except InvalidJson as refused:
            return ChainBreak(position, "form", "canonical JSON", refused.why)
        if canonical != entry or not isinstance(fields, dict):
            return ChainBreak(position, "form", "the canonical bytes of an object", "other bytes")
        # 2.
        if fields.get(PREVIOUS) != previous:
            return ChainBreak(position, "previous", previous, str(fields.get(PREVIOUS)))
        # 3.
        previous = entry_hash(entry)
        if stored_hash != previous:
            return ChainBreak(position, "hash", previous, stored_hash)
    return None
