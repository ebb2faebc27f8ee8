"""What `memoranda.append` is given: the rows of units, chained to the head of their journal.

All that the database writes is made here, from the head that this process knows: entries, hashes,
versions, tags, the nodes of the tree. The database compares the head, and refuses when it moved.
"""

from binascii import hexlify
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from psycopg.types.numeric import Int8

from memoranda.kernel.given import RetryKey
from memoranda.ledger.entry import ENCODED, FACT_KINDS, FORM, quoted
from memoranda.ledger.retry import key_digest
from memoranda.ledger.tree import BLOCK, Block, Blocks, completed, leaves, node_of
from memoranda.ledger.unit import (
    Current,
    Draft,
    EntryPlace,
    Expected,
    Unit,
    Version,
    new_place,
)
from memoranda.stores.postgres.arrays import (
    DERIVATION,
    MARK,
    NODE,
    RETRY,
    RowTypes,
    entry_row,
    packed_rows,
    rows_of_table,
    tag_row,
    version_row,
)
from memoranda.stores.shorthand import CODES, FIELDS, MOST, InShorthand, plain_actor
from memoranda.stores.statements import Integers, Texts

DRAFTS_AT_ONCE: Final = 1_000
BYTES_AT_ONCE: Final = 8 * 1024 * 1024
_PARAMETERS: Final = 21

APPEND: Final = (
    "SELECT outcome, about, seq, entries FROM memoranda.append("  # noqa: S608 - ours
    + ", ".join(["%s"] * _PARAMETERS)
    + ")"
)

_Tag = tuple[str, int, int, str]


class JournalEnd(NamedTuple):
    """The head of a journal: how many entries it has, the hash of the last, and its time."""

    size: int
    hash: bytes
    at: int


class _Row:
    """A version that is to be stored; whether it is the newest shows when all are there."""

    __slots__ = ("body", "is_newest", "seq", "since", "version")

    def __init__(self, version: Version, body: bytes, seq: int, since: int) -> None:
        self.version = version
        self.body = body
        self.seq = seq
        self.since = since
        self.is_newest = True


class Portion:
    """The arguments of one call: all entries of some units, or some entries of one."""

    def __init__(
        self,
        codec: InShorthand,
        journal: int,
        end: JournalEnd,
        since: dict[tuple[str, int], int] | None = None,
    ) -> None:
        """`since` has what portions of the same unit stored before: since when it is active."""
        self._codec = codec
        self._journal = journal
        self._before = end
        self._size, self._hash, self._at = end
        self._since = {} if since is None else since
        self.raws: list[bytes] = []
        self.places: list[EntryPlace] = []
        self._entries: list[bytes] = []
        self._versions: list[_Row] = []
        self._stored: dict[tuple[str, int], _Row] = {}
        self._replaced: list[tuple[Any, ...]] = []
        self._tags: dict[_Tag, None] = {}
        self._gone: dict[_Tag, None] = {}
        self._derivations: dict[tuple[str, str], None] = {}
        self._read: list[tuple[Any, ...]] = []
        self._retries: list[tuple[Any, ...]] = []
        self._marks: list[tuple[Any, ...]] = []
        self._unmarks: list[tuple[Any, ...]] = []
        self._expected: list[tuple[Any, ...]] = []
        self._erased_ids, self._erased_seqs, self._erased_names = Texts(), Integers(), Texts()

    @property
    def end(self) -> JournalEnd:
        return JournalEnd(self._size, self._hash, self._at)

    def newest(self) -> Iterator[Current]:
        """The versions that are the newest once this has landed."""
        for row in self._versions:
            if row.is_newest:
                yield Current(*row.version, row.body, since=row.since)

    def add(self, unit: Unit, drafts: Sequence[Draft]) -> None:
        """Add the entries of a unit. Time in a journal never goes back.

        As in SQLite, without a call for each step: all writes wait for it.
        """
        journal, pack, previous, seq = self._journal, self._codec.pack, self._hash, self._size
        at = self._at = max(unit.at, self._at) if drafts else self._at
        for draft in drafts:
            kind, body, salt, version, _, replaces = draft[:6]
            by = draft.actor or unit.actor
            digest = sha256(salt + sha256(body).digest()).digest()
            raw = FORM % (quoted(by), at, hexlify(digest), ENCODED[kind], hexlify(previous), seq)
            actor = plain_actor(by)
            entry = raw
            if actor is not None and -MOST < at < MOST:
                entry = FIELDS.pack(CODES[kind], at, seq, digest, previous) + actor
            stored = pack(body, None if version is None else version.subject, draft.first)
            previous = sha256(raw).digest()
            self.raws.append(raw)
            self.places.append(new_place((seq, previous)))
            self._entries.append(entry_row(journal, seq, entry, salt, stored))
            if replaces is not None:
                self._replace(replaces, draft.replaced_tags)
                if draft.erases:
                    self._erased_ids.append(replaces.id)
            if draft.unmarks or draft.erased:
                self._take_away(draft)
            if version is not None:
                self._store(draft, version, seq)
            elif kind in FACT_KINDS:
                self._marks += [(journal, name, seq) for name in draft.marks]
                self._derivations.update(((source, draft.output), None) for source in draft.inputs)
            seq += 1
        self._hash, self._size = previous, seq

    def add_read(self, ids: Sequence[str], found: Sequence[Current | None]) -> None:
        """Add what a unit decided on: it is refused if that is no longer so."""
        for id, current in zip(ids, found, strict=True):
            self._read.append((self._journal, id, None if current is None else current.number))

    def add_expected(self, expects: Sequence[Expected]) -> None:
        """Add what a unit expects: it is refused if that is not so."""
        self._expected += [(self._journal, name, seq) for name, seq in expects]

    def add_key(self, unit: Unit, key: RetryKey, drafts: Sequence[Draft]) -> None:
        """Note what a unit with a key comes to: these entries, which were added last."""
        count, nonce = len(drafts), drafts[0].nonce if drafts else b""
        digests = (key_digest(key.key), key.fingerprint, nonce)
        first = self._size - count
        self._retries.append((self._journal, *digests, unit.about, first, count, unit.at))

    def blocks(self) -> set[Block]:
        """The blocks of the tree that `parameters` needs, as they are stored."""
        found = {node.block for node in completed(self._before.size, self._size)}
        return {block for block in found if block.level or block.number * BLOCK < self._before.size}

    def parameters(self, types: RowTypes, blocks: Blocks) -> tuple[object, ...]:
        """The parameters of `APPEND`."""
        journal = self._journal
        pairs = ((journal, *pair) for pair in self._derivations)
        versions = [
            version_row(journal, row.version, row.seq, row.since, is_newest=row.is_newest)
            for row in self._versions
        ]
        return (
            *(Int8(journal), Int8(self._before.size), self._before.hash),
            *(Int8(self._size), self._hash, Int8(self._at)),
            packed_rows(types, "entries", self._entries),
            packed_rows(types, "versions", versions),
            packed_rows(types, "tags", [tag_row(journal, *tag) for tag in self._tags]),
            rows_of_table(types, MARK, self._read),
            rows_of_table(types, MARK, self._replaced),
            packed_rows(types, "tags", [tag_row(journal, *tag) for tag in self._gone]),
            rows_of_table(types, DERIVATION, pairs),
            rows_of_table(types, MARK, self._marks),
            rows_of_table(types, NODE, self._nodes(blocks)),
            rows_of_table(types, RETRY, self._retries),
            rows_of_table(types, MARK, self._expected),
            rows_of_table(types, MARK, self._unmarks),
            self._erased_ids or None,
            self._erased_seqs or None,
            self._erased_names,
        )

    def _nodes(self, blocks: Blocks) -> list[tuple[Any, ...]]:
        """The nodes that are complete now; where an entry was lost, there is no node over it."""
        before = self._before.size
        made: dict[Block, bytes] = {}
        new = leaves(self.raws) if before // BLOCK < self._size // BLOCK else []
        for node in completed(before, self._size):
            level, number = node.block
            start, end = number * BLOCK, (number + 1) * BLOCK
            hashes = list(blocks.get(node.block, ()))
            if level:
                above = (made.get(Block(level, one)) for one in range(start + len(hashes), end))
                hashes += [data for data in above if data is not None]
            else:
                hashes += new[max(start - before, 0) : end - before]
            if len(hashes) == BLOCK:
                made[Block(node.level, node.number)] = node_of(hashes)
        return [(self._journal, *place, made[place]) for place in made]

    def _store(self, draft: Draft, version: Version, seq: int) -> None:
        key, before, since = (version.id, version.number), draft.replaces, seq
        if before is not None and version.status == before.status == "active":
            since = self._since_of(before)
        row = _Row(version, draft.body, seq, since)
        self._stored[key] = row
        self._since[key] = since
        self._versions.append(row)
        if draft.inputs:
            self._derivations.update(((source, version.id), None) for source in draft.inputs)
        created, id = version.created_at, version.id
        if self._gone:
            for tag in draft.tags:
                _move((tag, created, since, id), self._gone, self._tags)
        else:
            for tag in draft.tags:
                self._tags[tag, created, since, id] = None

    def _since_of(self, current: Current) -> int:
        return self._since.get((current.id, current.number), current.since)

    def _take_away(self, fact: Draft) -> None:
        """What goes is taken away first, so what it takes of what was added here goes here."""
        self._unmarks += [(self._journal, *mark) for mark in fact.unmarks]
        if fact.erased:
            self._erased_seqs += fact.erased
            self._erased_names += fact.marks
            gone = set(fact.marks)
            left = (pair for pair in self._derivations if pair[1] not in gone)
            self._derivations = dict.fromkeys(left)

    def _replace(self, replaced: Current, tags: Sequence[str]) -> None:
        row = self._stored.get((replaced.id, replaced.number))
        if row is None:
            self._replaced.append((self._journal, replaced.id, replaced.number))
        else:
            row.is_newest = False
        since = self._since_of(replaced)
        for tag in tags:
            _move((tag, replaced.created_at, since, replaced.id), self._tags, self._gone)


def portions(drafts: Sequence[Draft]) -> Iterator[Sequence[Draft]]:
    """The drafts of a unit, in parts that a statement can carry.

    What one erases must be stored before: if it is not, a new part begins there.
    """
    start, size = 0, 0
    ids = set[str]()
    for number, draft in enumerate(drafts):
        size += len(draft.body)
        erased = draft.replaces.id if draft.erases and draft.replaces is not None else None
        is_full = number - start == DRAFTS_AT_ONCE or size > BYTES_AT_ONCE
        if number > start and (is_full or erased in ids):
            yield drafts[start:number]
            start, size = number, len(draft.body)
            ids.clear()
        if draft.version is not None:
            ids.add(draft.version.id)
    if start < len(drafts):
        yield drafts[start:]


def _move(tag: _Tag, source: dict[_Tag, None], target: dict[_Tag, None]) -> None:
    """What came and went again, or the other way round, is not written at all."""
    if tag in source:
        del source[tag]
    else:
        target[tag] = None
