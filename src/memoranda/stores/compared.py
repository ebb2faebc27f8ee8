"""What is read is what was written: each body is compared with the digest in its entry.

Both databases make what they hand out here, so that no reader can forget to compare. What differs
is damage: EntryDamaged, which names the entry. Only a verification doesn't come by, which names
all damage itself. An erasure learns of the damage, and removes what is there (`stand_in`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple, TypeVar

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.codec import BodyCodec, Unreadable
from memoranda.ledger.lifecycle import ERASED as FORGOTTEN
from memoranda.ledger.object import TYPE, integrity_digest
from memoranda.ledger.unit import Current, Past, StoredEntry, Version, new_current

R = TypeVar("R")

ERASED: Final = "erased"
"""The status of a version without content."""

_WIDTH: Final = len(Version._fields)
_NOTHING_MORE: Final = tuple(Current._field_defaults.values())[:-1]
"""What is between the body and `since`: only for a unit that erases."""

ReadDigest = Callable[[bytes], bytes | None]
"""The body digest in an entry as a database stores it; None if it is no entry."""


class Versions(NamedTuple):
    """The digests of an object's versions, by number, and what is damaged of them."""

    digests: Sequence[tuple[int, str]]
    damaged: Sequence[EntryDamaged]


class Compared:
    """Makes rows into values, and compares each body with its entry on the way."""

    def __init__(
        self, bodies: BodyCodec, digest_in: ReadDigest, unpacked: Callable[[bytes], bytes]
    ) -> None:
        """`unpacked` gives the bytes of an entry from what is stored of it."""
        self._bodies = bodies
        self._unpack = bodies.unpack
        self._digest_in = digest_in
        self._unpacked = unpacked

    def body(
        self, seq: int, entry: bytes | None, salt: bytes | None, stored: bytes | None
    ) -> bytes:
        """The body of an entry; EntryDamaged if it is gone, or another one."""
        if stored is None or salt is None:
            raise EntryDamaged(seq, "body", "its body is not there, and nothing says why")
        digest = None if entry is None else self._digest_in(entry)
        if digest is None:
            raise EntryDamaged(seq, "entry", "it can't be read")
        body = self._unpack(stored)
        if sha256(salt + sha256(body).digest()).digest() != digest:  # `entry.salted`
            raise EntryDamaged(seq, "body", "its body is not the one that was written")
        return body

    def stored(self, entry: bytes, body: bytes) -> tuple[bytes, bytes]:
        """An entry and its body from what is stored of them; whoever erases does not compare."""
        return self._unpacked(entry), self._bodies.unpack(body)

    def numbered(self, row: Sequence[Any]) -> tuple[int, bytes]:
        """The number of an entry, and its bytes."""
        seq, entry = row
        return seq, self._unpacked(entry)

    def current(self, row: Sequence[Any]) -> Current:
        """The version of a row of `selection.COLUMNS`."""
        return new_current((*row[:_WIDTH], self.body(*row[_WIDTH:]), *_NOTHING_MORE, -1))

    def placed(self, row: Sequence[Any]) -> Current:
        """The same of a row that begins with the entry since which it is active."""
        body = self.body(*row[_WIDTH + 1 :])
        return new_current((*row[1 : _WIDTH + 1], body, *_NOTHING_MORE, row[0]))

    def all_placed(
        self, rows: Iterable[Sequence[Any]], damaged: list[EntryDamaged] | None
    ) -> Iterator[Current]:
        """The same for several.

        Where there is a list for them, the damaged ones are left out and go there.
        """
        return (current for _, current in _undamaged(rows, self.placed, damaged))

    def currents(
        self, rows: Iterable[Sequence[Any]], damaged: list[EntryDamaged] | None
    ) -> Iterator[tuple[int, Current]]:
        """Versions with the numbers of their entries; the damaged ones likewise."""
        return ((row[_WIDTH], one) for row, one in _undamaged(rows, self.current, damaged))

    def entries(
        self, rows: Iterable[Sequence[Any]], damaged: list[EntryDamaged] | None
    ) -> dict[int, StoredEntry]:
        """Entries that have a body, by number; the damaged ones likewise."""
        return {row[0]: stored for row, stored in _undamaged(rows, self.marked, damaged)}

    def past(self, row: Sequence[Any]) -> Past:
        """A version with its entry; without a body where its row says that it was erased."""
        version = Version._make(row[:_WIDTH])
        seq, entry, _, stored = row[_WIDTH:]
        is_gone = stored is None and version.status == ERASED and entry is not None
        body = None if is_gone else self.body(*row[_WIDTH:])
        return Past(version, seq, self._unpacked(entry), body)

    def entry(self, row: Sequence[Any]) -> StoredEntry:
        """An entry from its number, itself, salt and body; the body of some was erased."""
        seq, entry, salt, stored = row
        body = None if stored is None else self.body(seq, entry, salt, stored)
        return StoredEntry(seq, self._unpacked(entry), salt, body)

    def marked(self, row: Sequence[Any]) -> StoredEntry:
        """One that is found by a name, which it has no longer once it is erased."""
        seq, entry, salt, _ = row
        body = self.body(*row)
        return StoredEntry(seq, self._unpacked(entry), salt, body)

    def notice(self, row: Sequence[Any]) -> StoredEntry:
        """One about the memory as a whole: of a damaged one nothing is left but that it is.

        A database opens even so, and whoever folds the notices counts it as unreadable.
        """
        try:
            return self.marked(row)
        except EntryDamaged as found:
            marked = Unreadable(b"")
            marked.why = found.why
            return StoredEntry(row[0], self._unpacked(row[1]), row[2], marked)

    # ------------------------------------------------------------------- for an erasure

    def erasable(self, row: Sequence[Any]) -> Current:
        """The version of a row of `selection.COLUMNS`; without a body where that is damaged."""
        try:
            return self.current(row)
        except EntryDamaged:
            return Current(*row[:_WIDTH], b"")  # type: ignore[call-arg]  # it has ten

    def versions(self, rows: Iterable[Sequence[Any]]) -> Versions:
        """What an erasure says of the versions of an object: their numbers, then as in `body`.

        A body that is not what was written has no digest to be named: in its place stands the one
        that its entry names.
        """
        digests, damaged = [], []
        for number, *row in rows:
            try:
                digest = integrity_digest(self.body(*row))
            except EntryDamaged as found:
                damaged.append(found)
                entry = row[1]
                named = None if entry is None else self._digest_in(entry)
                digest = integrity_digest(b"") if named is None else named.hex()
            digests.append((number, digest))
        return Versions(digests, damaged)


def _undamaged(
    rows: Iterable[Sequence[Any]],
    make: Callable[[Sequence[Any]], R],
    damaged: list[EntryDamaged] | None,
) -> Iterator[tuple[Sequence[Any], R]]:
    for row in rows:
        try:
            made = make(row)
        except EntryDamaged as found:
            if damaged is None:
                raise
            damaged.append(found)
        else:
            yield row, made


def stand_in(current: Current, tags: Sequence[str], inputs: Sequence[str]) -> Current:
    """A version whose body is not what was written, for who erases it: what its rows say."""
    document: dict[str, Any] = {
        "id": current.id,
        "type": TYPE,
        "statement": FORGOTTEN,
        "applicability_scope": None,
        "version": str(current.number),
    }
    if current.status != "active":
        document["status"] = current.status
    if tags:
        document["tags"] = list(tags)
    if inputs:
        document["inputs"] = [{"id": input_} for input_ in inputs]
    return current._replace(body=canonical_bytes(document))
