"""Columns as arrays of PostgreSQL, in its binary form.

psycopg knows lists too, but looks at every element to find out what the list is of, and writes
bytes as text: for the thirty short columns of a write that costs more than the trip.
"""

import struct
from collections.abc import Iterable
from typing import Any, ClassVar, Final

from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper
from psycopg.pq import Format

_HEADER: Final = struct.Struct("!iiIii")  # dimensions, is there a null, of what, how many, from
_EMPTY: Final = struct.Struct("!iiI")
_LENGTH: Final = struct.Struct("!i")
_INTEGER: Final = struct.Struct("!iq")
_NULL: Final = _LENGTH.pack(-1)
_TRUE: Final = _LENGTH.pack(1) + b"\x01"
_FALSE: Final = _LENGTH.pack(1) + b"\x00"


class Texts(list[str | None]):
    """A text[]."""


class Integers(list[int | None]):
    """A bigint[]."""


class Blobs(list[bytes]):
    """A bytea[]."""


class Flags(list[bool]):
    """A boolean[]."""


def register(context: AdaptContext) -> None:
    """Let a connection take these as parameters."""
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


class _FlagsDumper(_ArrayDumper):
    oid, element = 1000, 16

    def elements(self, values: Flags) -> Iterable[bytes]:
        return [_TRUE if value else _FALSE for value in values]


_DUMPERS: Final[dict[type, type[_ArrayDumper]]] = {
    Texts: _TextsDumper,
    Integers: _IntegersDumper,
    Blobs: _BlobsDumper,
    Flags: _FlagsDumper,
}
