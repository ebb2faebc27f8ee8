"""A walk along a journal, from its first entry to its head: chain, tree and bodies in one pass.

1. an entry is the bytes of one                                          form
2. it has the number of its place                                        seq
3. it names the hash of the entry before, the first one the genesis      previous
4. it is no older than the entry before                                  time
5. its body has the digest that it names; only that of an object, or     body
   of a fact, can have been erased, and a salt has its length
6. a body that is of no object is canonical, and has a type of its own   form, object
   (those of objects are looked at with their rows: `rows`; of facts,
   what they are and how they are found: `fact_walk`)

Damage is reported, not raised: an auditor wants all of it. After damage the walk goes on from
what is stored, so that one edit is reported once.
"""

from collections.abc import Collection, Sequence
from typing import Final

from memoranda.identity.digest import sha256_hex
from memoranda.kernel.errors import InvalidProof
from memoranda.ledger import tree
from memoranda.ledger.body import broken_type, document_of
from memoranda.ledger.codec import Unreadable
from memoranda.ledger.damage import Damages
from memoranda.ledger.entry import (
    FACT_KINDS,
    NOTICES,
    SALT_BYTES,
    Entry,
    body_digest,
    entry_hash,
    genesis,
    read_entry,
)
from memoranda.ledger.fact_walk import FactWalk
from memoranda.ledger.tree import BLOCK, STRIDE, Block
from memoranda.ledger.unit import StoredEntry

OBJECT_KINDS: Final = frozenset({"create", "consolidate", "invalidate", "archive"})
"""Entries whose body is an object, so that a row follows from each."""

MAX_GAP: Final = 1_000_000
"""Beyond so many missing entries, rows are no longer told by their numbers: one number that
somebody wrote into a file must not fill the memory."""


class Walk:
    """Feed it the entries in their order, then ask for what was found."""

    def __init__(
        self,
        origin: str,
        damages: Damages,
        roots_wanted: Collection[int] = (),
        *,
        key: bytes = b"",
    ) -> None:
        """`key` is random, and of one verification: see `rows.TagSums`."""
        self.damages = damages
        self.facts = FactWalk(damages, key)
        self.size = 0
        self.erased = 0
        self.roots: dict[int, bytes] = {0: tree.root(0, {})}
        self.objects = bytearray()
        """For each entry, whether a row follows from it."""
        self.notices: set[int] = set()
        """The entries about the memory as a whole; they are few."""
        self._wanted = frozenset(roots_wanted)
        self._previous = genesis(origin)
        self._next = 0
        self._at: int | None = None
        self._leaves: list[bytes] = []
        self._nodes: list[bytes] = []

    def feed(self, stored: Sequence[StoredEntry]) -> None:
        """Walk on over these entries."""
        for each in stored:
            entry = self._entry(each)
            kind = None if entry is None else entry.kind
            gap = each.seq - len(self.objects)
            if 0 < gap <= MAX_GAP:  # what is missing is reported below
                self.objects += bytes(gap)
            self.objects.append(kind in OBJECT_KINDS)
            if entry is not None:
                self._check(each, entry)
                if kind in NOTICES:
                    self.notices.add(each.seq)
            self._grow(each.entry)

    @property
    def end(self) -> int:
        """The number after that of the last entry."""
        return self._next

    @property
    def last_hash(self) -> str:
        """The hash of the last entry; the genesis when there is none."""
        return self._previous

    def root(self) -> bytes:
        """The root of the tree over all entries so far."""
        wanted = tree.blocks_for_root(self.size)
        return tree.root(self.size, {block: self._block(block) for block in wanted})

    # ------------------------------------------------------------------------- checks

    def _entry(self, stored: StoredEntry) -> Entry | None:
        # 1.
        try:
            entry = read_entry(stored.entry)
        except InvalidProof as refused:
            self.damages.add("form", stored.seq, refused.why)
            self._previous = entry_hash(stored.entry).hex()
            self._next = stored.seq + 1
            return None
        return entry

    def _check(self, stored: StoredEntry, entry: Entry) -> None:
        seq, raw, salt, body = stored
        number, kind, at, _, digest, previous = entry
        report = self.damages.add
        # 2.
        if seq != self._next:
            report("seq", self._next, f"it is not there; entry {seq} comes next")
        if number != seq:
            report("seq", seq, f"it says that it is entry {number}")
        # 3.
        if previous != self._previous:
            report("previous", seq, "it does not name the hash of the entry before")
        # 4.
        if self._at is not None and at < self._at:
            report("time", seq, "it is older than the entry before")
        # 5.
        if body is None or salt is None:
            self.erased += 1
            if body is not None or salt is not None:
                report("body", seq, "of body and salt one is there and the other is not")
            elif kind in FACT_KINDS:
                self.facts.gone(entry)
            elif kind not in OBJECT_KINDS:
                report("body", seq, f"it is gone, and that of a {kind} is never erased")
        elif len(salt) != SALT_BYTES:
            report("body", seq, f"its salt has not {SALT_BYTES} bytes")
        elif isinstance(body, Unreadable):
            report("body", seq, f"it can't be read: {body.why}")
        elif body_digest(salt, body) != digest:
            report("body", seq, "it is not the body that the entry was written with")
        # 6.
        if body is not None and not isinstance(body, Unreadable) and kind not in OBJECT_KINDS:
            self._check_other(entry, body)
        self._previous = sha256_hex(raw)
        self._next = seq + 1
        self._at = at

    def _check_other(self, entry: Entry, body: bytes) -> None:
        try:
            document = document_of(body)
        except InvalidProof as refused:
            self.damages.add("form", entry.seq, refused.why)
            return
        why = broken_type(document)
        if why is not None:
            self.damages.add("object", entry.seq, why)
        elif entry.kind in FACT_KINDS:
            self.facts.feed(entry, document)

    # --------------------------------------------------------------------------- tree

    def _grow(self, entry: bytes) -> None:
        self._leaves.append(entry)
        self.size += 1
        if len(self._leaves) == BLOCK:
            self._nodes.append(tree.node_of(tree.leaves(self._leaves)))
            self._leaves.clear()
        if self.size in self._wanted:
            self.roots[self.size] = self.root()

    def _block(self, block: Block) -> Sequence[bytes]:
        if block.level == 0:
            return tree.leaves(self._leaves)
        start, end = block.number * BLOCK, (block.number + 1) * BLOCK
        return self.level(block.level)[start:end]

    def level(self, level: int) -> Sequence[bytes]:
        """The complete nodes of a stored level, as they follow from the entries."""
        nodes: Sequence[bytes] = self._nodes
        for _ in range(STRIDE, level, STRIDE):
            whole = range(0, len(nodes) - len(nodes) % BLOCK, BLOCK)
            nodes = [tree.node_of(nodes[start : start + BLOCK]) for start in whole]
        return nodes
