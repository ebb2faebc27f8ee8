"""Appending to a journal, inside a transaction.

Entries, bodies, rows, tags and the head of a journal are gathered here and written together, so
that the units of one commit share their statements.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import apsw

from memoranda.identity import decode
from memoranda.kernel.errors import InvalidProof, RecordExists
from memoranda.ledger.codec import subject_of
from memoranda.ledger.derive import inputs_of
from memoranda.ledger.entry import (
    FACT_KINDS,
    chained_bytes,
    entry_hash,
    read_entry,
)
from memoranda.ledger.fact import derivations_of, marks_of, unmarks_of
from memoranda.ledger.rows import tags_of_newest
from memoranda.ledger.snapshot import INDEX_FORM, StoredRow
from memoranda.ledger.tree import BLOCK, STRIDE, StoredNode, completed, leaves, node_of
from memoranda.ledger.unit import Current, Draft, EntryPlace, StoredEntry, Unit, Version
from memoranda.ledger.walk import OBJECT_KINDS
from memoranda.stores.shorthand import ENTRY, InShorthand, packed, packed_fields, unpacked
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


class Appender:
    """The end of one journal in one transaction: what is added shows after `flush`."""

    def __init__(self, connection: apsw.Connection, journal: int, bodies: InShorthand) -> None:
        self._connection = connection
        self.journal = journal
        self.bodies = bodies
        head: Any = connection.execute(_HEAD, (journal,)).fetchone()
        self.size: int = head[0]
        self._hash: bytes = head[1]
        self._at: int = head[2]
        self._stored = self.size
        self.first: Final = self.size
        self._raw: list[bytes] = []
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
        """Append the drafts of a unit. Time in a journal never goes back."""
        places = []
        journal, pack = self.journal, self.bodies.pack
        at = self._at = max(unit.at, self._at)
        for draft in drafts:
            kind, body, salt, version, tags, replaces, replaced_tags, inputs = draft[:8]
            if draft.unmarks or draft.erased:
                self._take_away(draft)
            seq = since = self.size
            if replaces is not None:
                since, kept = self._replace(replaces, replaced_tags, version, tags)
                tags = [tag for tag in tags if tag not in kept]
                if draft.erases:
                    self._write_replaced()
                    erase_content(self._connection, journal, replaces, self.bodies)
            actor = draft.actor or unit.actor
            digest = sha256(salt + sha256(body).digest()).digest()
            entry = chained_bytes(seq, kind, at, actor, digest, self._hash)
            where = journal << SEQ_BITS | seq
            row = packed_fields(kind, at, seq, digest, self._hash, actor, entry)
            self._entries.append((where, row))
            self._raw.append(entry)
            self._hash = sha256(entry).digest()
            self.size = seq + 1
            places.append(EntryPlace(seq, self._hash))
            if version is None:
                self._bodies.append((where, salt, pack(body, None)))
                if kind in FACT_KINDS:
                    self._note_fact(seq, draft.marks, [(source, draft.output) for source in inputs])
                continue
            self._bodies.append((where, salt, pack(body, version.subject, draft.first)))
            self._has_words = True
            id, created = version.id, version.created_at
            self._versions.append((journal, seq, since, 1, *version))
            self._since[id] = since
            if tags:
                self._tags += [(journal, tag, created, since, id) for tag in tags]
            if inputs:
                self._derivations += [(journal, source, id) for source in inputs]
        return places

    def _replace(
        self,
        replaced: Current,
        replaced_tags: Sequence[str],
        version: Version | None,
        tags: Sequence[str],
    ) -> tuple[int, Sequence[str]]:
        """Make room for the next version: since when that is active, and the tags that stay."""
        self.settle((replaced.id,))  # this very version may still be to be written
        before = self._since.get(replaced.id, replaced.since)
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

    def _take_away(self, fact: Draft) -> None:
        """Take away the marks and bodies that a fact says, maybe of this very transaction."""
        self.flush()
        unmark(self._connection, self.journal, fact.unmarks)
        if fact.erased:
            erase_entries(self._connection, self.journal, fact.erased, fact.marks)

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
            if (entry.seq, entry.previous_entry_hash) != (self.size, self._hash.hex()):
                raise InvalidProof(f"entry {seq} does not follow the entry before it")
            if entry.kind in FACT_KINDS and body is not None:
                self._adopt_fact(self.size, decode(body))
            self._has_words = self._has_words or entry.kind in OBJECT_KINDS
            where = place(self.journal, self.size)
            self._entries.append((where, packed(raw, ENTRY)))
            if salt is not None and body is not None:
                self._bodies.append((where, salt, self.bodies.pack(body, subject_of(body))))
            self._raw.append(raw)
            self._hash, self._at = entry_hash(raw), entry.at
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
        ENTRY_ROWS.run(connection, self._entries)
        BODY_ROWS.run(connection, self._bodies)
        if self._replaced:
            self._write_replaced()
        try:
            VERSION_ROWS.run(connection, self._versions)
        except apsw.ConstraintError:
            raise RecordExists(self._first_in_use()) from None
        self._tags.sort()
        TAG_ROWS.run(connection, self._tags)
        _DERIVATIONS.run(connection, self._derivations)
        MARK_ROWS.run(connection, self._marks)
        for node in completed(self._stored, self.size):
            hashes = self._block(node)
            if len(hashes) == BLOCK:  # where an entry was lost, there is no node over it
                row = (self.journal, node.level, node.number, node_of(hashes))
                _NODES.run(connection, [row])
        connection.execute(MOVE_HEAD, (self.size, self._hash, self._at, self.journal))
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

    def _block(self, node: StoredNode) -> list[bytes]:
        level, number = node.block
        start, end = number * BLOCK, (number + 1) * BLOCK
        if level < STRIDE:
            places = (place(self.journal, start), place(self.journal, self._stored))
            entries: Any = self._connection.execute(LEAVES, places)
            before = [unpacked(entry, ENTRY) for (entry,) in entries]
            first = max(start - self._stored, 0)
            return leaves(before + self._raw[first : end - self._stored])
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
