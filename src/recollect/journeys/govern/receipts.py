"""A receipt: what was written, and where it stands in the journal."""

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.ledger.unit import Committed, Draft, Ledger


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

    @property
    def seq(self) -> int:
        """The number of the entry."""
        return self.size - 1


def receipts(committed: Committed, drafts: Sequence[Draft]) -> list[Receipt]:
    """The receipts of a unit that was committed now."""
    return [
        Receipt(draft.version.id, draft.version.number, place.entry_hash.hex(), place.seq + 1)
        for place, draft in zip(committed.places, drafts, strict=True)
        if draft.version is not None
    ]


async def first_receipts(ledger: Ledger, committed: Committed) -> list[Receipt]:
    """The receipts of a unit that was committed earlier, for a retry of it."""
    numbers = {past.seq: past.version.number for past in await ledger.versions(committed.about)}
    return [
        Receipt(committed.about, numbers[seq], entry_hash.hex(), seq + 1)
        for seq, entry_hash in committed.places
        if seq in numbers
    ]
