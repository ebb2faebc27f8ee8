"""Appending to a journal, inside a transaction.

Entries, bodies, rows, tags and the head of a journal are gathered here and written together, so
that the units of one commit share their statements.
"""

from binascii import hexlify
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

import apsw

from memoranda.identity import decode
from memoranda.kernel.errors import InvalidProof, RecordExists
from memoranda.ledger.codec import subject_of
from memoranda.ledger.derive import inputs_of
from memoranda.ledger.entry import ENCODED, FACT_KINDS, FORM, entry_hash, quoted, read_entry
from memoranda.ledger.fact import derivations_of, marks_of, unmarks_of
from memoranda.ledger.rows import tags_of_newest
from memoranda.ledger.snapshot import INDEX_FORM, StoredRow
from memoranda.ledger.tree import BLOCK, STRIDE, StoredNode, completed, leaves, node_of
from memoranda.ledger.unit import (
    Current,
    Draft,
    EntryPlace,
    Mark,
    StoredEntry,
    Unit,
    Version,
    new_place,
)
from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.stores.shorthand import (
    CODES,
    ENTRY,
    FIELDS,
    MOST,
    InShorthand,
    packed,
    plain_actor,
    unpacked,
)
from memoranda.stores.sqlite.connection import SEQ_BITS, Inserts, place
from memoranda.stores.sqlite.erase import MARK_ROWS, erase_content, erase_entries, unmark

_HEAD: Final = "SELECT size, head, head_at FROM journals WHERE number = ?"
MOVE_HEAD: Final = "UPDATE journals SET size = ?, head = ?, head_at = ? WHERE number = ?"
# Entries without words need no merging: an index that has all before them has them too, in the
# segments that end with it.
_MOVE_INDEX: Final = (
    "UPDATE journals SET indexed = ? WHERE number = ? AND indexed = ? AND tokenizer = ?"
)
_MOVE_SEGMENTS: Final = "UPDATE segments SET until = ? WHERE journal = ? AND until = ?"
ENTRY_ROWS: Final = Inserts("entries", "place", "entry")
BODY_ROWS: Final = Inserts("bodies", "place", "salt", "body")
_NODES: Final = Inserts("nodes", "journal", "level", "number", "hash")
VERSION_ROWS: Final = Inserts(
    "versions", "journal", "seq", "since", "is_newest", "id", "number", "status",
    "created_at", "updated_at", "valid_from", "valid_to", "expires_at", "subject",
)  # fmt: skip
TAG_ROWS: Final = Inserts("tags", "journal", "tag", "created_at", "since", "id")
_DERIVATIONS: Final = Inserts("derivations", "journal", "input", "output")
REPLACE: Final = "UPDATE versions SET is_newest = 0 WHERE journal = ? AND id = ? AND number = ?"
UNTAG: Final = "DELETE FROM tags WHERE journal = ? AND tag = ? AND created_at = ? AND since = ?"
_IN_USE: Final = "SELECT 1 FROM versions WHERE journal = ? AND id = ? AND number = ? AND seq < ?"
LEAVES: Final = "SELECT entry FROM entries WHERE place >= ? AND place < ? ORDER BY place"
NODES: Final = (
    "SELECT hash FROM nodes WHERE journal = ? AND level = ? AND number >= ? AND number < ?"
    " ORDER BY number"
)


class LastEntries(NamedTuple):
    """The last entries of a journal, those that no node of the tree is over yet.

    They follow from its size and its head, which are compared before they are used: another
    process may have written, and a transaction may not have landed.
    """

    size: int
    head: bytes
    entries: Sequence[bytes]


class Appender:
    """The end of one journal in one transaction: what is added shows after `flush`."""

    def __init__(
        self,
        connection: apsw.Connection,
        journal: int,
        bodies: InShorthand,
        last: LastEntries | None = None,
    ) -> None:
        self._connection = connection
        self.journal = journal
        self.bodies = bodies
        head: Any = connection.execute(_HEAD, (journal,)).fetchone()
        self.size: int = head[0]
        self.head: bytes = head[1]
        self._at: int = head[2]
        self._stored = self.size
        self.first: Final = self.size
        self._raw: list[bytes] = []
        self.last: list[bytes] | None = None if self.size % BLOCK else []
        """The entries of the block that is not complete; None where they are still to be read."""
        if last is not None and (last.size, last.head) == (self.size, self.head):
            self.last = [*last.entries]
        self._entries: list[tuple[object, ...]] = []
        self._bodies: list[tuple[object, ...]] = []
        self._versions: list[tuple[object, ...]] = []
        self._replaced: list[tuple[object, ...]] = []
        self._since: dict[str, int] = {}
        """Since which entry an object is active whose version was added in this transaction."""
        self._tags: list[tuple[Any, ...]] = []
        self._untagged: list[tuple[object, ...]] = []
        self._derivations: list[tuple[object, ...]] = []
        self._marks: list[tuple[object, ...]] = []
        self._has_words = False

    def settle(self, ids: Iterable[str]) -> None:
        """See that the newest versions of these objects can be read."""
        if self._since and not self._since.keys().isdisjoint(ids):
            self.flush()

    def add(self, unit: Unit, drafts: Sequence[Draft]) -> list[EntryPlace]:
        """Append the drafts of a unit. Time in a journal never goes back.

        Each is hashed, chained and made into rows here, without a call for each of these: all
        writes wait for it, and a batch has a thousand.
        """
        at = self._at = max(unit.at, self._at)
        journal, pack, is_plain = self.journal, self.bodies.pack, self.bodies.is_plain
        start, previous, seq = journal << SEQ_BITS, self.head, self.size
        places = []
        for (
            kind, body, salt, version, tags, replaces, replaced_tags, inputs, erases, marks,
            unmarks, output, erased, actor, _, _, first,
        ) in drafts:  # fmt: skip
            since = seq
            if unmarks or erased:
                self._take_away(unmarks, erased, marks)
            if replaces is not None:
                since, kept = self._replace(replaces, replaced_tags, version, tags)
                tags = [tag for tag in tags if tag not in kept]  # noqa: PLW2901 - the new ones
                if erases:
                    self._write_replaced()
                    erase_content(self._connection, journal, replaces, self.bodies)
            digest = sha256(salt + sha256(body).digest()).digest()
            by = actor or unit.actor
            entry = FORM % (quoted(by), at, hexlify(digest), ENCODED[kind], hexlify(previous), seq)
            plain = plain_actor(by)
            if plain is None or not -MOST < at < MOST:
                self._entries.append((start | seq, entry))
            else:
                row = FIELDS.pack(CODES[kind], at, seq, digest, previous) + plain
                self._entries.append((start | seq, row))
            self._raw.append(entry)
            if is_plain and first is not None and first[0] is body and first[1]:
                stored = first[1]
            else:
                stored = pack(body, None if version is None else version[8], first)
            self._bodies.append((start | seq, salt, stored))
            if version is not None:
                id = version[0]
                self._versions.append((journal, seq, since, 1, *version))
                self._since[id] = since
                self._has_words = True
                if tags:
                    created = version[3]
                    self._tags += [(journal, tag, created, since, id) for tag in tags]
                if inputs:
                    self._derivations += [(journal, source, id) for source in inputs]
            elif kind in FACT_KINDS:
                self._note_fact(seq, marks, [(source, output) for source in inputs])
            previous = self.head = sha256(entry).digest()
            places.append(new_place((seq, previous)))
            seq += 1
            self.size = seq
        return places

    def _replace(
        self,
        replaced: Current,
        replaced_tags: Sequence[str],
        version: Version | None,
        tags: Sequence[str],
    ) -> tuple[int, Sequence[str]]:
        """Make room for the next version: since when that is active, and the tags that stay."""
        before = replaced.since
        if replaced.id in self._since:  # this very version may still be to be written
            before = self._since[replaced.id]
            self.flush()
        self._replaced.append((self.journal, replaced.id, replaced.number))
        is_active = version is not None and version.status == replaced.status == "active"
        is_as_old = version is not None and version.created_at == replaced.created_at
        kept = [tag for tag in replaced_tags if tag in tags] if is_active and is_as_old else ()
        self._untagged += [
            (self.journal, tag, replaced.created_at, before)
            for tag in replaced_tags
            if tag not in kept
        ]
        return before if is_active else self.size, kept

    def _write_replaced(self) -> None:
        self._connection.executemany(REPLACE, self._replaced)
        if self._untagged:
            self._connection.executemany(UNTAG, self._untagged)
        self._replaced.clear()
        self._untagged.clear()

    def _take_away(
        self, unmarks: Sequence[Mark], erased: Sequence[int], marks: Sequence[str]
    ) -> None:
        """Take away the marks and bodies that a fact says, maybe of this very transaction."""
        self.flush()
        unmark(self._connection, self.journal, unmarks)
        if erased:
            erase_entries(self._connection, self.journal, erased, marks)

    def _note_fact(
        self, seq: int, names: Sequence[str], derived: Sequence[tuple[str, str]]
    ) -> None:
        self._marks += [(self.journal, name, seq) for name in names]
        self._derivations += [(self.journal, *one) for one in derived]

    # ------------------------------------------------------- what another journal has

    def adopt_entries(self, stored: Sequence[StoredEntry]) -> None:
        """Append entries of the same journal in another database, as they are."""
        for seq, raw, salt, body in stored:
            entry = read_entry(raw)
            if (entry.seq, entry.previous_entry_hash) != (self.size, self.head.hex()):
                raise InvalidProof(f"entry {seq} does not follow the entry before it")
            if entry.kind in FACT_KINDS and body is not None:
                self._adopt_fact(self.size, decode(body))
            self._has_words = self._has_words or entry.kind in OBJECT_KINDS
            where = place(self.journal, self.size)
            self._entries.append((where, packed(raw, ENTRY)))
            if salt is not None and body is not None:
                self._bodies.append((where, salt, self.bodies.pack(body, subject_of(body))))
            self._raw.append(raw)
            self.head, self._at = entry_hash(raw), entry.at
            self.size += 1
        self.flush()

    def _adopt_fact(self, seq: int, document: Mapping[str, Any]) -> None:
        """The same of a fact that was adopted; what it erased was erased where it comes from."""
        if gone := unmarks_of(document):
            self.flush()
            unmark(self._connection, self.journal, gone)
        names = [mark.name for mark in marks_of(document, seq)]
        self._note_fact(seq, names, derivations_of(document))

    def adopt_rows(self, rows: Sequence[StoredRow]) -> None:
        """Write the rows that follow from entries that were adopted."""
        journal = self.journal
        VERSION_ROWS.run(
            self._connection,
            [(journal, row.seq, row.since, int(row.is_newest), *row.version) for row in rows],
        )
        tags = [
            (journal, tag.tag, tag.created_at, tag.since, tag.id) for tag in tags_of_newest(rows)
        ]
        TAG_ROWS.run(self._connection, sorted(tags))
        derived = [
            (journal, source, row.version.id) for row in rows for source in inputs_of(row.body)
        ]
        _DERIVATIONS.run(self._connection, derived)

    def flush(self) -> None:
        if self.size == self._stored:
            return
        connection = self._connection
        if self._replaced:
            self._write_replaced()
        self._tags.sort()
        for inserts, rows in (
            (ENTRY_ROWS, self._entries), (BODY_ROWS, self._bodies),
            (VERSION_ROWS, self._versions), (TAG_ROWS, self._tags),
            (_DERIVATIONS, self._derivations), (MARK_ROWS, self._marks),
        ):  # fmt: skip
            try:
                if len(rows) == 1:  # as most writes have it
                    connection.execute(inserts.one, rows[0])
                elif rows:
                    inserts.run(connection, rows)
            except apsw.ConstraintError:
                if inserts is not VERSION_ROWS:
                    raise
                raise RecordExists(self._first_in_use()) from None
        if self.last is not None:
            self.last += self._raw
        if self._stored // BLOCK != self.size // BLOCK:
            self._grow_tree()
        connection.execute(MOVE_HEAD, (self.size, self.head, self._at, self.journal))
        if not self._has_words:
            self._move_index()
        self._stored, self._has_words = self.size, False
        for gathered in (
            self._entries, self._bodies, self._versions, self._tags, self._derivations,
            self._raw, self._marks,
        ):  # fmt: skip
            gathered.clear()

    def _move_index(self) -> None:
        moved = (self.size, self.journal, self._stored)
        self._connection.execute(_MOVE_INDEX, (*moved, INDEX_FORM))
        if self._connection.changes():
            self._connection.execute(_MOVE_SEGMENTS, moved)

    def _grow_tree(self) -> None:
        first = self._stored // BLOCK
        if self.last is None:
            self.last = self._read_last(first * BLOCK)
        for node in completed(self._stored, self.size):
            if node.level == STRIDE:
                start = (node.number - first) * BLOCK
                entries = self.last[start : start + BLOCK]
                hashes = leaves(entries) if all(entries) else []
            else:
                hashes = self._block(node)
            if len(hashes) == BLOCK:  # where an entry was lost, there is no node over it
                row = (self.journal, node.level, node.number, node_of(hashes))
                self._connection.execute(_NODES.one, row)
        self.last = self.last[(self.size // BLOCK - first) * BLOCK :]

    def _read_last(self, start: int) -> list[bytes]:
        """The entries from here on; what was lost of them is empty."""
        places = (place(self.journal, start), place(self.journal, self._stored))
        rows: Any = self._connection.execute(LEAVES, places)
        stored = [unpacked(entry, ENTRY) for (entry,) in rows]
        return [b""] * (self._stored - start - len(stored)) + stored + self._raw

    def _block(self, node: StoredNode) -> list[bytes]:
        level, number = node.block
        start, end = number * BLOCK, (number + 1) * BLOCK
        rows: Any = self._connection.execute(NODES, (self.journal, level, start, end))
        return [node for (node,) in rows]

    def _first_in_use(self) -> str:
        seen = set()
        for _, _, _, _, id, number, *_ in self._versions:
            key = (self.journal, id, number, self._stored)
            if id in seen or self._connection.execute(_IN_USE, key).fetchall():
                return str(id)
            seen.add(id)
        raise LookupError("a constraint failed and no id is in use")
