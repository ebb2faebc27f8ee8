r"""Conditions on a record's data and meta, defined once: every store must agree (MEM-FILTER).

A condition names a path and what must hold there::

    {"data.status": {"$in": ["open", "waiting"]}, "meta.attempts": {"$gte": 3}, "data.vip": True}

All conditions must hold. A path begins with `data` or `meta` and goes down through the members of
objects; a dot that belongs to a name is written `\.`. A plain value asks for that very value.

- `$eq`, `$ne`, `$in` compare any JSON values: 1 equals 1.0, true is not 1, "1" is not 1.
- `$gt`, `$gte`, `$lt`, `$lte` compare numbers with numbers, and texts with texts by code point. A
  value of another type is neither greater nor less.
- `$exists` asks whether there is a value at all; null is one.
- Where there is no value, only `$exists: false` and `$ne` hold.
"""

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from memoranda.identity import canonical_bytes
from memoranda.kernel.errors import InvalidFilter, InvalidJson
from memoranda.kernel.json import JsonValue

MAX_CONDITIONS: Final = 32
MAX_DEPTH: Final = 16
MAX_CHOICES: Final = 1_000

ROOTS: Final = ("data", "meta")

Ordering = Callable[[Any, Any], bool]

_ORDERINGS: Final[Mapping[str, Ordering]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OPERATORS: Final = ("$eq", "$ne", "$in", "$exists", *_ORDERINGS)

_STEP: Final = re.compile(r"(?:[^.\\]|\\[.\\])+")


@dataclass(frozen=True, slots=True)
class DataCondition:
    """What must hold at one path. `operand` is a JSON value that was checked."""

    path: tuple[str, ...]
    operator: str
    operand: Any

    def holds(self, data: object, meta: Mapping[str, JsonValue] | None) -> bool:
        """Whether a record with this data and meta fulfils it."""
        found: Any = {"data": data, "meta": {} if meta is None else meta}
        for step in self.path:
            if not isinstance(found, Mapping) or step not in found:
                return (self.operator, self.operand) == ("$exists", False) or self.operator == "$ne"
            found = found[step]
        match self.operator:
            case "$exists":
                return bool(self.operand)
            case "$eq":
                return canonical_bytes(found) == canonical_bytes(self.operand)
            case "$ne":
                return canonical_bytes(found) != canonical_bytes(self.operand)
            case "$in":
                return canonical_bytes(found) in map(canonical_bytes, self.operand)
            case ordering:
                return _is_text(found) == _is_text(self.operand) and (
                    _is_ordered(found) and _ORDERINGS[ordering](found, self.operand)
                )


Where = tuple[DataCondition, ...]
"""Conditions that must all hold; none of them asks for everything."""


def conditions(given: object) -> Where:
    """The conditions that a caller wrote; InvalidFilter names the first that can't be answered."""
    if not isinstance(given, Mapping):
        raise InvalidFilter("where", 'it is not an object such as {"data.status": "open"}')
    found = [
        DataCondition(_path(written), name, operand)
        for written, wanted in given.items()
        for name, operand in _operators(str(written), wanted)
    ]
    if len(found) > MAX_CONDITIONS:
        raise InvalidFilter("where", f"it has more than {MAX_CONDITIONS} conditions; ask for fewer")
    return tuple(found)


def holds(where: Where, data: object, meta: Mapping[str, JsonValue] | None) -> bool:
    """Whether a record with this data and meta fulfils all conditions."""
    return all(condition.holds(data, meta) for condition in where)


def _path(written: object) -> tuple[str, ...]:
    place = f"where[{str(written)[:80]!r}]"
    if not isinstance(written, str):
        raise InvalidFilter(place, "a path is a text")
    steps = _STEP.findall(written)
    if not steps or ".".join(steps) != written:
        raise InvalidFilter(
            place, "a path is names with a dot between each two, such as data.status"
        )
    names = tuple(re.sub(r"\\([.\\])", r"\1", step) for step in steps)
    if names[0] not in ROOTS:
        raise InvalidFilter(place, f"a path begins with data or meta, not with {names[0][:80]!r}")
    if len(names) > MAX_DEPTH:
        raise InvalidFilter(place, f"a path has at most {MAX_DEPTH} names")
    return names


def _operators(path: str, wanted: object) -> list[tuple[str, Any]]:
    place = f"where[{path[:80]!r}]"
    _check_json(place, wanted)
    if not isinstance(wanted, Mapping) or not any(str(key).startswith("$") for key in wanted):
        return [("$eq", wanted)]
    for name, operand in wanted.items():
        _check_operand(f"{place}[{str(name)[:80]!r}]", name, operand)
    return list(wanted.items())


def _check_operand(place: str, name: str, operand: object) -> None:
    if name not in OPERATORS:
        near = get_close_matches(str(name), OPERATORS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"name one of {', '.join(OPERATORS)}"
        raise InvalidFilter(place, f"there is no such operator; {hint}")
    if name == "$exists" and not isinstance(operand, bool):
        raise InvalidFilter(place, "it is true or false")
    if name == "$in" and not isinstance(operand, list | tuple):
        raise InvalidFilter(place, "it is a list of values")
    if name == "$in" and len(operand) > MAX_CHOICES:  # type: ignore[arg-type]
        raise InvalidFilter(place, f"it has more than {MAX_CHOICES} values; ask for fewer")
    if name in _ORDERINGS and not _is_ordered(operand):
        raise InvalidFilter(place, "only a number or a text is greater or less than another")


def _check_json(place: str, value: object) -> None:
    try:
        canonical_bytes(value)
    except InvalidJson as refused:
        raise InvalidFilter(place, f"it is not a JSON value: {refused}") from None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_ordered(value: object) -> bool:
    return isinstance(value, int | float | str) and not isinstance(value, bool)
