"""What `memoranda.append` is given: the rows of units, chained to the head of their journal.

All that the database writes is made here, from the head that this process knows: entries, hashes,
versions, tags, the nodes of the tree. The database compares the head, and refuses when it moved.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from psycopg.types.numeric import Int8

from memoranda.identity import sha256
from memoranda.identity.merkle import HASH_SIZE
from memoranda.kernel.given import RetryKey
from memoranda.ledger.entry import FACT_KINDS, chained_bytes, entry_hash, salted
from memoranda.ledger.retry import key_digest
from memoranda.ledger.tree import BLOCK, Block, Blocks, completed, leaves, node_of
from memoranda.ledger.unit import Current, Draft, EntryPlace, Expected, Unit, Version
from memoranda.stores.postgres.arrays import (
    DERIVATION,
    ENTRY,
    MARK,
    NODE,
    RETRY,
    TAG,
    VERSION,
    RowTypes,
    rows_of_table,
)
from memoranda.stores.shorthand import InShorthand
from memoranda.stores.statements import Integers, Texts

DRAFTS_AT_ONCE: Final = 1_000
BYTES_AT_ONCE: Final = 8 * 1024 * 1024
_PARAMETERS: Final = 21
_TAG_BYTES: Final = 96

APPEND: Final = (
    "SELECT outcome, about, seq, hashes FROM memoranda.append("  # noqa: S608 - ours
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
        self._entries: list[tuple[Any, ...]] = []
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
        """Add the entries of a unit. Time in a journal never goes back."""
        journal = self._journal
        at = self._at = max(unit.at, self._at) if drafts else self._at
        for draft in drafts:
            seq, body, salt, version = self._size, draft.body, draft.salt, draft.version
            digest = salted(salt, sha256(body))
            raw = chained_bytes(seq, draft.kind, at, draft.actor or unit.actor, digest, self._hash)
            self._hash = entry_hash(raw)
            self._size = seq + 1
            self.raws.append(raw)
            self.places.append(EntryPlace(seq, self._hash))
            subject = None if version is None else version.subject
            stored = self._codec.pack(body, subject, draft.first)
            self._entries.append((journal, seq, raw, salt, stored))
            if draft.replaces is not None:
                self._replace(draft.replaces, draft.replaced_tags)
                if draft.erases:
                    self._erased_ids.append(draft.replaces.id)
            if draft.unmarks or draft.erased:
                self._take_away(draft)
            if version is not None:
                self._store(draft, version, seq)
            elif draft.kind in FACT_KINDS:
                self._marks += [(journal, name, seq) for name in draft.marks]
                self._derivations.update(((source, draft.output), None) for source in draft.inputs)

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
        versions = (
            (journal, *version_row(row.version, row.seq, row.since, is_newest=row.is_newest))
            for row in self._versions
        )
        return (
            *(Int8(journal), Int8(self._before.size), self._before.hash),
            *(Int8(self._size), self._hash, Int8(self._at)),
            rows_of_table(types, ENTRY, self._entries),
            rows_of_table(types, VERSION, versions),
            rows_of_table(types, TAG, ((journal, *tag_row(*tag)) for tag in self._tags)),
            rows_of_table(types, MARK, self._read),
            rows_of_table(types, MARK, self._replaced),
            rows_of_table(types, TAG, ((journal, *tag_row(*tag)) for tag in self._gone)),
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
        self._derivations.update(((source, version.id), None) for source in draft.inputs)
        for tag in draft.tags:
            _move((tag, version.created_at, since, version.id), self._gone, self._tags)

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


def places(seq: int, hashes: bytes) -> list[EntryPlace]:
    """Where the entries stand whose hashes these are, one after the other."""
    return [EntryPlace(seq + number, each) for number, each in enumerate(hashes_in(hashes))]


def hashes_in(hashes: bytes) -> list[bytes]:
    starts = range(0, len(hashes), HASH_SIZE)
    return [hashes[start : start + HASH_SIZE] for start in starts]


def tag_key(tag: str) -> str:
    """`memoranda.tag_key`: a tag as it stands in the index, by its digest when it is long."""
    raw = tag.encode()
    if len(raw) <= _TAG_BYTES and not tag.startswith("sha256:"):
        return tag
    return "sha256:" + sha256(raw).hex()


def tag_row(tag: str, created_at: int, since: int, id: str) -> tuple[Any, ...]:
    """The columns of a row of `tags`, after the journal."""
    key = tag_key(tag)
    return created_at, since, key, id, None if key == tag else tag


def version_row(version: Version, seq: int, since: int, *, is_newest: bool) -> tuple[Any, ...]:
    """The columns of a row of `versions`, after the journal."""
    id, number, status, created, updated, start, end, expires, subject = version
    return (
        *(seq, since, created, updated, number, is_newest, status, id),
        *(start, end, expires, subject),
    )


def _move(tag: _Tag, source: dict[_Tag, None], target: dict[_Tag, None]) -> None:
    """What came and went again, or the other way round, is not written at all."""
    if tag in source:
        del source[tag]
    else:
        target[tag] = None
