"""Verifying what was selected: each original is there, is what it should be, and is on record.

A memory is verified when (DESIGN, section 4)

1. its original exists, and its content hashes to the reference
2. its entry is included under the journal's root at the time of recall
3. it is neither erased nor invalidated, no conformance break stands, and no re-audit accepted
   that it is damaged

The evidence has the proof of 1 and 2, and names the newest signed checkpoint that covers it. Most
of what is recalled is never shown to an authority: so it is checked at once, and the proof is made
of the same pieces when somebody asks for it.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final, NamedTuple

from memoranda.identity import leaf_hash, verify_consistency
from memoranda.journeys.intent import names
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import (
    InvalidCheckpoint,
    InvalidJson,
    InvalidProof,
    InvalidWorld,
)
from memoranda.kernel.json import JsonValue
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint
from memoranda.ledger.entry import Entry, read_entry
from memoranda.ledger.governance import Governance
from memoranda.ledger.port import Ledger, Sight, Wanted
from memoranda.ledger.signed_note import SignedNote
from memoranda.ledger.tree import (
    Block,
    Held,
    Pyramids,
    blocks_for_consistency,
    blocks_for_entries,
)
from memoranda.ledger.unit import StoredEntry
from memoranda.recall.proof import StoredOriginal, evidence
from memoranda.recall.proof_check import TreePlace, check_original, prove
from memoranda.recall.trace import CoveringCheckpoint, MemoryRef, VerificationEvidence
from memoranda.worlds.world import MAIN

NEWEST_NOTES: Final = 8
"""How many of the newest checkpoints are looked at for one that is signed."""


class UnverifiedItem(NamedTuple):
    """A memory to be verified: its reference, its entry, and what speaks against it already."""

    address: str
    seq: int
    against: str | None = None
    snapshot: Mapping[str, JsonValue] | None = None
    """Of a world, what was restored of it."""
    stored: StoredEntry | None = None
    """Its entry, if that was read for this very request."""


@dataclass(frozen=True, slots=True)
class Shown:
    """All that a proof is made of, checked already; and who had it checked, when."""

    address: str
    original: StoredOriginal
    seq: int
    tree: Held
    head_entry: bytes
    by: ActorRef
    at: int
    covering: "Covering | None"

    def evidence(self) -> VerificationEvidence:
        head_path = self.tree.inclusion(self.tree.size - 1)
        path = self.tree.inclusion(self.seq)
        place = TreePlace(self.tree.size, self.tree.root(), path, self.head_entry, head_path)
        result = prove(MemoryRef(world_id=self.address), self.original, place=place)
        if result.proof is None:
            raise InvalidProof(result.error or "it can't be proved")
        covering, checkpoint = self.covering, None
        if covering is not None and self.seq < covering.size:
            grown = [data.hex() for data in covering.path]
            checkpoint = CoveringCheckpoint(note=covering.note, path=grown)
        return evidence(result.proof, at=self.at, by=self.by, checkpoint=checkpoint)


class Verified(NamedTuple):
    """Whether a memory is verified, by what, and if not, why not."""

    shown: Shown | None
    why_not: str | None
    is_original: bool = True
    """Whether it is what its reference says, be it in the tree or not."""

    @property
    def is_verified(self) -> bool:
        return self.why_not is None


class Tree(NamedTuple):
    """The tree that memories were proved in, and up to where a signed checkpoint covers it."""

    size: int
    root: str
    signed: int | None


class Covering(NamedTuple):
    """The newest signed checkpoint of a tree, and how the tree grew since."""

    size: int
    note: str
    path: Sequence[bytes]


class Looked(NamedTuple):
    """What a journal showed of some entries, and the tree that it has then."""

    sight: Sight
    tree: Held
    wrong: str | None
    """Why nothing can be proved in this tree, if that is so."""


class Verifying:
    """Verifies the memories of one scope's journal."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._pyramids = Pyramids()

    async def looked(
        self, seqs: Collection[int], stored: Collection[int] = (), branch: str = MAIN
    ) -> Looked:
        """Look at entries in the tree as it is now; those that were `stored` are not read again.

        What came since the last time is read entry by entry, where that is little: the block at
        the right end grows with every recall.
        """
        wanted = partial(self._wanted, seqs)
        unread = [seq for seq in seqs if seq not in stored]
        sight = await self._ledger.sight(
            unread, wanted, named=names.branch(branch), notes=NEWEST_NOTES
        )
        pyramids, size = self._pyramids, sight.size
        wrong = None
        try:
            pyramids.grow({seq: leaf_hash(raw) for seq, raw in sight.leaves.items()})
            pyramids.add(sight.hashes)
        except InvalidProof as damaged:
            wrong = damaged.why
        tree = pyramids.held(_blocks(seqs, size, sight.notes), size)
        wrong = wrong or _wrong_end(sight, tree)
        if wrong is None:
            pyramids.settle()
        else:
            self._pyramids = Pyramids()  # what is damaged is not remembered
        return Looked(sight, tree, wrong)

    def _wanted(self, seqs: Collection[int], size: int, notes: Sequence[str]) -> Wanted:
        return Wanted(*self._pyramids.wanted(_blocks(seqs, size, notes), size))


def _blocks(seqs: Collection[int], size: int, notes: Sequence[str]) -> set[Block]:
    """The blocks that proofs of entries need, and how the tree grew since a checkpoint."""
    if not size:
        return set()
    needed = blocks_for_entries({*(seq for seq in seqs if seq < size), size - 1}, size)
    for checkpoint, _ in _signed(notes, size):
        needed |= blocks_for_consistency(checkpoint.size, size)
    return needed


def _wrong_end(sight: Sight, tree: Held) -> str | None:
    """Why the tree does not end with the last entry; None if it does."""
    if not sight.size:
        return "the journal is empty"
    last = sight.leaves.get(sight.size - 1)
    if last is None:
        return "the journal has no end"
    try:
        _check_place(read_entry(last), sight.size - 1)
        tree.check(sight.size - 1, leaf_hash(last))
        tree.root()
    except InvalidProof as refused:
        return refused.why
    return None


def verified(
    looked: Looked,
    candidates: Sequence[UnverifiedItem],
    *,
    by: ActorRef,
    at: int,
    broken: str | None,
) -> tuple[list[Verified], Tree | None]:
    """Each of them, in the tree that was looked at; `broken` names a conformance break that stands.

    Damage is an answer here, not an error: what can't be proved is not verified.
    """
    sight, tree, wrong = looked
    if sight.damaged is not None:
        return [Verified(None, sight.damaged.why, is_original=False) for _ in candidates], None
    originals = [_checked(sight.entries, candidate) for candidate in candidates]
    if wrong is not None:
        there = [isinstance(original, StoredOriginal) for original in originals]
        return [Verified(None, wrong, is_original) for is_original in there], None
    root, last = tree.root(), sight.leaves[sight.size - 1]
    covering = _covering(tree, root, sight.notes)
    found = []
    for item, original in zip(candidates, originals, strict=True):
        why_not = item.against or broken
        if not isinstance(original, StoredOriginal):
            found.append(Verified(None, why_not or original, is_original=False))
            continue
        try:
            tree.check(item.seq, leaf_hash(original.entry))
        except InvalidProof as refused:
            found.append(Verified(None, why_not or refused.why))
            continue
        shown = Shown(item.address, original, item.seq, tree, last, by, at, covering)
        found.append(Verified(shown, why_not))
    signed = None if covering is None else covering.size
    return found, Tree(sight.size, root.hex(), signed)


def _covering(tree: Held, root: bytes, notes: Sequence[str]) -> Covering | None:
    """The newest signed checkpoint of this tree.

    One that the tree does not begin with covers nothing of it.
    """
    for checkpoint, note in _signed(notes, tree.size):
        try:
            path = tree.consistency(checkpoint.size)
            verify_consistency(
                old_size=checkpoint.size,
                new_size=tree.size,
                proof=path,
                old_root=checkpoint.root,
                new_root=root,
            )
        except InvalidProof:
            continue  # for `verify` to say
        return Covering(checkpoint.size, note, path)
    return None


def _signed(notes: Sequence[str], size: int) -> list[tuple[Checkpoint, str]]:
    """Those of some notes that are signed checkpoints of a tree up to this size."""
    found = []
    for note in notes:
        try:
            checkpoint, signed = _read_note(note)
        except InvalidCheckpoint:
            continue  # for `verify` to say
        if signed.signatures and checkpoint.size <= size:
            found.append((checkpoint, note))
    return found


@lru_cache(maxsize=8 * NEWEST_NOTES)
def _read_note(note: str) -> tuple[Checkpoint, SignedNote]:
    return parse_checkpoint(note)


def _check_place(entry: Entry, seq: int) -> None:
    if entry.seq != seq:
        raise InvalidProof("its entry stands at another place than it says")


def damaged(state: Governance, seq: int) -> str | None:
    """What speaks against an entry whose damage a re-audit accepted."""
    return "it was damaged, as a re-audit has it" if seq in state.damaged else None


def _checked(stored: Mapping[int, StoredEntry], item: UnverifiedItem) -> StoredOriginal | str:
    """The original of a candidate, if it is what the reference says; else why it is not."""
    found = item.stored or stored.get(item.seq)
    if found is None or found.salt is None or found.body is None:
        return "the original is not there"
    original = StoredOriginal(found.entry, found.salt, found.body, item.snapshot)
    try:
        _check_place(check_original(item.address, original), item.seq)
    except (InvalidProof, InvalidWorld, InvalidJson) as refused:
        return refused.why
    return original
