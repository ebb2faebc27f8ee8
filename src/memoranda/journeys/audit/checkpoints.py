"""The checkpoints of a journal: what they say of it, and those that were kept elsewhere.

How they are made: `checkpointer`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Final, Protocol

from memoranda.kernel.clock import Clock, Randomness
from memoranda.kernel.errors import (
    AnchorFailed,
    InvalidCheckpoint,
    InvalidOption,
    InvalidProof,
    StoreFailed,
)
from memoranda.kernel.results import Result
from memoranda.ledger import tree
from memoranda.ledger.anchor import SCOPE as DIRECTORY
from memoranda.ledger.anchor import (
    Anchor,
    BatchAnchor,
    Claim,
    Finding,
    Journals,
    Kept,
    NewNote,
    NotedHead,
    ScopeHead,
    examine,
    settle,
)
from memoranda.ledger.checkpoint import (
    Checkpoint,
    directory_origin,
    parse_checkpoint,
    sign_checkpoint,
)
from memoranda.ledger.entry import SALT_BYTES
from memoranda.ledger.port import Ledger
from memoranda.ledger.signed_note import (
    Signature,
    SignedNote,
    Signer,
    Standing,
    Verifier,
    check_signatures,
)
from memoranda.ledger.unit import Draft, Unit


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
    quorum: int = 0
    """How many of the anchors must cosign a checkpoint; while fewer do, it is sent again."""

    def __post_init__(self) -> None:
        if not 0 <= self.quorum <= len(self.anchors):
            why = f"{self.quorum} can't cosign where there are {len(self.anchors)} anchors"
            raise InvalidOption("quorum", why)


@dataclass(frozen=True, slots=True, repr=False)
class StoredCheckpoint(Result):
    """A checkpoint that is kept with the journal: its text, and whether a known key signed it."""

    size: int
    root: str
    standing: Standing
    signed_by: Sequence[str]
    note: str


@dataclass(slots=True)
class Checkpoints:
    """The checkpoints of one scope's journal."""

    scope: str
    ledger: Ledger
    seal: Seal
    failures: dict[str, str] = field(default_factory=dict)
    """Per anchor that failed when it was last asked, why."""

    async def noted(self, limit: int) -> list[StoredCheckpoint]:
        """The checkpoints that are kept with the journal, the newest first."""
        found = []
        for note in await self.ledger.notes(limit):
            try:
                parsed = parse_checkpoint(note)
            except InvalidCheckpoint:  # somebody changed it: it says nothing that counts
                found.append(StoredCheckpoint(0, "", "failed", (), note))
                continue
            report = check_signatures(parsed.note, self.seal.known)
            signed = [str(signature) for signature in report.signed]
            size, root = parsed.checkpoint.size, parsed.checkpoint.root.hex()
            found.append(StoredCheckpoint(size, root, report.standing, signed, note))
        return found

    async def findings(self, *, newest: int | None = None) -> list[Finding]:
        """What the anchors say of this journal: every note of theirs, or only the newest."""
        found: list[Finding] = []
        for anchor in self.seal.anchors:
            try:
                kept = [note async for note in _of(anchor, (await self.ledger.head()).origin)]
            except AnchorFailed as failed:
                self.failures[anchor.name] = failed.why
                continue
            self.failures.pop(anchor.name, None)
            wanted = kept if newest is None else kept[-newest:]
            found += [await self._finding(note) for note in wanted]
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


# ------------------------------------------------------------------------------------------------
# Making the checkpoints of a database: of every scope that was written to, all in one batch.
#
# A scope is due after so many entries, or together with all others after so many seconds, or when
# the database is closed. No writer waits for its checkpoint, and a batch goes in portions, so that
# what a writer may meet on its way to the database is one portion.
#
# 1. the heads and roots of the scopes are read. One whose journal is damaged is logged and left out
# 2. they become entries of the directory, in one unit
# 3. each checkpoint is signed, if there are signers
# 4. it is handed to all anchors at once. One that can't be reached fails nobody: it is logged,
#    shown by `status`, and gets the next one. What too few have cosigned is sent again
# 5. the notes are kept in the database, in one transaction
# 6. after the last portion a checkpoint of the directory is made in the same way
#
# A crash in between loses no promise: what was said of a journal is true of it at any time, and a
# scope that got no checkpoint gets one when it is next written to.

ACTOR: Final = "system:memoranda"
PORTION: Final = 250
"""How many scopes get their checkpoints together."""

_ID_BYTES: Final = 16
_IN_A_ROW: Final = 16
"""So many roots or signatures are made before others get their turn."""
_GIVEN_UP_AFTER: Final = 3
"""Failures of an anchor, one after the other, after which it is not asked again in a portion."""

log = logging.getLogger("memoranda.checkpoints")


class LedgersAndJournals(Journals, Protocol):
    """What checkpoints are made of, and the ledger that the directory is."""

    async def ledger(self, scope: str, origin: str, now: int) -> Ledger:
        """The ledger of one scope; a scope that is new gets a journal of this origin."""
        ...


@dataclass(slots=True)
class Checkpointer:
    """Makes the checkpoints of one open database; only it writes the directory."""

    database: LedgersAndJournals
    seal: Seal
    clock: Clock
    randomness: Randomness
    failures: dict[str, str] = field(default_factory=dict)
    """Per anchor that failed when it was last asked, why."""
    _since: dict[str, int] = field(default_factory=dict)
    """Per scope, the entries that no checkpoint covers, as far as they came through here."""
    _due: dict[str, None] = field(default_factory=dict)
    """The scopes whose turn it is, in order."""
    _timer: asyncio.TimerHandle | None = None
    _making: "asyncio.Task[None] | None" = None
    _directory: Ledger | None = None
    _is_directory_ahead: bool = False
    """Whether the directory has entries that no checkpoint of it covers."""
    _lacking: dict[str, int] = field(default_factory=dict)
    """Per scope whose newest checkpoint too few have cosigned, the size of that."""
    _is_closed: bool = False

    def committed(self, scope: str, entries: int) -> None:
        """Entries were appended to the journal of a scope."""
        since = self._since[scope] = self._since.get(scope, 0) + entries
        if since >= self.seal.every_entries:
            self._due[scope] = None
            self._start()
        elif self._timer is None:
            self._set_timer()

    async def make(self, scope: str, dry_run: bool = False) -> int:
        """Make the checkpoint of a scope now, if its journal grew since the last; how many.

        A process that died leaves entries behind that no checkpoint covers.
        """
        heads = await self.database.heads([scope])
        grown = [head for head in heads if head.size and head.size != head.noted]
        if grown and not dry_run:
            self._due[scope] = None
            while scope in self._due or self._making is not None:
                self._start()
                if self._making is None:
                    break  # it is closed
                await asyncio.wait({self._making})
        return len(grown)

    async def close(self) -> None:
        """Make the checkpoints of all that was written and has none; the last batch."""
        self._is_closed = True
        self._stop_timer()
        if self._making is not None:
            await asyncio.wait({self._making})
        self._due.update(dict.fromkeys(self._since))
        await self._make()

    # ------------------------------------------------------------------------ when

    def _set_timer(self) -> None:
        if self._timer is None and not self._is_closed:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(self.seal.every_seconds, self._all_are_due)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _all_are_due(self) -> None:
        self._timer = None
        self._due.update(dict.fromkeys(self._since))
        self._start()

    def _start(self) -> None:
        if self._making is None and not self._is_closed:
            self._making = asyncio.get_running_loop().create_task(self._make())

    async def _make(self) -> None:
        has_failed = False
        try:
            while self._due or (self._is_directory_ahead and not has_failed):
                while portion := list(islice(self._due, PORTION)):
                    await self._make_portion(portion)
                if self._is_directory_ahead:
                    has_failed = not await self._make_of_directory()
        finally:
            self._making = None

    async def _make_portion(self, scopes: Sequence[str]) -> None:
        for scope in scopes:
            del self._due[scope]
            self._since.pop(scope, None)
        try:
            heads = await self._heads(scopes)
            if heads:
                await self._enter(head for head in heads if not self._is_lacking(head))
                await self._publish(heads)
        except Exception:  # what was written is written, and is tried again with the next batch
            log.exception("no checkpoints of %d scopes, among them %r", len(scopes), scopes[0])
            self._since.update({scope: self._since.get(scope, 0) for scope in scopes})
            self._set_timer()

    async def _make_of_directory(self) -> bool:
        try:
            heads = await self._heads([DIRECTORY])
            if heads:
                await self._publish(heads)
        except Exception:
            log.exception("no checkpoint of the directory")
            return False
        self._is_directory_ahead = DIRECTORY in self._lacking
        return not self._is_directory_ahead

    # ------------------------------------------------------------------------- how

    async def _heads(self, scopes: Sequence[str]) -> list[ScopeHead]:
        """The heads of the journals that grew since their newest checkpoints.

        What can't be read together is read by halves, until the one is found that can't be read.
        """
        try:
            found = await self.database.heads(scopes)
            grown = [
                head
                for head in found
                if head.size and (head.size != head.noted or self._is_lacking(head))
            ]
            wanted = {head.scope: tree.blocks_for_root(head.size) for head in grown}
            blocks = await self.database.hashes(wanted) if wanted else {}
        except StoreFailed:
            if len(scopes) == 1:
                log.exception("no checkpoint of %r", scopes[0])
                return []
            half = len(scopes) // 2
            return [*await self._heads(scopes[:half]), *await self._heads(scopes[half:])]
        heads = []
        for number, head in enumerate(grown):
            await _give_way(number)
            try:
                root = tree.root(head.size, blocks[head.scope])
            except InvalidProof as damaged:
                log.error("no checkpoint of %r: %s", head.scope, damaged)  # noqa: TRY400 - no bug
            else:
                heads.append(ScopeHead(head.scope, head.origin, head.size, root))
        return heads

    def _is_lacking(self, head: ScopeHead | NotedHead) -> bool:
        return self._lacking.get(head.scope) == head.size

    async def _enter(self, heads: Iterable[ScopeHead]) -> None:
        now = self.clock.now_ms()
        if self._directory is None:
            origin = directory_origin(self.randomness.take(_ID_BYTES).hex())
            self._directory = await self.database.ledger(DIRECTORY, origin, now)
        drafts = [Draft("checkpoint", h.body, self.randomness.take(SALT_BYTES)) for h in heads]
        if drafts:
            await self._directory.commit(Unit(ACTOR, now, lambda _: drafts))
            self._is_directory_ahead = True

    async def _publish(self, heads: Sequence[ScopeHead]) -> None:
        notes = []
        for number, head in enumerate(heads):
            await _give_way(number)
            checkpoint = Checkpoint(head.origin, head.size, head.root)
            notes.append(await sign_checkpoint(checkpoint, self.seal.signers))
        answers = await asyncio.gather(
            *(self._kept_by(anchor, heads, notes) for anchor in self.seal.anchors)
        )
        for number, head in enumerate(heads):
            cosigned = list(chain.from_iterable(answer[number] for answer in answers))
            notes[number] = notes[number].with_signatures(cosigned)
            self._note_quorum(head, len({(one.name, one.key_id) for one in cosigned}))
        at = self.clock.now_ms()
        await self.database.keep_notes(
            [
                NewNote(head.scope, head.origin, head.size, str(note), at)
                for head, note in zip(heads, notes, strict=True)
            ]
        )

    def _note_quorum(self, head: ScopeHead, cosigned: int) -> None:
        if cosigned >= self.seal.quorum:
            self._lacking.pop(head.scope, None)
            return
        log.warning(
            "the checkpoint of %r at %d entries has %d cosignatures, not %d: it is sent again",
            *(head.scope, head.size, cosigned, self.seal.quorum),
        )
        self._lacking[head.scope] = head.size
        if head.scope != DIRECTORY:
            self._since.setdefault(head.scope, 0)
        self._set_timer()

    async def _kept_by(
        self, anchor: Anchor, heads: Sequence[ScopeHead], notes: Sequence[SignedNote]
    ) -> list[tuple[Signature, ...]]:
        """The signatures that an anchor adds to each note; none where it failed."""
        pairs = list(zip(heads, notes, strict=True))
        portions = [pairs] if isinstance(anchor, BatchAnchor) else [[pair] for pair in pairs]
        added: list[tuple[Signature, ...]] = []
        failed = 0
        for portion in portions:
            if failed < _GIVEN_UP_AFTER:
                try:
                    added += await self._published(anchor, portion)
                except Exception as error:  # noqa: BLE001 - an anchor may be anybody's code
                    failed += 1
                    self.failures[anchor.name] = _why(error)
                    log.warning("checkpoints were not kept by %s: %s", anchor.name, _why(error))
                else:
                    failed = 0
                    self.failures.pop(anchor.name, None)
                    continue
            added += [()] * len(portion)
        return added

    async def _published(
        self, anchor: Anchor, portion: Sequence[tuple[ScopeHead, SignedNote]]
    ) -> Sequence[tuple[Signature, ...]]:
        if isinstance(anchor, BatchAnchor):
            return await anchor.publish_all([str(note) for _, note in portion])
        return [
            await anchor.publish(str(note), partial(self._proof, head)) for head, note in portion
        ]

    async def _proof(self, head: ScopeHead, old_size: int, /) -> Sequence[bytes]:
        """The proof that a journal grew from a size to that of a head."""
        wanted = {head.scope: tree.blocks_for_consistency(old_size, head.size)}
        blocks = await self.database.hashes(wanted)
        return tree.consistency(old_size, head.size, blocks[head.scope])


def _why(error: Exception) -> str:
    return error.why if isinstance(error, AnchorFailed) else repr(error)


async def _give_way(number: int) -> None:
    if number % _IN_A_ROW == _IN_A_ROW - 1:
        await asyncio.sleep(0)
