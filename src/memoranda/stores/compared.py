"""What is read is what was written: each body is compared with the digest in its entry.

Both databases make what they hand out here, so that no reader can forget to compare. What differs
is damage: EntryDamaged, which names the entry. Only two readers don't come by: a verification,
which names all damage itself, and an erasure, which removes a body whatever it says.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from memoranda.identity import sha256
from memoranda.kernel.errors import EntryDamaged
from memoranda.ledger.codec import BodyCodec, Unreadable
from memoranda.ledger.entry import salted
from memoranda.ledger.unit import Current, Past, StoredEntry, Version

ERASED: Final = "erased"
"""The status of a version without content."""

_WIDTH: Final = len(Version._fields)

ReadDigest = Callable[[bytes], bytes | None]
"""The body digest in an entry as a database stores it; None if it is no entry."""


class Compared:
    """Makes rows into values, and compares each body with its entry on the way."""

    def __init__(
        self, bodies: BodyCodec, digest_in: ReadDigest, unpacked: Callable[[bytes], bytes]
    ) -> None:
        """`unpacked` gives the bytes of an entry from what is stored of it."""
        self._bodies = bodies
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
        body = self._bodies.unpack(stored)
        if salted(salt, sha256(body)) != digest:
            raise EntryDamaged(seq, "body", "its body is not the one that was written")
        return body

    def current(self, row: Sequence[Any]) -> Current:
        """The version of a row of `selection.COLUMNS`."""
        return Current(*row[:_WIDTH], self.body(*row[_WIDTH:]))  # type: ignore[call-arg]  # it has ten

    def currents(
        self, rows: Iterable[Sequence[Any]], damaged: list[EntryDamaged] | None
    ) -> Iterator[tuple[int, Current]]:
        """The same for several, each with its entry's number.

        Where there is a list for them, the damaged ones are left out and go there.
        """
        for row in rows:
            try:
                current = self.current(row)
            except EntryDamaged as found:
                if damaged is None:
                    raise
                damaged.append(found)
            else:
                yield row[_WIDTH], current

    def bodies(
        self, rows: Iterable[Sequence[Any]], damaged: list[EntryDamaged] | None
    ) -> Iterator[tuple[int, bytes]]:
        """Bodies with the numbers of their entries; the damaged ones likewise."""
        for row in rows:
            try:
                body = self.body(*row)
            except EntryDamaged as found:
                if damaged is None:
                    raise
                damaged.append(found)
            else:
                yield row[0], body

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
        return StoredEntry(seq, self._unpacked(entry), salt, self.body(*row))

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


def as_stored(bodies: BodyCodec, row: Sequence[Any]) -> Current:
    """The version of such a row for who erases it, whatever it says.

    EntryDamaged without a body: what it said is not known, so nobody could certify that all of it
    is gone.
    """
    stored = row[-1]
    if stored is None:
        raise EntryDamaged(row[_WIDTH], "body", "its body is not there, and nothing says why")
    return Current(*row[:_WIDTH], bodies.unpack(stored))  # type: ignore[call-arg]  # it has ten
