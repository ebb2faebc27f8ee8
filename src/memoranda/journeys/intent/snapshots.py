"""Snapshots in a journal: the changes since the one before, and now and then a whole one.

A snapshot is kept without its input, which stands in the beginning of the execution that had it.
What is kept says its own digest: whoever restores it gets the identical bytes, or an error.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.kernel.errors import InvalidProof, WorldErased
from memoranda.kernel.json import JsonValue
from memoranda.ledger.unit import Ledger
from memoranda.worlds.delta import applied, changes

LONGEST: Final = 64
"""How many changes in a row there are at most until the next whole snapshot."""

_WORTHWHILE: Final = 0.5
"""Changes that are larger than this part of the whole are not worth restoring from."""

Parts = dict[str, JsonValue]
"""The members of a snapshot but for its input."""


class Kept(NamedTuple):
    """A snapshot that is in the journal: its members, their bytes, and what it was kept as."""

    parts: Parts
    canonical: bytes
    seq: int
    on: tuple[int, ...] = ()
    """The entries that it is restored from: the whole one, then the changes before its own."""


def parts_of(snapshot: Mapping[str, JsonValue]) -> Parts:
    """A snapshot without its input."""
    return {name: value for name, value in snapshot.items() if name != "input"}


def whole(canonical: bytes, parts: Parts) -> dict[str, JsonValue]:
    """How a snapshot is kept whole."""
    return {"sha256": sha256_hex(canonical), "full": parts}


def kept_as(parts: Parts, canonical: bytes, before: Kept | None) -> dict[str, JsonValue]:
    """How a snapshot is kept: by what changed since the one before, where that is short."""
    if before is None:
        return whole(canonical, parts)
    on = (*before.on, before.seq)
    if len(on) >= LONGEST:
        return whole(canonical, parts)
    changed = changes(before.parts, parts)
    if len(canonical_bytes(changed)) > len(canonical) * _WORTHWHILE:
        return whole(canonical, parts)
    return {"sha256": sha256_hex(canonical), "on": list(on), "changes": changed}


async def restored(
    ledger: Ledger, seq: int, kept: Mapping[str, Any], *, before: Kept | None = None
) -> Kept:
    """The snapshot that an entry keeps; WorldErased if something that it needs is gone.

    1. read the whole one and all changes since, in one go
    2. apply them
    3. the bytes have the digest that was written with them
    """
    on: Sequence[int] = kept.get("on", ())
    if "full" in kept:
        parts = kept["full"]
    elif before is not None and [*before.on, before.seq] == on:
        parts = applied(before.parts, kept["changes"])
    else:
        # 1.
        found = await ledger.entries_at(on)
        documents = [decode(entry.body) for entry in found if entry.body is not None]
        if len(documents) != len(on):
            raise WorldErased("snapshot of entry", str(seq))
        # 2. All at once: what is changed again and again is copied once.
        since = [change for one in documents[1:] for change in one["snapshot"]["changes"]]
        parts = applied(documents[0]["snapshot"]["full"], [*since, *kept["changes"]])
    # 3.
    canonical = canonical_bytes(parts)
    if sha256_hex(canonical) != kept["sha256"]:
        raise InvalidProof(f"the snapshot of entry {seq} is not the one that was sealed")
    return Kept(parts, canonical, seq, tuple(on))
