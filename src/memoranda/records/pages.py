"""Pages: some of what was asked for, and from where to go on.

A cursor is a text that says where a page ended: the order key of its last record, and a digest of
what was asked. It holds no content and no secret. The next page begins at the next record in the
order, whatever was written, changed or forgotten meanwhile: a record that was there all the time
comes exactly once. In the order of updates, a record that is changed moves, as it must.
"""

import base64
import binascii
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from memoranda.identity import canonical_bytes, decode, sha256_hex
from memoranda.kernel.errors import InvalidFilter, InvalidJson
from memoranda.kernel.json import MAX_INTEGER, JsonValue
from memoranda.kernel.results import Result, Rows

R_co = TypeVar("R_co", bound=Result, covariant=True)
V = TypeVar("V")

_DIGEST: Final = 16
"""Hexadecimal digits of the digest of what was asked: against mistakes, not against anyone."""
_PARTS: Final = 3
_MOST: Final = 200
"""Characters that a cursor has at most."""


class Position(NamedTuple):
    """Where a record stands in an order: by time, and what is of one time as it was written.

    In the order of writing there is no time: it is 0.
    """

    time: int
    since: int


class Page(Rows[R_co]):
    """What was found, in its order. `next` is the cursor of what follows; None at the end."""

    __slots__ = ("next",)

    def __init__(self, found: Iterable[R_co], cursor: str | None = None) -> None:
        super().__init__(found)
        self.next: Final = cursor

    def __eq__(self, other: object) -> bool:
        """The same found, in the same order: another page, or a list or tuple of the same."""
        if isinstance(other, Page) and self.next != other.next:
            return False
        return super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # it may hold what has none

    def to_wire(self) -> JsonValue:
        """What was found, as ``items``, and the cursor of what follows, as ``next``."""
        return {"items": super().to_wire(), "next": self.next}

    def _count(self) -> str:
        return f"{len(self)} and more" if self.next else str(len(self))


class Cut(NamedTuple, Generic[V]):
    """What fits on a page, and the cursor of what follows; None at the end."""

    found: Sequence[V]
    next: str | None


def cut(
    found: Sequence[V], limit: int | None, where: Callable[[V], Position], asked: JsonValue
) -> Cut[V]:
    """What was found, cut at the limit: one more than that shows that it is not the last page."""
    if limit is None or len(found) <= limit:
        return Cut(found, None)
    kept = found[:limit]
    return Cut(kept, cursor_at(where(kept[-1]), asked) if kept else None)


def cursor_at(position: Position, asked: JsonValue) -> str:
    """The cursor of a position in the answer to a question."""
    parts = [position.time, position.since, _digest(asked)]
    return base64.urlsafe_b64encode(canonical_bytes(parts)).decode().rstrip("=")


def position_in(cursor: object, asked: JsonValue) -> Position:
    """The position that a cursor holds; InvalidFilter unless it is one of this very question."""
    if not isinstance(cursor, str) or len(cursor) > _MOST:
        raise InvalidFilter("cursor", "a cursor is the text that a page before had as its `next`")
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        parts = decode(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, InvalidJson):
        parts = None
    if not isinstance(parts, list) or len(parts) != _PARTS or not all(map(_is_number, parts[:2])):
        raise InvalidFilter("cursor", "it is none that a page had as its `next`")
    if parts[2] != _digest(asked):
        raise InvalidFilter(
            "cursor", "it is of another question; ask the same again, but for the limit"
        )
    return Position(parts[0], parts[1])


def _digest(asked: JsonValue) -> str:
    return sha256_hex(canonical_bytes(asked))[:_DIGEST]


def _is_number(part: object) -> bool:
    return type(part) is int and -MAX_INTEGER <= part <= MAX_INTEGER
