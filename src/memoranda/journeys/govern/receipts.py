"""A receipt: what was written, and where it stands in the journal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memoranda.identity import canonical_bytes, decode
from memoranda.kernel.errors import EntryDamaged, WorldErased
from memoranda.kernel.results import Result, members
from memoranda.ledger.entry import read_entry
from memoranda.ledger.unit import Committed, Draft, Ledger, Past, Place
from memoranda.ledger.walk import OBJECT_KINDS


@dataclass(frozen=True, slots=True, repr=False)
class Receipt(Result):
    """Proof for whoever wrote: which version of what, and the entry that says so.

    Kept outside, `size` and `entry_hash` show later that the journal still begins so.
    """

    id: str
    version: int
    entry_hash: str
    size: int
    """How many entries the journal had with this one."""
    dropped_sources: int = 0
    """How many sources of what it replaces it has not: they were given with another statement."""
    created: bool = False
    """Whether nothing was there before, or no longer; else it is a next version."""

    def wire_members(self) -> Mapping[str, object]:
        """All fields; dropped sources only where there are some."""
        shown = members(self)
        if not self.dropped_sources:
            del shown["dropped_sources"]
        return shown

    @property
    def seq(self) -> int:
        """The number of the entry."""
        return self.size - 1


def receipts(committed: Committed, drafts: Sequence[Draft]) -> list[Receipt]:
    """The receipts of a unit that was committed now."""
    return [
        receipt_of(place, draft)
        for place, draft in zip(committed.places, drafts, strict=True)
        if draft.version is not None
    ]


def receipt_of(place: Place, draft: Draft) -> Receipt:
    """The receipt of a draft of an object that was committed now."""
    assert draft.version is not None  # noqa: S101 - it is of an object
    return Receipt(
        draft.version.id,
        draft.version.number,
        place.entry_hash.hex(),
        place.seq + 1,
        0 if draft.replaces is None else dropped(draft.replaces.body, draft.body),
        created=draft.is_new or draft.replaces is None,
    )


# --------------------------------------------------------------------------- retries


class Earlier(NamedTuple):
    """A version that was written earlier and is asked for again, and the one before it."""

    kind: str
    place: Place
    now: Past
    before: Past | None

    @property
    def id(self) -> str:
        """The id of the object."""
        return self.now.version.id

    @property
    def was_there(self) -> bool:
        """Whether an active version was there before."""
        return self.before is not None and self.before.version.status == "active"

    def receipt(self, *, creates: bool = False) -> Receipt:
        """Its receipt; `creates` says that it was asked to create what is not there."""
        return Receipt(
            self.id,
            self.now.version.number,
            self.place.entry_hash.hex(),
            self.place.seq + 1,
            dropped(None if self.before is None else self.before.body, self.now.body),
            created=self.before is None or (creates and not self.was_there),
        )


async def earlier_writes(ledger: Ledger, committed: Committed) -> list[Earlier]:
    """What a unit wrote that was committed earlier, for a retry of it, in order.

    WorldErased where something of it was erased since the retry was found, just now: the next one
    with its key is a new request.
    """
    stored = {
        one.seq: one for one in await ledger.entries_at([one.seq for one in committed.places])
    }
    versions: dict[str, dict[int, tuple[Past, Past | None]]] = {}
    found = []
    for place in committed.places:
        entry = stored[place.seq]
        kind = read_entry(entry.entry).kind
        if kind not in OBJECT_KINDS:  # facts of a proposal, beside what was approved
            continue
        if entry.body is None:
            raise WorldErased("entry", str(place.seq))
        id = str(decode(entry.body)["id"])
        if id not in versions:
            past = await ledger.versions(id)
            versions[id] = {
                now.seq: (now, past[number - 1] if number else None)
                for number, now in enumerate(past)
            }
        if place.seq not in versions[id]:
            raise EntryDamaged(place.seq, "row", "the row of its version is not there")
        now, before = versions[id][place.seq]
        found.append(Earlier(kind, place, now, before))
    return found


def dropped(before: bytes | None, after: bytes | None) -> int:
    """How many sources a statement has no more; a tombstone says nothing of those of its object."""
    if before is None or after is None:
        return 0
    left = decode(after)
    if left.get("status") == "erased":
        return 0
    kept = {canonical_bytes(one) for one in left["source_refs"]}
    return sum(canonical_bytes(one) not in kept for one in decode(before)["source_refs"])
