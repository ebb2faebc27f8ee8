"""Arrays of PostgreSQL in its binary form: of plain values, and of whole rows of a table.

psycopg knows lists too, but looks at every element to find out what the list is of, and writes
bytes as text: for the rows of a write that costs more than the trip.
"""

import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

from psycopg import AsyncConnection
from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper
from psycopg.pq import Format

from memoranda.stores.statements import Blobs, Integers, Texts

_HEADER: Final = struct.Struct("!iiIii")  # dimensions, is there a null, of what, how many, from
_EMPTY: Final = struct.Struct("!iiI")
_LENGTH: Final = struct.Struct("!i")
_INTEGER: Final = struct.Struct("!iq")
_NULL: Final = _LENGTH.pack(-1)


class PackedRows(list[bytes]):
    """Rows of a table, as `row` packs them; `table` is the number of the table's row type."""

    def __init__(self, table: int, rows: Iterable[bytes]) -> None:
        super().__init__(rows)
        self.table = table


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
        rows = (part for row in obj for part in (_LENGTH.pack(len(row)), row))
        return _HEADER.pack(1, 0, obj.table, len(obj), 1) + b"".join(rows)


def _whole(value: int | None) -> bytes:
    return _NULL if value is None else _INTEGER.pack(8, value)


def _text(value: str | None) -> bytes:
    return _NULL if value is None else _blob(value.encode())


def _blob(value: bytes | None) -> bytes:
    return _NULL if value is None else _LENGTH.pack(len(value)) + value


_COLUMNS: Final[Mapping[str, tuple[int, Callable[[Any], bytes]]]] = {
    "i": (20, _whole),  # bigint
    "n": (23, partial(struct.Struct("!ii").pack, 4)),  # integer
    "f": (16, partial(struct.Struct("!i?").pack, 1)),  # boolean
    "t": (25, _text),
    "b": (17, _blob),  # bytea
}


class RowForm:
    """How the rows of a table are packed: a letter for each column, in the order of the table."""

    def __init__(self, table: str, columns: str) -> None:
        self.table = table
        self._pack = [_COLUMNS[column][1] for column in columns]
        types = [_LENGTH.pack(_COLUMNS[column][0]) + b"%b" for column in columns]
        self._template = _LENGTH.pack(len(columns)) + b"".join(types)

    def pack(self, values: Sequence[Any]) -> bytes:
        """One row. The field count, then each field's type, its length and itself."""
        return self._template % tuple([pack(value) for pack, value in zip(self._pack, values)])  # noqa: B905 - for each row


ENTRY: Final = RowForm("entries", "iibbb")
VERSION: Final = RowForm("versions", "iiiiinfttiiit")
TAG: Final = RowForm("tags", "iiittt")
MARK: Final = RowForm("marks", "iti")
DERIVATION: Final = RowForm("derivations", "itt")
NODE: Final = RowForm("nodes", "iiib")
RETRY: Final = RowForm("retries", "ibbbtiii")

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
    packed = [form.pack(row) for row in rows]
    return PackedRows(types[form.table], packed) if packed else None


_DUMPERS: Final[dict[type, type[Dumper]]] = {
    Texts: _TextsDumper,
    Integers: _IntegersDumper,
    Blobs: _BlobsDumper,
    PackedRows: _RowsDumper,
}
