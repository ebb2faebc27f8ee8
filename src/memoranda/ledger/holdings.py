"""What a database holds of an object beside its versions: all of it goes when they are erased.

A kind is one field here. A store counts it where it reads an object for a unit that erases; the
counts of an erasure, its certificate and what the command line shows follow from the fields.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple


class Holdings(NamedTuple):
    """How many rows there are of each kind, for one object."""

    postings: int = 0
    """Words of it in the index, each with the entry that it is of."""
    retries: int = 0
    """Idempotency keys of the calls that wrote it, among others or alone; each is counted once."""
    derivations: int = 0
    """From what it was made, one for each input."""
    recordings: int = 0
    """What was recorded of a cycle."""
    items: int = 0
    """What a cycle stored in its session."""
    keywords: int = 0
    """What these are found by, one for each item that has it."""
    vectors: int = 0
    """Embeddings of its newest version, one for each model."""


def counted_once(held: Iterable[Collection[bytes]]) -> list[int]:
    """How many each holds that none before it holds: what several share goes once."""
    seen: set[bytes] = set()
    counts = []
    for one in held:
        new = seen.union(one)
        counts.append(len(new) - len(seen))
        seen = new
    return counts
