"""The second pass of a verification: rows are derived from the journal anew, and compared.

1. a row stands for an entry about an object, and no other row stands for the same
2. it says what the object's document says; of an erased one, that it is erased
3. the versions of an object are 1, 2, 3 …, each naming the hash of the one before
4. the document is in canonical form, and no rule for bodies is broken     (`body`)
5. the newest version is marked as such, and no other
6. from every entry about an object a row follows
7. the index of tags has the tags of what is active, and nothing else
8. the word index has the words of what was active when it was last brought forward, with their
   counts, lengths and threads, likewise
9. what was derived from what is listed, and nothing else
10. content that is gone has a tombstone after it, and before a tombstone all content is gone
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, Protocol

from memoranda.identity import sha256
from memoranda.kernel.errors import InvalidProof
from memoranda.ledger.body import broken_event, broken_member, document_of
from memoranda.ledger.codec import Unreadable
from memoranda.ledger.damage import Damages
from memoranda.ledger.derive import document_row, inputs_in, row_of, searched_text, tags_of
from memoranda.ledger.fields import embedded_texts
from memoranda.ledger.object import data_of, hash_name, integrity_digest, is_indexed, status_of
from memoranda.ledger.snapshot import StoredRow, StoredTag
from memoranda.ledger.unit import Version
from memoranda.ledger.words import document_tag, thread_tag

BUCKETS: Final = 256

KINDS_OF_OBJECTS: Final = ("", "create", "consolidate", "invalidate", "archive")
"""The kinds of entries whose body is an object, by the number that a walk notes them by."""

MISSING: Final = 255
"""Stands for the kind of an entry that is not there."""


def erased_row(id: str, number: int) -> Version:
    """The row of a version whose content was erased: nothing of it but that it was."""
    return Version(id, number, "erased", 0, 0, None, None, None, None)


class SummedWords(Protocol):
    """The words of an index, as they are compared with those of objects (`recall.sums`)."""

    indexed: int

    def is_as(self, seq: int, text: str, *, is_counted: bool) -> tuple[bool, int]:
        """Whether the postings of an entry are the words of a text; and how many words it has."""
        ...

    def finish(self, damages: Damages) -> None:
        """Whatever was not asked for has no place in the index."""
        ...


class RowWalk:
    """Feed it the rows by id and number, then `finish`."""

    def __init__(
        self,
        objects: bytes | bytearray,
        damages: Damages,
        words: SummedWords | None = None,
        *,
        key: bytes = b"",
    ) -> None:
        """`key` is random, and of one verification: see `TagSums`."""
        self._objects = objects
        self._words = words
        self._seen = bytearray(len(objects))
        self._damages = damages
        self.tags = TagSums(key)
        self.derivations = TagSums(key)
        self.documents = TagSums(key)
        """What recall knows of objects, and their threads."""
        self.count = 0
        self._last: StoredRow | None = None
        self.embedded: dict[int, int] = {}
        """How many vectors the newest version of an object is to have, where that is not one."""
        self._since = 0
        self._document: Any = None
        self._digest: str | None = None
        self._indexed: tuple[StoredRow, Any] | None = None
        self._gone: list[int] = []
        self._there: list[int] = []

    def feed(self, rows: Iterable[StoredRow]) -> None:
        for row in rows:
            self.count += 1
            self._check(row)

    def finish(self) -> None:
        self._end_of_object()
        # 6.
        for seq, (wanted, seen) in enumerate(zip(self._objects, self._seen, strict=True)):
            if wanted not in (0, MISSING) and not seen:
                self._damages.add("row", seq, "it is about an object, and no row stands for it")
        if self._words is not None:
            self._words.finish(self._damages)

    # ------------------------------------------------------------------------- checks

    def _check(self, row: StoredRow) -> None:
        last, version = self._last, row.version
        if last is None or last.version.id != version.id:
            self._end_of_object()
            last, self._digest, self._indexed = None, None, None
            self._gone, self._there = [], []
        elif last.is_newest:
            # 5.
            self._report(last, "it is marked as the newest version and is not")
        before = 0 if last is None else last.version.number
        # 2.
        is_going_on = last is not None and last.version.status == version.status == "active"
        self._since = self._since if is_going_on else row.seq
        if row.since != self._since:
            self._report(row, "it does not name the entry since which it has been active")
        # 3.
        if version.number != before + 1:
            self._report(row, f"version {version.number} follows version {before}")
        kind = self._kind(row)
        self._last, self._document = row, None
        if kind is not None:
            if row.body is None:
                self._gone.append(row.seq)
                self._digest = None
                # 2.
                if version != erased_row(version.id, version.number):
                    self._report(row, "its content is gone, and its row does not say so")
            else:
                self._check_object(row, kind, row.body)
                self._check_erasure(row.seq)
        if self._words is not None and 0 <= row.seq < self._words.indexed:
            self._indexed = (row, self._document)

    def _kind(self, row: StoredRow) -> str | None:
        """The kind of the entry that a row stands for; None if that is of no object."""
        # 1.
        seq = row.seq
        number = self._objects[seq] if 0 <= seq < len(self._objects) else MISSING
        if number == MISSING:
            self._report(row, "the entry that it stands for is not there")
            return None
        if self._seen[seq]:
            self._report(row, "another row stands for the same entry")
        self._seen[seq] = 1
        if not number:
            self._report(row, "the entry that it stands for is not about an object")
            return None
        return KINDS_OF_OBJECTS[number]

    def _check_object(self, row: StoredRow, kind: str, body: bytes) -> None:
        if isinstance(body, Unreadable):
            self._digest = None
            return  # the first pass has said so
        # 4.
        self._digest, digest = integrity_digest(body), self._digest
        try:
            document = document_of(body)
        except InvalidProof as refused:
            self._damages.add("form", row.seq, refused.why)
            return
        if (broken := broken_member(document)) is not None:
            self._damages.add("object", row.seq, broken)
            return
        if (broken := broken_event(kind, document)) is not None:
            self._damages.add("object", row.seq, broken)
        # 2.
        derived = row_of(document)
        if derived != row.version:
            self._report(row, _difference(derived, row.version))
        # 3.
        if digest is not None and document.get("supersedes") != hash_name(digest):
            self._damages.add("object", row.seq, "it does not name the hash of the version before")
        # 9.
        for source in inputs_in(document):
            self.derivations.add(derivation(source, row.version.id))
        self._document = document

    def _check_erasure(self, seq: int) -> None:
        # 9.
        document = self._document
        if document is not None and status_of(document) == "erased":
            for before in self._there:
                self._damages.add("object", before, "it was erased, and its content is there")
            self._gone, self._there = [], []
        self._there.append(seq)

    def _end_of_object(self) -> None:
        last, document = self._last, self._document
        if last is None:
            return
        # 9.
        for seq in self._gone:
            self._damages.add("object", seq, "its content is gone, and no tombstone says why")
        # 5.
        if not last.is_newest:
            self._report(last, "it is the newest version and is not marked as such")
        # 7.
        if document is not None and last.is_newest:
            for tag in tags_of(document):
                self.tags.add(StoredTag(tag, last.version.created_at, last.version.id, self._since))
            if (number := len(embedded_texts(document))) != 1:
                self.embedded[last.seq] = number
        # 8.
        if self._words is not None and self._indexed is not None:
            row, indexed = self._indexed
            if indexed is not None:
                self._check_words(self._words, row, indexed)

    def _check_words(self, sums: SummedWords, row: StoredRow, document: Any) -> None:
        data = data_of(document)
        text = searched_text(document, data)
        is_counted = status_of(document) == "active" and is_indexed(document)
        is_same, length = sums.is_as(row.seq, text, is_counted=is_counted)
        if not is_same:
            why = f"it has not the words of {row.version.id!r}, version {row.version.number}"
            self._damages.add("index", row.seq, why)
        known = document_row(document, data, row.seq, text, length) if is_counted else None
        if known is not None:
            self.documents.add(document_tag(known))
            if known.thread:
                self.documents.add(thread_tag(known.thread, row.seq))

    def _report(self, row: StoredRow, why: str) -> None:
        id, number = row.version.id, row.version.number
        self._damages.add("row", row.seq, f"the row of {id!r}, version {number}: {why}")


def _difference(derived: Version, stored: Version) -> str:
    names = [
        name
        for name, number, other in zip(Version._fields, derived, stored, strict=True)
        if number != other
    ]
    return f"it differs from the object in {', '.join(names)}"


# --------------------------------------------------------------------------------- tags


class TagSums:
    """Rows of the index of tags, summed up in buckets: equal sums are equal rows.

    So two lists are compared that come in different orders and need not fit into memory. Their
    hashes begin with a key that is drawn for one verification: rows whose hashes add up to
    nothing can be found by whoever knows how they are hashed (a generalized birthday).
    """

    def __init__(self, key: bytes) -> None:
        self.sums = [0] * BUCKETS
        self._key = key

    def add(self, row: StoredTag) -> None:
        digest = self._digest(row)
        self.sums[digest[0]] += int.from_bytes(digest)

    def add_all(self, rows: Iterable[StoredTag]) -> None:
        for row in rows:
            self.add(row)

    def take(self, row: StoredTag) -> None:
        """Take a row away that was added, or will be."""
        digest = self._digest(row)
        self.sums[digest[0]] -= int.from_bytes(digest)

    def add_sums(self, other: "TagSums") -> None:
        """Add the rows of another list, summed up with the same key."""
        self.sums = [number + two for number, two in zip(self.sums, other.sums, strict=True)]

    def differing(self, other: "TagSums") -> frozenset[int]:
        pairs = enumerate(zip(self.sums, other.sums, strict=True))
        return frozenset(bucket for bucket, (number, two) in pairs if number != two)

    def in_buckets(self, rows: Iterable[StoredTag], buckets: frozenset[int]) -> Iterator[StoredTag]:
        """Those of some rows that fall into these buckets."""
        return (row for row in rows if self._digest(row)[0] in buckets)

    def _digest(self, row: StoredTag) -> bytes:
        tag, created_at, id, since = row
        framed = f"{len(tag)}:{len(id)}:{created_at}:{since}:{tag}{id}"
        return sha256(self._key + framed.encode())


def derivation(source: str, output: str) -> StoredTag:
    """What was made from what, as a row that is summed up like those of tags."""
    return StoredTag(source, 0, output)


def tags_of_newest(rows: Sequence[StoredRow]) -> Iterator[StoredTag]:
    """The rows that the index of tags should have for these objects."""
    for row in rows:
        if row.is_newest and row.body is not None and row.version.status == "active":
            for tag in _tags_in(row.body):
                yield StoredTag(tag, row.version.created_at, row.version.id, row.since)


def _tags_in(body: bytes) -> Sequence[str]:
    try:
        document = document_of(body)
    except InvalidProof:
        return ()  # the walk has said so
    return () if broken_member(document) else tags_of(document)
