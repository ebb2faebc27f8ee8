"""Arrays of PostgreSQL in its binary form: of plain values, and of whole rows of a table.

psycopg knows lists too, but looks at every element to find out what the list is of, and writes
bytes as text: for the rows of a write that costs more than the trip.
"""

import struct
from binascii import hexlify
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple
from weakref import WeakKeyDictionary

from psycopg import AsyncConnection
from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper
from psycopg.pq import Format

from memoranda.identity import sha256
from memoranda.ledger.unit import Version
from memoranda.stores.statements import Blobs, Integers, Texts

_HEADER: Final = struct.Struct("!iiIii")  # dimensions, is there a null, of what, how many, from
_EMPTY: Final = struct.Struct("!iiI")
_LENGTH: Final = struct.Struct("!i")
_INTEGER: Final = struct.Struct("!iq")
_NULL: Final = _LENGTH.pack(-1)


class PackedRows(NamedTuple):
    """Rows of a table, packed; `table` is the number of the table's row type."""

    table: int
    rows: Sequence[bytes]


def register(context: AdaptContext) -> None:
    for kind, dumper in _DUMPERS.items():
        context.adapters.register_dumper(kind, dumper)


class _ArrayDumper(Dumper):
    format = Format.BINARY
    element: ClassVar[int]

    def dump(self, obj: Any) -> bytes:
        if not obj:
            return _EMPTY.pack(0, 0, self.element)
        elements = b"".join(self.elements(obj))
        return _HEADER.pack(1, int(None in obj), self.element, len(obj), 1) + elements

    def elements(self, values: Any) -> Iterable[bytes]:
        raise NotImplementedError


class _TextsDumper(_ArrayDumper):
    oid, element = 1009, 25

    def elements(self, values: Texts) -> Iterable[bytes]:
        for value in values:
            if value is None:
                yield _NULL
            else:
                encoded = value.encode()
                yield _LENGTH.pack(len(encoded))
                yield encoded


class _IntegersDumper(_ArrayDumper):
    oid, element = 1016, 20

    def elements(self, values: Integers) -> Iterable[bytes]:
        return [_NULL if value is None else _INTEGER.pack(8, value) for value in values]


class _BlobsDumper(_ArrayDumper):
    oid, element = 1001, 17

    def elements(self, values: Blobs) -> Iterable[bytes]:
        for value in values:
            yield _LENGTH.pack(len(value))
            yield value


class _RowsDumper(Dumper):
    format = Format.BINARY
    oid = 0  # the function that is called says what it takes

    def dump(self, obj: Any) -> bytes:
        table, rows = obj
        return b"".join((_HEADER.pack(1, 0, table, len(rows), 1), *rows))


# ------------------------------------------------------------------------------------------------
# Rows of tables: the length of a row and the number of its columns, then the type of each, its
# length and itself.

_BIGINT: Final = 20
_BYTEA: Final = 17
_TEXT: Final = 25
_COLUMN: Final = struct.Struct("!Ii").pack  # a type and a length
_ROW: Final = struct.Struct("!ii").pack


def _whole(value: int | None) -> bytes:
    return _NULL if value is None else _INTEGER.pack(8, value)


def _text(value: str | None) -> bytes:
    return _NULL if value is None else _blob(value.encode())


def _blob(value: bytes | None) -> bytes:
    return _NULL if value is None else _LENGTH.pack(len(value)) + value


_COLUMNS: Final[Mapping[str, tuple[int, Callable[[Any], bytes]]]] = {
    "i": (_BIGINT, _whole),
    "t": (_TEXT, _text),
    "b": (_BYTEA, _blob),
}


def _packed(columns: str) -> Callable[[Sequence[Any]], bytes]:
    """Packs some columns, a letter for each."""
    packs = [_COLUMNS[column][1] for column in columns]
    template = b"".join(_LENGTH.pack(_COLUMNS[column][0]) + b"%b" for column in columns)
    return lambda values: template % tuple([pack(value) for pack, value in zip(packs, values)])  # noqa: B905 - for each row


class RowForm:
    """How the rows of a table are packed: a letter for each column, in the order of the table."""

    def __init__(self, table: str, columns: str) -> None:
        self.table = table
        self._count = len(columns)
        self._columns = _packed(columns)

    def pack(self, row: Sequence[Any]) -> bytes:
        packed = self._columns(row)
        return _ROW(4 + len(packed), self._count) + packed


MARK: Final = RowForm("marks", "iti")
DERIVATION: Final = RowForm("derivations", "itt")
NODE: Final = RowForm("nodes", "iiib")
RETRY: Final = RowForm("retries", "ibbbtiii")

# Every record has rows in these tables. They are written in a few pieces, without a call for each
# column: that takes a third of the time, which in a batch is what most of the time goes into.
_ENTRY: Final = struct.Struct("!iiIiqIiqIi")
_VERSION: Final = struct.Struct("!iiIiqIiqIiqIiqIiqIiiIi?Ii")
_TAG: Final = struct.Struct("!iiIiqIiqIiqIi")
# What a row takes besides its texts and bytes; its own length is no part of that.
_ENTRY_BYTES: Final = _ENTRY.size - 4 + 2 * 8
_VERSION_BYTES: Final = _VERSION.size - 4 + 8
_TAG_BYTES: Final = _TAG.size - 4 + 8
_ERASED: Final = _COLUMN(_BYTEA, -1) * 2
_MORE: Final = _packed("iiit")
_NO_MORE: Final = _MORE([None] * 4)
_NOT_LONG: Final = _COLUMN(_TEXT, -1)


def entry_row(
    journal: int, seq: int, entry: bytes, salt: bytes | None, body: bytes | None
) -> bytes:
    """A row of `entries`."""
    rest: tuple[bytes, ...] = (_ERASED,)
    size = _ENTRY_BYTES + len(entry)
    if salt is not None and body is not None:
        rest = (_COLUMN(_BYTEA, len(salt)), salt, _COLUMN(_BYTEA, len(body)), body)
        size += len(salt) + len(body)
    start = _ENTRY.pack(size, 5, _BIGINT, 8, journal, _BIGINT, 8, seq, _BYTEA, len(entry))
    return b"".join((start, entry, *rest))


def version_row(journal: int, version: Version, seq: int, since: int, *, is_newest: bool) -> bytes:
    """A row of `versions`."""
    id, number, status, created, updated, *more = version
    raw, state = id.encode(), status.encode()
    end = _NO_MORE if more == [None] * 4 else _MORE(more)
    start = _VERSION.pack(
        _VERSION_BYTES + len(state) + len(raw) + len(end),
        13, _BIGINT, 8, journal, _BIGINT, 8, seq, _BIGINT, 8, since, _BIGINT, 8, created,
        _BIGINT, 8, updated, 23, 4, number, 16, 1, is_newest, _TEXT, len(state),
    )  # fmt: skip
    return b"".join((start, state, _COLUMN(_TEXT, len(raw)), raw, end))


def tag_row(journal: int, tag: str, created_at: int, since: int, id: str) -> bytes:
    """A row of `tags`."""
    raw, name = tag.encode(), id.encode()
    key = tag_key(raw)
    whole = _NOT_LONG if key is raw else _COLUMN(_TEXT, len(raw)) + raw
    start = _TAG.pack(
        _TAG_BYTES + len(key) + len(name) + len(whole),
        6, _BIGINT, 8, journal, _BIGINT, 8, created_at, _BIGINT, 8, since, _TEXT, len(key),
    )  # fmt: skip
    return b"".join((start, key, _COLUMN(_TEXT, len(name)), name, whole))


_LONGEST_TAG: Final = 96
_BY_DIGEST: Final = b"sha256:"


def tag_key(tag: bytes) -> bytes:
    """`memoranda.tag_key`: a tag as it stands in the index, by its digest when it is long."""
    if len(tag) <= _LONGEST_TAG and not tag.startswith(_BY_DIGEST):
        return tag
    return _BY_DIGEST + hexlify(sha256(tag))


RowTypes = Mapping[str, int]
"""The numbers of the tables' row types, which differ from database to database."""

_ROW_TYPES: Final = (
    "SELECT c.relname::text, c.reltype FROM pg_class c"
    " WHERE c.relnamespace = to_regnamespace('memoranda') AND c.relkind = 'r'"
)
_known: WeakKeyDictionary[AsyncConnection[Any], RowTypes] = WeakKeyDictionary()


async def row_types(connection: AsyncConnection[Any]) -> RowTypes:
    found = _known.get(connection)
    if found is None:
        rows = await (await connection.execute(_ROW_TYPES)).fetchall()
        found = _known[connection] = {str(name): int(number) for name, number in rows}
    return found


def rows_of_table(types: RowTypes, form: RowForm, rows: Iterable[Any]) -> PackedRows | None:
    """Rows as a parameter; None if there are none."""
    return packed_rows(types, form.table, [form.pack(row) for row in rows])


def packed_rows(types: RowTypes, table: str, rows: list[bytes]) -> PackedRows | None:
    """The same of rows that are packed."""
    return PackedRows(types[table], rows) if rows else None


_DUMPERS: Final[dict[type, type[Dumper]]] = {
    Texts: _TextsDumper,
    Integers: _IntegersDumper,
    Blobs: _BlobsDumper,
    PackedRows: _RowsDumper,
}
