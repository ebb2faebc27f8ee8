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

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from memoranda.identity import leaf_hash, verify_consistency
from memoranda.kernel.actors import ActorRef
from memoranda.kernel.errors import (
    EntryDamaged,
    InvalidCheckpoint,
    InvalidJson,
    InvalidProof,
    InvalidWorld,
)
from memoranda.kernel.json import JsonValue
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint
from memoranda.ledger.entry import Entry, read_entry
from memoranda.ledger.governance import Governance
from memoranda.ledger.port import Ledger
from memoranda.ledger.signed_note import SignedNote
from memoranda.ledger.tree import Held, Pyramids, blocks_for_consistency, consistency
from memoranda.ledger.unit import StoredEntry
from memoranda.recall.proof import StoredOriginal, evidence
from memoranda.recall.proof_check import TreePlace, check_original, prove
from memoranda.recall.trace import CoveringCheckpoint, MemoryRef, VerificationEvidence

NEWEST_NOTES: Final = 8
"""How many of the newest checkpoints are looked at for one that is signed."""


class UnverifiedItem(NamedTuple):
    """A memory to be verified: its reference, its entry, and what speaks against it already."""

    ref: MemoryRef
    seq: int
    against: str | None = None
    snapshot: Mapping[str, JsonValue] | None = None
    """Of a world, what was restored of it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """All that a proof is made of, checked already; and who had it checked, when."""

    ref: MemoryRef
    original: StoredOriginal
    seq: int
    tree: Held
    head_entry: bytes
    by: ActorRef
    at: int
    checkpoint: CoveringCheckpoint | None

    def evidence(self) -> VerificationEvidence:
        head_path = self.tree.inclusion(self.tree.size - 1)
        path = self.tree.inclusion(self.seq)
        place = TreePlace(self.tree.size, self.tree.root(), path, self.head_entry, head_path)
        result = prove(self.ref, self.original, place=place)
        if result.proof is None:
            raise InvalidProof(result.error or "it can't be proved")
        return evidence(result.proof, at=self.at, by=self.by, checkpoint=self.checkpoint)


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


class Verifying:
    """Verifies the memories of one scope's journal."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._pyramids = Pyramids()
        self._growing = asyncio.Lock()

    async def verified(
        self, candidates: Sequence[UnverifiedItem], *, by: ActorRef, at: int, broken: str | None
    ) -> tuple[list[Verified], Tree | None]:
        """Each of them, in the tree as it is now; `broken` names a conformance break that stands.

        Damage is an answer here, not an error: what can't be proved is not verified. One selection
        is verified at a time: what is remembered of the tree grows while it is read.
        """
        async with self._growing:
            return await self._verified(candidates, by, at, broken)

    async def _verified(
        self, candidates: Sequence[UnverifiedItem], by: ActorRef, at: int, broken: str | None
    ) -> tuple[list[Verified], Tree | None]:
        size = (await self._ledger.head()).size
        seqs = {candidate.seq for candidate in candidates if candidate.seq < size}
        try:
            stored = {entry.seq: entry for entry in await self._ledger.entries_at(seqs)}
        except EntryDamaged as damaged:
            return [Verified(None, damaged.why, is_original=False) for _ in candidates], None
        originals = [_checked(stored, candidate) for candidate in candidates]
        try:
            last, tree = await self._tree(seqs, size)
            root = tree.root()
        except (InvalidProof, EntryDamaged) as damaged:
            self._pyramids = Pyramids()  # what is damaged is not remembered
            there = [isinstance(original, StoredOriginal) for original in originals]
            return [Verified(None, damaged.why, is_original) for is_original in there], None
        covering = await self._covering(size, root)
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
            covers = covering is not None and item.seq < covering[0].size
            checkpoint = covering[1] if covering is not None and covers else None
            shown = Shown(item.ref, original, item.seq, tree, last, by, at, checkpoint)
            found.append(Verified(shown, why_not))
        self._pyramids.settle()
        signed = None if covering is None else covering[0].size
        return found, Tree(size, root.hex(), signed)

    async def _tree(self, seqs: Collection[int], size: int) -> tuple[bytes, Held]:
        """The last entry and the tree of a size; InvalidProof if it does not end with that.

        What came since the last time is read entry by entry, where that is little: the block at
        the right end grows with every recall.
        """
        if not size:
            raise InvalidProof("the journal is empty")
        new = self._pyramids.new_leaves(size)
        stored = await self._ledger.bytes_at({*new, size - 1})
        if size - 1 not in stored:
            raise InvalidProof("the journal has no end")
        self._pyramids.grow([leaf_hash(stored[seq]) for seq in new if seq in stored], new)
        missing = self._pyramids.missing({*seqs, size - 1}, size)
        self._pyramids.add(await self._ledger.hashes(missing))
        tree = self._pyramids.held({*seqs, size - 1}, size)
        last = stored[size - 1]
        _check_place(read_entry(last), size - 1)
        tree.check(size - 1, leaf_hash(last))
        return last, tree

    async def _covering(
        self, size: int, root: bytes
    ) -> tuple[Checkpoint, CoveringCheckpoint] | None:
        """The newest signed checkpoint of this tree, and how it grew since.

        One that the tree does not begin with covers nothing of it.
        """
        for note in await self._ledger.notes(NEWEST_NOTES):
            try:
                checkpoint, signed = _read_note(note)
            except InvalidCheckpoint:
                continue  # for `verify` to say
            if not signed.signatures or checkpoint.size > size:
                continue
            blocks = await self._ledger.hashes(blocks_for_consistency(checkpoint.size, size))
            try:
                path = consistency(checkpoint.size, size, blocks)
                verify_consistency(
                    old_size=checkpoint.size,
                    new_size=size,
                    proof=path,
                    old_root=checkpoint.root,
                    new_root=root,
                )
            except InvalidProof:
                continue  # for `verify` to say
            return checkpoint, CoveringCheckpoint(note=note, path=[data.hex() for data in path])
        return None


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
    found = stored.get(item.seq)
    if found is None or found.salt is None or found.body is None:
        return "the original is not there"
    original = StoredOriginal(found.entry, found.salt, found.body, item.snapshot)
    try:
        _check_place(check_original(item.ref, original), item.seq)
    except (InvalidProof, InvalidWorld, InvalidJson) as refused:
        return refused.why
    return original
