"""A receipt: what was written, and where it stands in the journal."""

from collections.abc import Sequence
from dataclasses import dataclass

from memoranda.identity import canonical_bytes, decode
from memoranda.ledger.unit import Committed, Draft, Ledger, Past


@dataclass(frozen=True, slots=True)
class Receipt:
    """Proof for whoever wrote: which version of what, and the entry that says so.

    Kept outside, `size` and `entry_hash` show later that the journal still begins so.
    """

    id: str
    version: int
    entry_hash: str
    size: int
    """How many entries the journal had with this one."""
    dropped_sources: int = 0
    """How many sources of the version before it has not: they were given with another statement."""

    @property
    def seq(self) -> int:
        """The number of the entry."""
        return self.size - 1


def receipts(committed: Committed, drafts: Sequence[Draft]) -> list[Receipt]:
    """The receipts of a unit that was committed now."""
    return [
        Receipt(
            draft.version.id,
            draft.version.number,
            place.entry_hash.hex(),
            place.seq + 1,
            0 if draft.replaces is None else _dropped(draft.replaces.body, draft.body),
        )
        for place, draft in zip(committed.places, drafts, strict=True)
        if draft.version is not None
    ]


async def first_receipts(ledger: Ledger, committed: Committed) -> list[Receipt]:
    """The receipts of a unit that was committed earlier, for a retry of it."""
    versions = await ledger.versions(committed.about)
    before: dict[int, Past | None] = dict(
        zip([past.seq for past in versions], [None, *versions], strict=False)
    )
    now = {past.seq: past for past in versions}
    return [
        Receipt(
            committed.about,
            now[seq].version.number,
            entry_hash.hex(),
            seq + 1,
            _dropped(None if (was := before[seq]) is None else was.body, now[seq].body),
        )
        for seq, entry_hash in committed.places
        if seq in now
    ]


def _dropped(before: bytes | None, after: bytes | None) -> int:
    """How many sources a version has no more; a tombstone says nothing of those of its object."""
    if before is None or after is None:
        return 0
    left = decode(after)
    if left.get("status") == "erased":
        return 0
    kept = {canonical_bytes(one) for one in left["source_refs"]}
    return sum(canonical_bytes(one) not in kept for one in decode(before)["source_refs"])
