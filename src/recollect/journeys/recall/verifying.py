"""Verifying what was selected: each original is there, is what it should be, and is on record.

A memory is verified when (DESIGN, section 4)

1. its original exists, and its content hashes to the reference
2. its entry is included under the journal's root at the time of recall
3. it is neither erased nor invalidated, and no conformance break stands

`evidence` has the proof of 1 and 2, and names the newest signed checkpoint that covers it.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from recollect.kernel.actors import ActorRef
from recollect.kernel.errors import InvalidCheckpoint
from recollect.kernel.json import JsonValue
from recollect.ledger.checkpoint import Checkpoint, parse_checkpoint
from recollect.ledger.pyramids import Pyramids
from recollect.ledger.tree import blocks_for_consistency, consistency
from recollect.ledger.unit import Ledger, StoredEntry
from recollect.recall.proof import Original, evidence
from recollect.recall.proving import Place, prove
from recollect.recall.trace import CoveringCheckpoint, MemoryRef, VerificationEvidence

NEWEST_NOTES: Final = 8
"""How many of the newest checkpoints are looked at for one that is signed."""


class Candidate(NamedTuple):
    """A memory to be verified: its reference, its entry, and what speaks against it already."""

    ref: MemoryRef
    seq: int
    against: str | None = None
    snapshot: Mapping[str, JsonValue] | None = None
    """Of a world, what was restored of it."""


class Verified(NamedTuple):
    """Whether a memory is verified, by what, and if not, why not."""

    evidence: VerificationEvidence | None
    why_not: str | None

    @property
    def is_verified(self) -> bool:
        """Whether nothing speaks against it."""
        return self.why_not is None


class Tree(NamedTuple):
    """The tree that memories were proved in."""

    size: int
    root: str


class Verifying:
    """Verifies the memories of one scope's journal."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._pyramids = Pyramids()

    async def verified(
        self, candidates: Sequence[Candidate], *, by: ActorRef, at: int, broken: str | None
    ) -> tuple[list[Verified], Tree]:
        """Each of them, in the tree as it is now; `broken` names a conformance break that stands.

        Damage is an answer here, not an error: what can't be proved is not verified.
        """
        size = (await self._ledger.head()).size
        seqs = [one.seq for one in candidates if one.seq < size]
        wanted = {*seqs, size - 1} if size else set()
        stored = {one.seq: one for one in await self._ledger.entries_at(sorted(wanted))}
        if size - 1 not in stored:
            return [Verified(None, "the journal has no end") for _ in candidates], Tree(size, "")
        self._pyramids.add(await self._ledger.hashes(self._pyramids.missing(wanted, size)))
        root = self._pyramids.root(size)
        last = self._pyramids.inclusion(size - 1, size)
        covering = await self._covering(size)
        found = []
        for one in candidates:
            place = Place(size, root, (), stored[size - 1].entry, last)
            if one.seq < size:
                place = Place(
                    size,
                    root,
                    self._pyramids.inclusion(one.seq, size),
                    stored[size - 1].entry,
                    last,
                )
            result = prove(one.ref, _original(stored, one), place=place)
            shown = None
            if result.proof is not None:
                covers = covering is not None and one.seq < covering[0].size
                checkpoint = covering[1] if covers and covering is not None else None
                shown = evidence(result.proof, at=at, by=by, checkpoint=checkpoint)
            found.append(Verified(shown, one.against or broken or result.error))
        self._pyramids.settle()
        return found, Tree(size, root.hex())

    async def _covering(self, size: int) -> tuple[Checkpoint, CoveringCheckpoint] | None:
        """The newest signed checkpoint of this tree, and how it grew since."""
        for note in await self._ledger.notes(NEWEST_NOTES):
            try:
                checkpoint, signed = parse_checkpoint(note)
            except InvalidCheckpoint:
                continue  # for `verify` to say
            if not signed.signatures or checkpoint.size > size:
                continue
            blocks = await self._ledger.hashes(blocks_for_consistency(checkpoint.size, size))
            path = consistency(checkpoint.size, size, blocks)
            return checkpoint, CoveringCheckpoint(note=note, path=[one.hex() for one in path])
        return None


def _original(stored: Mapping[int, StoredEntry], one: Candidate) -> Original | None:
    found = stored.get(one.seq)
    if found is None or found.salt is None or found.body is None:
        return None
    return Original(found.entry, found.salt, found.body, one.snapshot)
