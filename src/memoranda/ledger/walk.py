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

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from memoranda.identity.canonical import sha256_hex
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
from memoranda.ledger.fact import TYPES, derivations_of, erased_by, marks_of, unmarks_of
from memoranda.ledger.rows import KINDS_OF_OBJECTS, MISSING, TagSums, derivation
from memoranda.ledger.snapshot import StoredTag
from memoranda.ledger.tree import BLOCK, STRIDE, Block
from memoranda.ledger.unit import Mark, StoredEntry

# ------------------------------------------------------------------------------------------------
# What a walk along a journal looks at in facts: their form, their marks, and what was erased.
#
# 1. a fact is of a type of its kind; marks and inputs are names, each once; what it takes away is
#    of an entry before it
# 2. an erasure has a reason and a cause, and names facts before it, each with its digest, that have
#    no body
# 3. a fact whose body is gone is named by one erasure after it; that of an erasure is never gone
# 4. the index of marks has the marks of all facts, without those that were taken away
# 5. so has the list of what was made from what
#
# The index comes in another order and need not fit into memory, so it is compared by sums
# (`rows.TagSums`).

_DIGEST: Final = re.compile("[0-9a-f]{64}")


class FactWalk:
    """Feed it the facts in their order, then `finish`."""

    def __init__(self, damages: Damages, key: bytes) -> None:
        self.marks = TagSums(key)
        self.derivations = TagSums(key)
        self._damages = damages
        self._gone: dict[int, str] = {}
        """Those that no erasure has named yet, with their digests."""
        self._bodyless: set[int] = set()

    def gone(self, entry: Entry) -> None:
        """A fact whose body is not there."""
        self._bodyless.add(entry.seq)
        if entry.kind == "erasure":
            self._damages.add("body", entry.seq, "it is gone, and that of an erasure never goes")
        else:
            self._gone[entry.seq] = entry.body_digest

    def feed(self, entry: Entry, document: Mapping[str, Any]) -> None:
        seq = entry.seq
        # 1.
        try:
            check_form(entry.kind, document, seq)
        except InvalidProof as refused:
            self._damages.add("object", seq, refused.why)
            return
        for mark in marks_of(document, seq):
            self.marks.add(mark_row(mark))
        for mark in unmarks_of(document):
            if mark.seq not in self._bodyless:  # else it was not added
                self.marks.take(mark_row(mark))
        for source, output in derivations_of(document):
            self.derivations.add(derivation(source, output))
        # 2.
        if entry.kind == "erasure":
            self._erase(seq, document)

    def finish(self) -> None:
        # 3.
        for seq in sorted(self._gone):
            self._damages.add("body", seq, "it is gone, and no erasure says why")

    def _erase(self, seq: int, document: Mapping[str, Any]) -> None:
        for gone, digest in erased_by(document):
            if self._gone.pop(gone, None) != digest:
                why = f"it says that entry {gone} was erased, and that is not so"
                self._damages.add("object", seq, why)


def mark_row(mark: Mark) -> StoredTag:
    """A mark, as a row that is summed up like those of tags."""
    return StoredTag(mark.name, mark.seq, "")


def check_form(kind: str, document: Mapping[str, Any], seq: int) -> None:
    """Refuse with InvalidProof what can't be a fact of this kind (1, and what 2 says of form)."""
    if document["type"] not in TYPES[kind]:
        raise InvalidProof(f"its type is none of those of a fact of the kind {kind}")
    if not _are_names(document.get("marks", [])):
        raise InvalidProof("its marks are not names, each once")
    if not _are_names(document.get("inputs", [])):
        raise InvalidProof("its inputs are not names, each once")
    has_inputs = "inputs" in document and document["inputs"] != []
    if has_inputs != ("output" in document) or not _is_name(document.get("output", "none")):
        raise InvalidProof("it has inputs without an output, or an output without inputs")
    unmarks = document.get("unmarks", [])
    if not (_are_pairs(unmarks) and all(_is_mark_before(pair, seq) for pair in unmarks)):
        raise InvalidProof("its unmarks are not marks of entries before it, each once")
    if kind == "erasure":
        _check_erasure(document, seq)


def _check_erasure(document: Mapping[str, Any], seq: int) -> None:
    reason = document.get("reason")
    if not (isinstance(reason, str) and reason.strip()) or not _is_name(document.get("cause")):
        raise InvalidProof("it is an erasure without a reason or a cause")
    erased = document.get("erased")
    if not (
        erased and _are_pairs(erased) and all(_is_digest_before(value, seq) for value in erased)
    ):
        raise InvalidProof("what it erased are not entries before it, with their digests")


def _is_name(name: object) -> bool:
    return isinstance(name, str) and name != ""


def _are_names(names: object) -> bool:
    return isinstance(names, list) and all(map(_is_name, names)) and len(set(names)) == len(names)


def _are_pairs(pairs: object) -> bool:
    if not isinstance(pairs, list):
        return False
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):  # noqa: PLR2004 - a pair
        return False
    return len({repr(pair) for pair in pairs}) == len(pairs)


def _is_mark_before(pair: Sequence[object], seq: int) -> bool:
    name, number = pair
    return _is_name(name) and _is_before(number, seq)


def _is_digest_before(pair: Sequence[object], seq: int) -> bool:
    number, digest = pair
    is_digest = isinstance(digest, str) and _DIGEST.fullmatch(digest) is not None
    return is_digest and _is_before(number, seq)


def _is_before(number: object, seq: int) -> bool:
    return type(number) is int and 0 <= number < seq


OBJECT_KINDS: Final = {kind: number for number, kind in enumerate(KINDS_OF_OBJECTS) if kind}
"""Entries whose body is an object, so that a row follows from each, by number."""

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
        """For each entry, which of `KINDS_OF_OBJECTS` it is; 0 if no row follows from it, and
        `MISSING` where there is no entry."""
        self.notices: set[int] = set()
        """The entries about the memory as a whole; they are few."""
        self._wanted = frozenset(roots_wanted)
        self._previous = genesis(origin)
        self._next = 0
        self._at: int | None = None
        self._leaves: list[bytes] = []
        self._nodes: list[bytes] = []

    def feed(self, stored: Sequence[StoredEntry]) -> list[StoredEntry]:
        """Look at the next entries; those of them that are of no object."""
        others = []
        for each in stored:
            entry = self._entry(each)
            kind = None if entry is None else entry.kind
            gap = each.seq - len(self.objects)
            if 0 < gap <= MAX_GAP:  # what is missing is reported below
                self.objects += bytes([MISSING]) * gap
            number = 0 if kind is None else OBJECT_KINDS.get(kind, 0)
            self.objects.append(number)
            if not number:
                others.append(each)
            if entry is not None:
                self._check(each, entry)
                if kind in NOTICES:
                    self.notices.add(each.seq)
            self._grow(each.entry)
        return others

    @property
    def end(self) -> int:
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
