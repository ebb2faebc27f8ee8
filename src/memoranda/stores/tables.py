"""What the rows of a snapshot's tables become, in either database."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from memoranda.ledger.codec import BodyCodec
from memoranda.ledger.snapshot import StoredRow, StoredWords
from memoranda.ledger.unit import StoredEntry, Version
from memoranda.stores.postings import ChunkDamaged, checked

Rows = Iterable[Any]
Make = Callable[[BodyCodec, Rows], list[Any]]

_VERSION: Final = slice(len(Version._fields))


class Read(NamedTuple):
    """A statement with the journal as its one parameter, and what its rows become."""

    sql: str
    make: Make


def plain(make: Callable[[Iterable[Any]], Any]) -> Make:
    """Rows whose columns are the fields of a named tuple: `make` is its `_make`."""
    return lambda _, rows: list(map(make, rows))


def each(make: Callable[[BodyCodec, Sequence[Any]], Any]) -> Make:
    return lambda bodies, rows: [make(bodies, row) for row in rows]


def entries(entry_of: Callable[[bytes], bytes]) -> Make:
    """Entries, from their number, themselves, salt and body as they are stored."""

    def made(bodies: BodyCodec, rows: Rows) -> list[StoredEntry]:
        unpack = bodies.unpack
        return [
            StoredEntry(seq, entry_of(entry), salt, None if body is None else unpack(body))
            for seq, entry, salt, body in rows
        ]

    return made


def versions(entry_of: Callable[[bytes], bytes]) -> Make:
    """Rows of versions: their columns, seq, since, is_newest, then entry and body."""

    def made(bodies: BodyCodec, row: Sequence[Any]) -> StoredRow:
        seq, since, is_newest, entry, body = row[_VERSION.stop :]
        return StoredRow(
            Version._make(row[_VERSION]),
            seq,
            since,
            bool(is_newest),
            None if entry is None else entry_of(entry),
            None if body is None else bodies.unpack(body),
        )

    return each(made)


def words(_: BodyCodec, rows: Rows) -> list[StoredWords]:
    """The postings of chunks; those that a search could not read, or would not, have no entries."""
    found: list[StoredWords] = []
    for token, first, body, start, end in rows:
        try:
            seqs, kinds = checked(first, body)
        except ChunkDamaged:
            found.append((token, (), ()))
            continue
        if start is None or not start <= seqs[0] <= seqs[-1] < end:
            found.append((token, (), ()))
        else:
            found.append((token, seqs, kinds))
    return found
