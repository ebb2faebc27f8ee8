r"""Conditions on data and meta as SQL that leaves out most of what can't fulfil them (MEM-FILTER).

`records.where` is the definition, in Python, and has the last word on every record. SQL only has to
let through whatever it might hold for. That is told from bytes: data and meta are stored as
canonical JSON, in which one value has one form, so a record with the member ``a`` of the value
``"x"`` has ``"a":"x"`` somewhere in its bytes, at whatever depth the path leads to.

- `$eq`, `$in`: the name with the value, or with one of the values.
- `$exists`: the name.
- `$gt` and the others: the name, and what follows it is compared as a number, or byte by byte as a
  text. Where the name comes twice, or a text has escapes, the record is let through.
- `$ne`, `$exists: false`: everything is let through.
- So is what SQL can't read, because it is encrypted or gone.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nextafter
from typing import Final, NamedTuple

from memoranda.identity import canonical_bytes
from memoranda.kernel.json import storable
from memoranda.ledger.passages import BEFORE_STATEMENT
from memoranda.records.where import DataCondition, Where

_MOST_CHOICES: Final = 32
"""Of more values than that only the name is looked for."""
NUMBER_BYTES: Final = 32
"""No number is longer in canonical JSON."""
_TEXT_BYTES: Final = 64
"""So many bytes of two texts are compared."""
_ROUNDING: Final = 1e-12
"""A database may read a number a little greater or less than it is: a margin, in parts of it."""
_WRITTEN_OUT: Final = 1e21
"""Numbers from 1 up to here are written without an exponent."""
_UNESCAPED: Final = re.compile(rb'[^\x00-\x1f"\\]*')
_FEW_BEGINNINGS: Final = 2
"""Of so many it is faster to look for each, with the name before it, than to read what follows."""
_SIGNS: Final = {"$gt": ">=", "$gte": ">=", "$lt": "<=", "$lte": "<="}


class Searched(NamedTuple):
    """A column in which canonical JSON can be searched, and how a piece of that is written there.

    `written` may leave out bytes at both ends, where they depend on what stands around the piece.
    Bytes that stand for something else in a text are its `marks`: with one, it is not compared.
    """

    column: str
    written: Callable[[bytes], bytes]
    marks: Sequence[bytes]


_PASSAGES: Final = [passage for _, passage in BEFORE_STATEMENT]
_ENDS: Final = tuple({passage[n:] for passage in _PASSAGES for n in range(1, len(passage))})
_STARTS: Final = tuple({passage[:n] for passage in _PASSAGES for n in range(1, len(passage))})


def _in_meta(piece: bytes) -> bytes:
    """A piece of meta, without what a passage of the shorthand may take up of it."""
    while piece.startswith(_ENDS):
        piece = piece[1:]
    while piece.endswith(_STARTS):
        piece = piece[:-1]
    has_passage = any(piece in passage or passage in piece for passage in _PASSAGES)
    return b"" if has_passage else piece


PLACES: Final = {
    "data": Searched("b.body", bytes, [b"\\", b'"']),
    "meta": Searched("b.body", _in_meta, [b"\\", b'"', *(code for code, _ in BEFORE_STATEMENT)]),
}
"""Where the data and the meta of a body in shorthand (`stores.shorthand`) are searched."""


@dataclass(frozen=True, slots=True)
class Search:
    """How a database searches bytes; what stands in braces is put in.

    `unseen` is true of bytes that are not canonical JSON in the form that `written` has. `rest` is
    what comes after a piece of them, and `start` how that begins. `number` is the number that they
    begin with, inside of `if_number`, which may be anything if they begin with none. `if_begins`
    spares that where the first byte already tells; it is empty where nothing is gained by that.
    """

    places: Mapping[str, Searched]
    unseen: str
    position: str
    rest: str
    start: str
    number: str
    if_number: str
    if_begins: str = ""


class Narrowing(NamedTuple):
    """A condition in SQL that holds for whatever fits, and its parameters in their order."""

    sql: str
    parameters: list[object]


def narrowing(where: Where, search: Search) -> Narrowing | None:
    """What SQL can say of some conditions; None if that is nothing."""
    bounds: dict[tuple[str, ...], list[DataCondition]] = {}
    found = []
    for one in where:
        if one.operator in _SIGNS and not isinstance(one.operand, str):
            bounds.setdefault(tuple(one.path), []).append(one)
        else:
            found.append(_narrowed(one, search))
    found += [_between(same, search) for same in bounds.values()]
    said = [each for each in found if each is not None]
    if not said:
        return None
    columns = sorted({search.places[condition.path[0]].column for condition in where})
    unread = [f"{column} IS NULL OR {search.unseen.format(column=column)}" for column in columns]
    sql = " AND ".join(each.sql for each in said)
    parameters = [parameter for each in said for parameter in each.parameters]
    return Narrowing(f"({sql} OR {' OR '.join(unread)})", parameters)


def _narrowed(condition: DataCondition, search: Search) -> Narrowing | None:
    name, place = _name(condition), search.places[condition.path[0]]
    if name is None:
        return None
    operand = condition.operand
    match condition.operator:
        case "$eq":
            return _containing([name + canonical_bytes(operand)], place, search)
        case "$in" if 0 < len(operand) <= _MOST_CHOICES:
            values = [name + canonical_bytes(value) for value in operand]
            return _containing(values, place, search)
        case "$in" | "$exists" if operand:
            return _containing([name], place, search)
        case operator if operator in _SIGNS:
            return _beyond(name, _SIGNS[operator], operand, place, search)
    return None


def _name(condition: DataCondition) -> bytes | None:
    """The name of the member that a condition is about, as it stands before its value."""
    _, *steps = condition.path
    return canonical_bytes(steps[-1]) + b":" if steps and storable(steps[-1]) else None


def _containing(pieces: Sequence[bytes], place: Searched, search: Search) -> Narrowing | None:
    written = [place.written(piece) for piece in pieces]
    if not all(written):
        return None
    contained = search.position.format(bytes=place.column) + " > 0"
    return Narrowing(f"({' OR '.join([contained] * len(written))})", list(written))


def _between(same: Sequence[DataCondition], search: Search) -> Narrowing | None:
    name, place = _name(same[0]), search.places[same[0].path[0]]
    if name is None:
        return None
    tests, bounds = list[str](), list[object]()
    low, high = -inf, inf
    for condition in same:
        sign, operand = _SIGNS[condition.operator], condition.operand
        margin = abs(operand) * _ROUNDING * (-1 if sign == ">=" else 1)
        tests.append(f"{search.number} {sign} ?")
        bounds.append(float(operand + margin))
        bound = float(operand)
        match condition.operator:
            case "$gt":
                low = max(low, nextafter(bound, inf))
            case "$gte":
                low = max(low, bound)
            case "$lt":
                high = min(high, nextafter(bound, -inf))
            case _:
                high = min(high, bound)
    test = search.if_number.format(tests=" AND ".join(tests))
    if not search.if_begins:
        return _following(name + b"0", [test], bounds, place, search)
    begins = first_bytes(low, high)
    if 0 < len(begins) <= _FEW_BEGINNINGS:
        begun = _containing([name + bytes([byte]) for byte in begins], place, search)
        compared = _following(name + b"0", [test], bounds, place, search)
        if begun is not None and compared is not None:
            sql = f"({begun.sql} AND {compared.sql})"
            return Narrowing(sql, begun.parameters + compared.parameters)
    test = search.if_begins.format(test=test)
    return _following(name + b"0", [test], [begins, *bounds], place, search)


def first_bytes(low: float, high: float) -> bytes:
    """What the numbers from one to another may begin with in canonical JSON."""
    sign = b"-" if low < 0 else b""
    if high < 0:
        return sign
    if low < 1 or high >= _WRITTEN_OUT:
        return sign + b"0123456789"
    found = set[int]()
    start, end = int(low), int(high)
    while start <= end:
        power = 10 ** (len(str(start)) - 1)
        found.update(range(start // power, min(end // power, 9) + 1))
        start = power * 10
    return "".join(map(str, sorted(found))).encode()


def _beyond(
    name: bytes, sign: str, operand: str, place: Searched, search: Search
) -> Narrowing | None:
    bound = _unescaped(operand)
    part = search.start.format(bytes="n.rest")
    marked = search.position.format(bytes=part) + " > 0"
    compared: list[object] = [len(bound), bound]
    for mark in place.marks:
        compared += [len(bound), mark]
    tests = [f"{part} {sign} ?", *[marked] * len(place.marks)]
    return _following(name + b'"0', tests, compared, place, search)


def _following(
    name: bytes, tests: Sequence[str], compared: list[object], place: Searched, search: Search
) -> Narrowing | None:
    """One of the tests holds for what follows a name, or the name comes again after that.

    Where there is no such name, what is tested is something else, and may be let through. The
    inner SELECT is there so that the name is looked for once: LIMIT keeps it from being written
    out wherever its column is used.
    """
    # The digit after it shows where the name ends, in whatever form: it is no part of any other.
    start = place.written(name)[:-1]
    if not start:
        return None
    again = search.position.format(bytes="n.rest") + " > 0"
    position = search.position.format(bytes=place.column)
    rest = search.rest.format(bytes=place.column, position=position)
    sql = f"(SELECT {' OR '.join([*tests, again])} FROM (SELECT {rest} AS rest LIMIT 1) AS n)"  # noqa: S608 - ours
    return Narrowing(sql, [*compared, start, start, len(start)])


def _unescaped(text: str) -> bytes:
    """How a text begins, up to what canonical JSON writes as an escape."""
    begins = _UNESCAPED.match(text.encode())
    return b"" if begins is None else begins[0][:_TEXT_BYTES]
