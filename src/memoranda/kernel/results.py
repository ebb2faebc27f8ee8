"""Results: what a verb returns, as plain JSON, in one short line, and as a table in a notebook.

A result is a frozen dataclass that derives from `Result`; several of them in order are `Rows`. On
the wire a member has its Python name in camelCase, `is_sealed` as `sealed`. A document that a seed
defines keeps the seed's names, because it has a `to_wire` of its own.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from itertools import islice
from reprlib import Repr
from typing import Any, Final, Protocol, TypeVar, cast, overload, runtime_checkable

from pydantic import BaseModel
from pydantic.alias_generators import to_camel
from pydantic_core import to_jsonable_python

from memoranda.kernel.json import JsonValue
from memoranda.kernel.wire import ClosedPart

LONGEST: Final = 200
"""How many characters the `repr` of a result has at most."""
_HASH: Final = re.compile(r"\b([0-9a-f]{8})[0-9a-f]{24,}\b")
_ROWS_SHOWN: Final = 100
_CELL: Final = 200


class _Short(Repr):
    """The repr of a member: a long text is cut, a hash shows its beginning."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = self.maxdict = self.maxlist = self.maxtuple = 2
        self.maxstring, self.maxother = 40, 60

    def repr_str(self, x: str, level: int) -> str:
        return super().repr_str(_HASH.sub(r"\1…", x[:LONGEST]), level)


_SHORT: Final = _Short()


@runtime_checkable
class Wired(Protocol):
    """Whatever has a form as JSON."""

    def to_wire(self) -> JsonValue:
        """The value as plain JSON."""
        ...


class Result:
    """What a verb returns: a value that can be sent, printed and compared."""

    __slots__ = ()

    def wire_members(self) -> Mapping[str, object]:
        """What the JSON form has, under the Python names; by default all fields."""
        return members(self)

    def row(self) -> Mapping[str, object]:
        """What a table shows of it; by default the same."""
        return self.wire_members()

    def to_wire(self) -> dict[str, JsonValue]:
        """All of it as plain JSON."""
        return {_wire_name(name): plain(value) for name, value in self.wire_members().items()}

    def __repr__(self) -> str:
        return short_repr(self, self.wire_members())


R_co = TypeVar("R_co", bound=Result, covariant=True)


class Rows(Sequence[R_co]):
    """Several results in order; a notebook shows them as a table."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[R_co]) -> None:
        self._rows = tuple(rows)

    @overload
    def __getitem__(self, index: int, /) -> R_co: ...
    @overload
    def __getitem__(self, index: slice, /) -> Sequence[R_co]: ...
    def __getitem__(self, index: int | slice, /) -> R_co | Sequence[R_co]:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows | list | tuple):
            return NotImplemented
        return self._rows == tuple(other)

    def __hash__(self) -> int:
        return hash(self._rows)

    def to_wire(self) -> JsonValue:
        """All of them as plain JSON."""
        return [row.to_wire() for row in self._rows]

    def __repr__(self) -> str:
        said = f"{type(self).__name__}({self._count()}: {', '.join(map(repr, self._rows[:2]))}"
        return _cut(said, LONGEST - 1) + ")"

    def _count(self) -> str:
        return str(len(self))

    def _repr_html_(self) -> str:
        return html_table(self._rows)


def members(result: object) -> dict[str, object]:
    """The fields of a dataclass; one that is None by default is left out while it is None."""
    found = {}
    for field in fields(cast("Any", result)):
        value = getattr(result, field.name)
        if not (value is None and field.default is None):
            found[field.name] = value
    return found


def plain(value: object) -> JsonValue:
    """A value as plain JSON: lists for sequences, dicts for mappings, digits for bytes."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return value.hex()
        case BaseModel() if not isinstance(value, Wired):
            is_ours = isinstance(value, ClosedPart)
            return value.model_dump(mode="json", by_alias=True, exclude_none=is_ours)
        case Wired():
            return value.to_wire()
        case Mapping():
            return {str(name): plain(member) for name, member in value.items()}
        case Collection():
            return [plain(member) for member in value]
        case _:
            return to_jsonable_python(value, by_alias=True)


def short_repr(value: object, members: Mapping[str, object]) -> str:
    """The class and as many of the members as fit into one short line."""
    said = ", ".join(f"{name}={_SHORT.repr(member)}" for name, member in members.items())
    return _cut(f"{type(value).__name__}({said}", LONGEST - 1) + ")"


def html_table(results: Sequence[Result]) -> str:
    """A table of results for a notebook; whatever they say is text there, never markup."""
    rows = [result.row() for result in islice(results, _ROWS_SHOWN)]
    if not rows:
        return "<p>nothing</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in rows[0])
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(value)}</td>' for value in row.values())}</tr>" for row in rows
    )
    more = len(results) - len(rows)
    after = f"<p>and {more:,} more</p>" if more else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{after}"


def _wire_name(name: str) -> str:
    return to_camel(name.removeprefix("is_"))


def _cell(value: object) -> str:
    return escape("" if value is None else _cut(_HASH.sub(r"\1…", str(value)), _CELL))


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
