"""The checkpoints of a journal: what they say of it, and those that were kept elsewhere.

How they are made: `checkpointer`.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from memoranda.kernel.errors import AnchorFailed, InvalidProof
from memoranda.ledger import tree
from memoranda.ledger.anchor import Anchor, Claim, Finding, Kept, examine, settle
from memoranda.ledger.checkpoint import Checkpoint
from memoranda.ledger.signed_note import Signer, Verifier
from memoranda.ledger.unit import Ledger


@dataclass(frozen=True, slots=True)
class Seal:
    """Who signs checkpoints, where they are kept, whose signatures are known, and how often.

    What came after the newest checkpoint that was kept elsewhere can be changed unseen: how often
    one is made is how long that is.
    """

    signers: Sequence[Signer] = ()
    anchors: Sequence[Anchor] = ()
    known: Sequence[Verifier] = ()
    every_entries: int = 1_000
    every_seconds: float = 60.0


@dataclass(slots=True)
class Checkpoints:
    """The checkpoints of one scope's journal."""

    scope: str
    ledger: Ledger
    seal: Seal
    failures: dict[str, str] = field(default_factory=dict)
    """Per anchor that failed when it was last asked, why."""

    async def findings(self, *, newest: int | None = None) -> list[Finding]:
        """What the anchors say of this journal: every note of theirs, or only the newest."""
        found: list[Finding] = []
        for anchor in self.seal.anchors:
            try:
                kept = [one async for one in _of(anchor, (await self.ledger.head()).origin)]
            except AnchorFailed as failed:
                self.failures[anchor.name] = failed.why
                continue
            self.failures.pop(anchor.name, None)
            wanted = kept if newest is None else kept[-newest:]
            found += [await self._finding(one) for one in wanted]
        return found

    async def _finding(self, kept: Kept) -> Finding:
        claim = examine(kept, self.seal.known)
        if not isinstance(claim, Claim):
            return claim
        head = await self.ledger.head()
        size = claim.checkpoint.size
        root = None
        if size <= head.size:
            with suppress(InvalidProof):  # what is not there has no root
                root = await root_at(self.ledger, size)
        return settle(claim, head.origin, head.size, root)


async def checkpoint_of(ledger: Ledger) -> Checkpoint:
    """The checkpoint of a journal as it is now, not signed."""
    head = await ledger.head()
    return Checkpoint(head.origin, head.size, await root_at(ledger, head.size))


async def root_at(ledger: Ledger, size: int) -> bytes:
    """The root that a journal has at a size; InvalidProof where entries or nodes are missing."""
    return tree.root(size, await ledger.hashes(tree.blocks_for_root(size)))


async def _of(anchor: Anchor, origin: str) -> AsyncIterator[Kept]:
    async for kept in anchor.read(origin):
        yield kept
