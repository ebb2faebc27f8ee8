"""Making checkpoints, and comparing a journal with those that were kept elsewhere.

A checkpoint is made of the journal; it is an entry of the directory; then of the directory a
checkpoint is made. Both are signed, if there are signers, kept in the database, and handed to
every anchor. An anchor that can't be reached fails nobody's write: it is logged, shown by
`status`, and gets the next one.
"""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from memoranda.kernel.clock import Clock
from memoranda.kernel.errors import AnchorFailed, InvalidProof
from memoranda.kernel.randomness import Randomness
from memoranda.ledger import tree
from memoranda.ledger.anchor import Anchor, Claim, Finding, Kept, examine, settle
from memoranda.ledger.checkpoint import Checkpoint, parse_checkpoint, sign_checkpoint
from memoranda.ledger.directory import ScopeHead
from memoranda.ledger.entry import SALT_BYTES
from memoranda.ledger.signed_note import SignedNote, Signer, Verifier
from memoranda.ledger.unit import Draft, Ledger, Unit

ACTOR = "system:memoranda"

log = logging.getLogger("memoranda.checkpoints")


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
    directory: Ledger
    seal: Seal
    clock: Clock
    randomness: Randomness
    failures: dict[str, str] = field(default_factory=dict)
    """Per anchor that failed when it was last asked, why."""

    async def make(self) -> SignedNote | None:
        """Make a checkpoint of the journal as it is; None when nothing came since the last one."""
        checkpoint = await checkpoint_of(self.ledger)
        if not checkpoint.size or await _newest_size(self.ledger) == checkpoint.size:
            return None
        head = ScopeHead(self.scope, checkpoint.origin, checkpoint.size, checkpoint.root)
        draft = Draft("checkpoint", head.body, self.randomness.take(SALT_BYTES))
        await self.directory.commit(Unit(ACTOR, self.clock.now_ms(), lambda _: [draft]))
        note = await self._publish(self.ledger, checkpoint)
        await self._publish(self.directory, await checkpoint_of(self.directory))
        return note

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

    async def _publish(self, ledger: Ledger, checkpoint: Checkpoint) -> SignedNote:
        note = await sign_checkpoint(checkpoint, self.seal.signers)
        for anchor in self.seal.anchors:
            try:
                note = note.with_signatures(await anchor.publish(str(note)))
            except AnchorFailed as failed:
                log.warning("a checkpoint was not kept by %s: %s", anchor.name, failed)
                self.failures[anchor.name] = failed.why
            else:
                self.failures.pop(anchor.name, None)
        await ledger.keep_note(checkpoint.size, str(note), self.clock.now_ms())
        return note


async def checkpoint_of(ledger: Ledger) -> Checkpoint:
    """The checkpoint of a journal as it is now, not signed."""
    head = await ledger.head()
    return Checkpoint(head.origin, head.size, await root_at(ledger, head.size))


async def root_at(ledger: Ledger, size: int) -> bytes:
    """The root that a journal has at a size; InvalidProof where entries or nodes are missing."""
    return tree.root(size, await ledger.hashes(tree.blocks_for_root(size)))


async def _newest_size(ledger: Ledger) -> int | None:
    notes = await ledger.notes()
    return parse_checkpoint(notes[0]).checkpoint.size if notes else None


async def _of(anchor: Anchor, origin: str) -> AsyncIterator[Kept]:
    async for kept in anchor.read(origin):
        yield kept
